/** The bodies that operations take: none, JSON of a schema, or a stream of bytes. */
import * as v from 'valibot';
import { MAX_REPORTED_PROBLEMS, Problems, requireObject } from '../../resources/input.ts';
import { header, type HttpRequest } from '../message.ts';
import { type Members, namesIn } from '../../resources/members.ts';
import { mediaTypeOf, readJson, requirePlain, unsupportedType } from '../rules/json-body.ts';
import { prefersStrict, requireKnown } from '../rules/preferences.ts';
import type { JsonLimits } from '../../json/json-limits.ts';
import { type Content, type Example, type JsonSchema, plainJson } from './content.ts';
import { jsonSchemaOf, propertiesIn } from './json-schema.ts';
import type { KeptNames } from '../../json/json-parser.ts';

/** JSON Schema by attribute. Each has a member that says whether POST and PUT require it. */
export type Attributes = Readonly<Record<string, JsonSchema>>;

/** What is known about a body before it is read. */
export interface BodyDescription {
  /** Null for an operation that reads no body. */
  readonly content: Content | null;
  /** Whether a request may have no body; the description then says so. */
  readonly optional?: boolean;
  /** Whether the body is JSON that is validated: it can be a 422, and `Prefer` is read. */
  readonly validated: boolean;
  /** The attributes that a client may send, for OPTIONS. */
  readonly attributes: () => Attributes;
}

/** How an operation reads the body of a request. */
export interface BodyDeclaration<T> extends BodyDescription {
  /** @throws CatalogError the failures of reading and validating. */
  read(request: HttpRequest, limits: JsonLimits): T | Promise<T>;
}

/** For operations that do not read a body even if one is sent. */
export const noBody: BodyDeclaration<undefined> = {
  content: null,
  validated: false,
  attributes: () => ({}),
  read: () => undefined,
};

/**
 * JSON that the operation itself validates.
 *
 * @param members that objects may have.
 * @param validate is called if there are unknown members, to report all problems at once; it throws
 *   CatalogError `invalid` as the operation does.
 */
export function uncheckedJson(
  content: Content,
  attributes: () => Attributes,
  members: Members,
  validate: (body: unknown) => unknown,
): BodyDeclaration<unknown> {
  const known = namesIn(members);
  return {
    content,
    validated: true,
    attributes,
    async read(request, limits) {
      const kept = keptFor(request, known);
      const body = await readJson(request, limits, { types: content.types, kept, isBulky: true });
      if (prefersStrict(request)) await requireKnown(members, body, validate);
      return body;
    },
  };
}

/** Unknown members are kept only to be reported. */
function keptFor(request: HttpRequest, known: ReadonlySet<string>): KeptNames {
  return { known, others: prefersStrict(request) ? MAX_REPORTED_PROBLEMS : 0 };
}

/**
 * JSON with a valibot schema, which validates the body, describes it, and names its attributes.
 *
 * @param name of the component in the description.
 * @param optional if set, a missing body counts as an empty object, and is not malformed.
 * @param refuse is called with the body before it is validated; it throws failures other than those
 *   of the schema.
 */
export function json<T>(
  name: string,
  schema: v.GenericSchema<unknown, T>,
  example: Example,
  { optional = false, refuse = (_body: unknown): void => {} } = {},
): BodyDeclaration<T> {
  const shape = {
    name,
    schema: () => ({ ...jsonSchemaOf(schema), examples: [example.value] }),
  };
  const content = plainJson(shape, { [name]: () => example });
  return {
    content,
    optional,
    validated: true,
    attributes: () => attributesOf(jsonSchemaOf(schema)),
    async read(request, limits) {
      const kept = keptFor(request, propertiesIn(schema));
      const body = await readJson(request, limits, {
        types: content.types,
        kept,
        isBulky: false,
        isOptional: optional,
      });
      refuse(body);
      return parseFor(request, schema, body);
    },
  };
}

/**
 * Bytes of one of several media types, read in pieces, for bodies too large to hold in memory.
 *
 * @param types without parameters.
 * @param limit bytes of a body.
 * @param examples by the names of their components.
 */
export function stream(
  types: readonly string[],
  limit: number,
  examples: Content['examples'] = {},
): BodyDeclaration<AsyncIterable<Uint8Array>> {
  const schema = { type: 'string', contentMediaType: types[0] };
  return {
    content: { types, schema, shapes: [], examples },
    validated: false,
    attributes: () => ({}),
    read(request) {
      requireType(request, types);
      requirePlain(header(request, 'content-encoding'));
      return request.body.stream(limit);
    },
  };
}

/** @throws CatalogError `unsupported_media_type`. */
function requireType(request: HttpRequest, types: readonly string[]): void {
  if (types.includes(mediaTypeOf(header(request, 'content-type')))) return;
  const message = `the body must be declared as ${types.join(' or ')}: Content-Type: ${types[0]}`;
  throw unsupportedType(request, types, message);
}

function attributesOf({ properties = {}, required = [] }: JsonSchema): Attributes {
  const wanted = new Set(required as readonly string[]);
  const entries = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return Object.fromEntries(
    entries.map(([name, schema]) => [name, { ...schema, required: wanted.has(name) }]),
  );
}

/** @throws CatalogError `invalid`, with every problem, unknown members included if asked for. */
async function parseFor<T>(
  request: HttpRequest,
  schema: v.GenericSchema<unknown, T>,
  body: unknown,
): Promise<T> {
  if (prefersStrict(request)) {
    const names = new Set(Object.keys(attributesOf(jsonSchemaOf(schema))));
    await requireKnown({ names, elements: new Map() }, body, () => parse(schema, body));
  }
  return parse(schema, body);
}

/** @throws CatalogError `invalid`, with every problem. */
function parse<T>(schema: v.GenericSchema<unknown, T>, body: unknown): T {
  const result = v.safeParse(schema, requireObject(body));
  if (result.success) return result.output;
  const problems = new Problems();
  for (const issue of result.issues) problems.add(v.getDotPath(issue) ?? '', issue.message);
  problems.settle();
  throw new Error('a schema refused a body without naming a problem', { cause: result.issues });
}
