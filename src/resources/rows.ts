/** Turns checked input into rows in a transaction. */
import {
  type Attribute,
  isStored,
  type Kind,
  type KindName,
  type Row,
  type Scalar,
} from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { perKind } from '../model/per-kind.ts';
import { existingRow } from '../model/rows.ts';
import type { Transaction } from '../store/writer/draft.ts';
import type { Address } from './address.ts';
import type { Input, OwnedList } from './input.ts';
import { representInParts } from './represent.ts';
import type { Representation } from './representation.ts';
import { visibleAttributes } from './visible-attributes.ts';

/** A new row and how clients see it. */
interface Inserted {
  readonly id: number;
  readonly representation: Representation;
}

/** Puts a new row, and the rows that belong to it. Yields between them. */
export function* insert(
  transaction: Transaction,
  { kind, parent }: Address,
  input: Input,
): Generator<undefined, Inserted> {
  const row = newRowAt({ kind, parent }, transaction, input);
  return { id: row.id, representation: yield* put(transaction, kind, row, input) };
}

/** The same without a representation. @returns the row. */
export function* insertUnseen(
  transaction: Transaction,
  kind: Kind,
  input: Input,
): Generator<undefined, Row> {
  const row = newRowAt({ kind, parent: null }, transaction, input);
  yield* putRows(transaction, kind, row, input);
  return row;
}

function newRowAt({ kind, parent }: Address, transaction: Transaction, input: Input): Row {
  const place = parent === null ? {} : { [parent.nesting.foreignKey]: parent.id };
  return newRow(kind, transaction.nextId(kind.name), { ...input.values, ...place });
}

/**
 * Overwrites values of a row by those of the input, and adds the rows that are to belong to it, or
 * replaces those that do. Yields between them.
 */
export function* change(
  transaction: Transaction,
  kind: Kind,
  row: Row,
  input: Input,
): Generator<undefined, Representation> {
  return yield* put(transaction, kind, { ...row, ...input.values, id: row.id }, input);
}

function* put(
  transaction: Transaction,
  kind: Kind,
  row: Row,
  input: Input,
): Generator<undefined, Representation> {
  yield* putRows(transaction, kind, row, input);
  return yield* representInParts(kind, row, transaction);
}

/** The number of rows that are to belong to the row of the input. */
export function countElements({ lists }: Input): number {
  return lists.reduce((sum, { elements }) => sum + elements.length, 0);
}

function* putRows(
  transaction: Transaction,
  kind: Kind,
  row: Row,
  input: Input,
): Generator<undefined, void> {
  transaction.put(kind.name, row);
  for (const list of input.lists) {
    if (list.replaces) yield* replaceOwned(transaction, list, row.id);
    else {
      for (const values of list.elements) {
        addOwned(transaction, list, values, row.id);
        yield;
      }
    }
  }
}

function addOwned(
  transaction: Transaction,
  { kind, foreignKey }: OwnedList,
  values: OwnedList['elements'][number],
  owner: number,
): void {
  const id = transaction.nextId(kind);
  transaction.put(kind, newRow(KINDS[kind], id, { ...values, [foreignKey]: owner }));
}

/**
 * Replaces the rows that belong to a row by those of a list. Rows that stay keep their ids. Yields
 * between them.
 *
 * @returns the values from before; null if they are the same, in whatever order.
 */
export function* replaceOwned(
  transaction: Transaction,
  list: OwnedList,
  owner: number,
): Generator<undefined, OwnedList['elements'] | null> {
  const { kind, foreignKey, elements } = list;
  const missing = new Map<string, number>();
  for (const values of elements) {
    const key = JSON.stringify(sentValues(kind, values));
    missing.set(key, (missing.get(key) ?? 0) + 1);
    yield;
  }
  const before: OwnedList['elements'][number][] = [];
  const surplus: number[] = [];
  for (const id of transaction.matching(kind, foreignKey, owner)) {
    const values = sentValues(kind, existingRow<KindName>(transaction, kind, id));
    before.push(values);
    if (!takeOne(missing, JSON.stringify(values))) surplus.push(id);
    yield;
  }
  for (const id of surplus) yield* transaction.deleteInParts(kind, id);
  let added = 0;
  for (const values of elements) {
    if (takeOne(missing, JSON.stringify(sentValues(kind, values)))) {
      addOwned(transaction, list, values, owner);
      added += 1;
    }
    yield;
  }
  return surplus.length + added === 0 ? null : before;
}

/** @returns whether there was one of the key. */
function takeOne(counts: Map<string, number>, key: string): boolean {
  const left = counts.get(key) ?? 0;
  if (left > 0) counts.set(key, left - 1);
  return left > 0;
}

/** What a client sends of a row that belongs to another one, in the order of the declaration. */
function sentValues(
  kind: KindName,
  row: Readonly<Record<string, Scalar>>,
): Readonly<Record<string, Scalar>> {
  return Object.fromEntries(SENT[kind].map((name) => [name, row[name] ?? null]));
}

const SENT = perKind((kind) =>
  visibleAttributes(kind).flatMap(([name, { role }]) => (role === 'input' ? [name] : [])),
);

/** A row with its attributes in the order of the declaration, which the files preserve. */
function newRow(kind: Kind, id: number, values: Readonly<Record<string, Scalar>>): Row {
  const row: Record<string, Scalar> & { id: number } = { id };
  for (const { name, initial } of STORED[kind.name]) row[name] = initial ?? values[name] ?? null;
  return row;
}

/**
 * A row with values that an earlier version may have stored. A missing attribute gets the value of
 * a new row; an attribute that rows no longer have is left out.
 */
export function storedRow(kind: Kind, id: number, values: Readonly<Record<string, Scalar>>): Row {
  const row: Record<string, Scalar> & { id: number } = { id };
  for (const { name, initial, fallback } of STORED[kind.name]) {
    row[name] = values[name] ?? initial ?? fallback;
  }
  return row;
}

interface StoredAttribute {
  readonly name: string;
  /** The value in a new row, if the service sets the attribute. */
  readonly initial: Scalar | undefined;
  /** The value if the client leaves it out. */
  readonly fallback: Scalar;
}

/** The attributes of rows besides the id. */
const STORED = perKind((kind) =>
  Object.entries<Attribute>(kind.attributes).flatMap(([name, declared]): StoredAttribute[] => {
    if (declared.role === 'serverSet') return [{ name, initial: declared.initial, fallback: null }];
    if (declared.role === 'id' || !isStored(declared)) return [];
    const fallback = declared.role === 'input' ? (declared.default ?? null) : null;
    return [{ name, initial: undefined, fallback }];
  }),
);
