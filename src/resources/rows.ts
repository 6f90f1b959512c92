/** Turns checked input into rows in a transaction. */
import { type Attribute, isStored, type Kind, type Row, type Scalar } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { perKind } from '../model/per-kind.ts';
import type { Transaction } from '../store/writer/draft.ts';
import type { Address } from './address.ts';
import type { Input } from './input.ts';
import { representInParts } from './represent.ts';
import type { Representation } from './representation.ts';

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
 * Overwrites values of a row by those of the input, and adds the rows that are to belong to it.
 * Yields between them.
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

function* putRows(
  transaction: Transaction,
  kind: Kind,
  row: Row,
  input: Input,
): Generator<undefined, void> {
  transaction.put(kind.name, row);
  for (const { kind: owned, through, values } of input.owned) {
    const id = transaction.nextId(owned);
    transaction.put(owned, newRow(KINDS[owned], id, { ...values, [through]: row.id }));
    yield;
  }
}

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
