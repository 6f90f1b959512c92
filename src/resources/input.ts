/** A request's object, checked as a whole (spec 2.1): every problem is reported at once. */
import * as v from 'valibot';
import { CatalogError, type FieldErrors } from '../errors.ts';
import type { Kind, KindName, Scalar, InputAttribute } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import type { InputOf } from '../model/rows.ts';
import { identifier, isObject } from '../model/schemas.ts';
import { inSlices } from '../slices.ts';
import { visibleAttributes } from './visible-attributes.ts';

/**
 * `whole` requires every attribute without a default (POST, PUT), `partial` none (PATCH). `merge` is
 * `partial` with lists that replace what there is (RFC 7396).
 */
export type Mode = 'whole' | 'partial' | 'merge';

/** The modes of a change that leaves attributes out. */
export type PatchMode = Exclude<Mode, 'whole'>;

/** What is wrong with a required attribute that is missing. */
const REQUIRED = 'is required';

/** A checked object: what to store, and the lists of rows that are to belong to the row. */
export interface Input<K extends KindName = KindName> {
  readonly values: InputOf<K>;
  readonly lists: readonly OwnedList[];
}

/** Rows that belong to a row. */
export interface OwnedList {
  /** The attribute that shows them. */
  readonly name: string;
  readonly kind: KindName;
  /** The attribute that names the owner. */
  readonly foreignKey: string;
  readonly elements: readonly Readonly<Record<string, Scalar>>[];
  /** Whether the row's other rows of the kind are deleted. */
  readonly replaces: boolean;
}

/** Problems that are reported, at most: a hostile list can have a hundred thousand. */
export const MAX_REPORTED_PROBLEMS = 100;

/** Collects the problems of a body by path, to report them together. */
export class Problems {
  /** Without a prototype: a client chooses some of the names. */
  readonly #fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  #count = 0;

  get empty(): boolean {
    return this.#count === 0;
  }

  get full(): boolean {
    return this.#count >= MAX_REPORTED_PROBLEMS;
  }

  add(path: string, message: string): void {
    if (this.full) return;
    this.#count += 1;
    (this.#fields[path] ??= []).push(message);
  }

  /** Adds those of another check. */
  addAll(fields: FieldErrors): void {
    for (const [path, messages] of Object.entries(fields)) {
      for (const message of messages) this.add(path, message);
    }
  }

  /**
   * @param headers that belong to the failure.
   * @throws CatalogError `invalid` if there is a problem.
   */
  settle(headers: Readonly<Record<string, string>> = {}): void {
    if (this.empty) return;
    const lines = Object.entries(this.#fields).map(
      ([path, texts]) => `${path}: ${texts.join(', ')}`,
    );
    throw new CatalogError('invalid', lines.join('; '), { fields: this.#fields, headers });
  }
}

/**
 * Checks an object. Yields between the elements that it has.
 *
 * @param body parsed JSON. Unknown and read-only members are ignored.
 * @param required the problem of a required attribute of the object itself that is missing.
 * @throws CatalogError `invalid`.
 */
export function* parseInput(
  kind: Kind,
  body: unknown,
  mode: Mode,
  required = REQUIRED,
): Generator<undefined, Input> {
  const problems = new Problems();
  const missing = mode === 'whole' ? required : null;
  const replaces = mode === 'merge';
  const input = yield* readObject(kind, requireObject(body), missing, '', problems, replaces);
  problems.settle();
  return input;
}

/**
 * @param body parsed JSON: an array of whole objects; paths of problems begin with the index.
 * @throws CatalogError `invalid`.
 */
export function parseInputs(kind: Kind, body: unknown): Promise<Input[]> {
  return readAll(body, (element, path, problems) =>
    readObject(kind, element, REQUIRED, path, problems),
  );
}

/** A change to the row with an id. */
export interface Update {
  readonly id: number;
  readonly input: Input;
}

/**
 * @param body parsed JSON: an array of objects with `id` and what is to change.
 * @throws CatalogError `invalid`.
 */
export function parseUpdates(kind: Kind, body: unknown): Promise<Update[]> {
  const seen = new Set<number>();
  return readAll(body, function* (element, path, problems) {
    const isMissing = !Object.hasOwn(element, 'id');
    if (isMissing) problems.add(`${path}id`, REQUIRED);
    const id = isMissing ? null : readId(element, path, problems);
    if (id !== null && seen.has(id)) problems.add(`${path}id`, `${id} occurs twice`);
    if (id !== null) seen.add(id);
    return { id: id ?? 0, input: yield* readObject(kind, element, null, path, problems) };
  });
}

/**
 * @param body parsed JSON: an object with what is to change, and `id` if it is about a row.
 * @returns null if it has no `id`.
 * @throws CatalogError `invalid`.
 */
export function* parseOneUpdate(
  kind: Kind,
  body: unknown,
  mode: PatchMode,
): Generator<undefined, Update | null> {
  const object = requireObject(body);
  if (!Object.hasOwn(object, 'id')) return null;
  const problems = new Problems();
  const id = readId(object, '', problems) ?? 0;
  const input = yield* readObject(kind, object, null, '', problems, mode === 'merge');
  problems.settle();
  return { id, input };
}

/** @returns null if the object's `id` is not an id. */
function readId(
  object: Readonly<Record<string, unknown>>,
  path: string,
  problems: Problems,
): number | null {
  const found = v.safeParse(identifier, object['id']);
  if (found.success) return found.output;
  problems.add(`${path}id`, found.issues[0].message);
  return null;
}

type ReadElement<T> = (
  element: Readonly<Record<string, unknown>>,
  path: string,
  problems: Problems,
) => Generator<undefined, T>;

/**
 * Returns to the event loop between slices of the work.
 *
 * @throws CatalogError `invalid`, with every problem.
 */
async function readAll<T>(body: unknown, read: ReadElement<T>): Promise<T[]> {
  if (!Array.isArray(body)) {
    throw new CatalogError('invalid', 'the body must be a JSON array of objects', { fields: {} });
  }
  if (body.length === 0) {
    throw new CatalogError('invalid', 'the array is empty; send at least one object', {
      fields: {},
    });
  }
  const problems = new Problems();
  const all = await inSlices(readEach(body, read, problems));
  problems.settle();
  return all;
}

function* readEach<T>(
  body: readonly unknown[],
  read: ReadElement<T>,
  problems: Problems,
): Generator<undefined, T[]> {
  const all: T[] = [];
  for (const [index, element] of body.entries()) {
    if (problems.full) break;
    if (isObject(element)) all.push(yield* read(element, `${index}.`, problems));
    else problems.add(String(index), 'must be an object');
    yield;
  }
  return all;
}

/** @param missing the problem of a required attribute that is missing; null if none is required. */
function* readObject(
  kind: Kind,
  body: Readonly<Record<string, unknown>>,
  missing: string | null,
  path: string,
  problems: Problems,
  replaces = false,
): Generator<undefined, Input> {
  const values: Record<string, Scalar> = {};
  const lists: OwnedList[] = [];
  for (const [name, declared] of visibleAttributes(kind)) {
    if (declared.role === 'input') {
      const value = readValue(name, declared, body, missing, path, problems);
      if (value !== undefined) values[name] = value;
    } else if (declared.role === 'children') {
      const isSent = Object.hasOwn(body, name);
      if (!isSent && missing === null) continue;
      const { kind: child, foreignKey } = declared;
      const sent = isSent ? body[name] : [];
      const elements = yield* readElements(child, sent, `${path}${name}`, problems);
      lists.push({ name, kind: child, foreignKey, elements, replaces });
    }
  }
  return { values, lists };
}

function readValue(
  name: string,
  declared: InputAttribute,
  body: Readonly<Record<string, unknown>>,
  missing: string | null,
  path: string,
  problems: Problems,
): Scalar | undefined {
  const sent = sentName(name, declared, body);
  if (sent === null) {
    if (missing === null) return undefined;
    if (declared.default !== undefined) return declared.default;
    problems.add(`${path}${declared.request ?? name}`, missing);
    return undefined;
  }
  const result = v.safeParse(declared.schema, body[sent]);
  if (!result.success) {
    for (const { message } of result.issues) problems.add(`${path}${sent}`, message);
    return undefined;
  }
  if (Object.hasOwn(body, name) && body[name] !== body[sent]) {
    problems.add(`${path}${sent}`, `differs from ${name}; send one of them`);
  }
  return result.output;
}

/** The member that holds the value: by its name in requests, otherwise by that in responses. */
function sentName(
  name: string,
  { request }: InputAttribute,
  body: Readonly<Record<string, unknown>>,
): string | null {
  if (request !== undefined && Object.hasOwn(body, request)) return request;
  return Object.hasOwn(body, name) ? name : null;
}

function* readElements(
  kind: KindName,
  elements: unknown,
  path: string,
  problems: Problems,
): Generator<undefined, Readonly<Record<string, Scalar>>[]> {
  if (!Array.isArray(elements)) {
    problems.add(path, 'must be an array');
    return [];
  }
  const read: Readonly<Record<string, Scalar>>[] = [];
  for (const [index, element] of elements.entries()) {
    if (problems.full) break;
    const at = `${path}.${index}`;
    if (isObject(element)) {
      const { values } = yield* readObject(KINDS[kind], element, REQUIRED, `${at}.`, problems);
      read.push(values);
    } else problems.add(at, 'must be an object');
    yield;
  }
  return read;
}

/** Checks that a body is an object. @returns the body. @throws CatalogError `invalid`. */
export function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  throw new CatalogError('invalid', 'the body must be a JSON object', { fields: {} });
}
