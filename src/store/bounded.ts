/**
 * Tables that keep only their newest rows: a commit that adds a row deletes the oldest rows beyond
 * the limit. Either the table as a whole is bounded, or each of its shelves. A shelf is the rows
 * with one value of the attribute that the kind declares as its `shelf`.
 *
 * Invariants:
 * 1. The rows of a shelf are deleted oldest first. Each row stores in `bytes` the total weight of
 *    all rows added to the shelf up to itself, so that the weight of the kept rows is a difference.
 *    So is their number: of ids if the table is one shelf, otherwise of `nth`.
 * 2. {@link append} deletes rows only from the shelf of the new row.
 */
import type { Kind, KindName, Row, Weight } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { existingRow, type RowOf } from '../model/rows.ts';
import type { Transaction } from './writer/draft.ts';
import type { State } from './state.ts';

/** Attributes of the bound itself; `nth` only in tables with shelves. */
type Bookkeeping = 'oldest' | 'bytes' | 'nth';

/** A row without the attributes that its table adds. */
export type Entry<K extends KindName> = Omit<RowOf<K>, 'id' | Bookkeeping>;

/** What is kept on a shelf, including the new row. */
interface Kept {
  readonly rows: number;
  /** As the kind's {@link Weight} counts them. */
  readonly bytes: number;
}

/**
 * Rows that one append deletes, unless more have to make room for the new one. Rows left over by a
 * lowered bound, or by a writer without one, are deleted over several appends, so that no write
 * waits for all of them.
 */
const MAX_DELETED = 256;

/**
 * Adds a row, and deletes the oldest ones of its shelf while `isOver` returns true, but not many
 * more than are needed to make room. The new row always stays.
 *
 * @param isOver whether the oldest row is to be deleted, given what is kept with it.
 * @throws Error if the kind is not bounded.
 */
export function append<K extends KindName>(
  transaction: Transaction,
  name: K,
  values: Entry<K>,
  isOver: (oldest: RowOf<K>, kept: Kept) => boolean,
): void {
  const kind = KINDS[name];
  const weight = weightOf(kind);
  const { newest, ids } = shelfOf(transaction, kind, values);
  const id = transaction.nextId(name);
  const nth = positionOf(kind, newest ?? { id: id - 1 }) + 1;
  const own = weigh(weight, values);
  const bytes = numberIn(newest, 'bytes', 0) + own;
  let oldest = id;
  let [deleted, freed] = [0, 0];
  /** What had been added before the row: the row that was deleted last knows it. */
  let before: number | null = null;
  for (const each of ids) {
    const row = existingRow(transaction, name, each);
    const rows = nth - positionOf(kind, row) + 1;
    const added = numberIn(row, 'bytes', 0);
    before ??= added - weigh(weight, row);
    const isPlenty = deleted >= MAX_DELETED && freed >= own;
    if (isPlenty || !isOver(row, { rows, bytes: bytes - before })) {
      oldest = each;
      break;
    }
    transaction.delete(name, each);
    deleted += 1;
    freed += added - before;
    before = added;
  }
  const bookkeeping = kind.shelf === undefined ? { oldest, bytes } : { oldest, bytes, nth };
  transaction.put(name, { id, ...values, ...bookkeeping } as unknown as RowOf<K>);
}

/** Deletes the oldest rows of a table, on any shelf, while `isOver` is true; at most `most`. */
export function expire<K extends KindName>(
  transaction: Transaction,
  name: K,
  isOver: (row: RowOf<K>) => boolean,
  most: number,
): void {
  let left = most;
  for (const id of transaction.ids(name)) {
    if (left === 0 || !isOver(existingRow(transaction, name, id))) return;
    transaction.delete(name, id);
    left -= 1;
  }
}

/** Deletes every row; yields between the rows. */
export function* clearInParts(
  transaction: Transaction,
  name: KindName,
): Generator<undefined, void> {
  for (const id of transaction.ids(name)) {
    transaction.delete(name, id);
    yield;
  }
}

/** Violations of the invariants in a table, one sentence each; empty if the kind is not bounded. */
export function boundFaults(kind: Kind, rows: State['rows'][KindName], lastId: number): string[] {
  if (kind.weight === undefined) return [];
  const { shelf } = kind;
  if (shelf === undefined) {
    const first = lastId - rows.size + 1;
    const [oldest] = rows.values();
    const gap =
      oldest === undefined || oldest.id === first
        ? []
        : [
            `${kind.label} ${oldest.id}: the ids of the ${rows.size} rows up to ${lastId} have a gap`,
          ];
    return [...gap, ...shelfFaults(kind, [...rows.values()])];
  }
  const shelved = [...rows.values()].filter((row) => row[shelf] !== undefined);
  return [...Map.groupBy(shelved, (row) => row[shelf]).values()].flatMap((of) =>
    shelfFaults(kind, of),
  );
}

/** @param rows of one shelf, by ascending id. */
function shelfFaults(kind: Kind, rows: readonly Row[]): string[] {
  const faults: string[] = [];
  const weight = weightOf(kind);
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    const bytes = numberIn(before, 'bytes', 0) + weigh(weight, row);
    const own = numberIn(row, 'bytes', 0);
    if (before === undefined ? own < bytes : own !== bytes) {
      faults.push(`${kind.label} ${row.id}: bytes: it must be ${bytes}`);
    }
    const nth = before && positionOf(kind, before) + 1;
    if (kind.shelf !== undefined && nth !== undefined && positionOf(kind, row) !== nth) {
      faults.push(`${kind.label} ${row.id}: nth: it must be ${nth}`);
    }
  }
  const [first, newest] = [rows[0]?.id ?? 0, rows.at(-1)];
  const oldest = numberIn(newest, 'oldest', first);
  // {@link expire} may delete the oldest rows of a shelf when a row is added to another one.
  if (kind.shelf === undefined ? oldest !== first : oldest > first) {
    faults.push(`${kind.label} ${newest?.id}: oldest: it must be ${first}`);
  }
  return faults;
}

/** The newest row of the shelf that a row belongs to, and the ids on it, ascending. */
function shelfOf(
  transaction: Transaction,
  { name, shelf }: Kind,
  values: Readonly<Record<string, unknown>>,
): { readonly newest: Row | undefined; readonly ids: Iterable<number> } {
  if (shelf === undefined) {
    const last = transaction.lastId(name);
    const newest = transaction.get(name, last);
    // By number, so that a transaction that has deleted many rows does not skip them each time.
    return { newest, ids: range(numberIn(newest, 'oldest', last + 1), last) };
  }
  const value = String(values[shelf]);
  const latest = transaction.latest(name, shelf, value);
  const newest = latest === undefined ? undefined : existingRow(transaction, name, latest);
  return { newest, ids: transaction.matching(name, shelf, value) };
}

function* range(first: number, last: number): Generator<number> {
  for (let id = first; id <= last; id += 1) yield id;
}

/** Consecutive on a shelf. */
function positionOf({ shelf }: Kind, row: Row): number {
  return shelf === undefined ? row.id : numberIn(row, 'nth', 0);
}

function weightOf({ name, weight }: Kind): Weight {
  if (weight === undefined) throw new Error(`${name} is not bounded`);
  return weight;
}

function weigh({ texts, rest }: Weight, row: Readonly<Record<string, unknown>>): number {
  let sum = rest;
  for (const name of texts) {
    const value = row[name];
    if (typeof value === 'string') sum += Buffer.byteLength(value);
  }
  return sum;
}

function numberIn(row: Row | undefined, attribute: string, absent: number): number {
  const value = row?.[attribute];
  return typeof value === 'number' ? value : absent;
}
