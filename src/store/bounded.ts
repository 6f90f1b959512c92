/**
 * Tables that keep their newest rows: what a new one has no room beside goes in the same commit.
 *
 * Invariant: rows go from the oldest on, so those that are kept have ids without a gap up to the
 * last one handed out. The newest knows the `oldest`, and each has in `bytes` what all rows so far
 * weigh together, so that the weight of those kept is a subtraction.
 */
import type { Kind, KindName, Row, Weight } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { existingRow, type RowOf } from '../model/rows.ts';
import type { Transaction } from './draft.ts';
import type { RowTable } from './memory/row-table.ts';

/** What the table itself keeps in each row. */
interface Bookkeeping {
  readonly oldest: number;
  readonly bytes: number;
}

/** What is kept, the new row with it. */
interface Kept {
  readonly rows: number;
  /** Bytes, as the kind's {@link Weight} counts them. */
  readonly bytes: number;
}

/**
 * Adds a row, and drops the oldest ones as long as they have to go; the new one stays in any case.
 *
 * @param goes whether the oldest row goes, from what is kept with it.
 * @throws Error where the kind is not bounded.
 */
export function append<K extends KindName>(
  transaction: Transaction,
  name: K,
  values: Omit<RowOf<K>, 'id' | keyof Bookkeeping>,
  goes: (oldest: RowOf<K>, kept: Kept) => boolean,
): void {
  const weight = weightOf(KINDS[name]);
  const id = transaction.nextId(name);
  const newest = transaction.get(name, id - 1);
  const bytes = numberIn(newest, 'bytes', 0) + weigh(weight, values);
  let oldest = numberIn(newest, 'oldest', id);
  for (; oldest < id; oldest += 1) {
    const row = existingRow(transaction, name, oldest);
    const kept = bytes - numberIn(row, 'bytes', 0) + weigh(weight, row);
    if (!goes(row, { rows: id - oldest + 1, bytes: kept })) break;
    transaction.delete(name, oldest);
  }
  transaction.put(name, { id, ...values, oldest, bytes } as unknown as RowOf<K>);
}

/** Drops every row. */
export function clear(transaction: Transaction, name: KindName): void {
  const last = transaction.lastId(name);
  // Without a newest row there is none at all.
  let id = numberIn(transaction.get(name, last), 'oldest', last + 1);
  for (; id <= last; id += 1) transaction.delete(name, id);
}

/** What in a table contradicts the invariant, a sentence each; empty where the kind has no bound. */
export function boundFaults(kind: Kind, rows: RowTable, lastId: number): string[] {
  const { weight, label } = kind;
  if (weight === undefined || rows.size === 0) return [];
  const faults: string[] = [];
  const oldest = lastId - rows.size + 1;
  let before: Row | undefined;
  for (const row of rows.values()) {
    if (before === undefined && row.id !== oldest) {
      faults.push(`${label} ${row.id}: ${rows.size} are kept up to ${lastId}, with a gap`);
    }
    const bytes = numberIn(before, 'bytes', 0) + weigh(weight, row);
    if (before === undefined ? numberIn(row, 'bytes', 0) < bytes : row['bytes'] !== bytes) {
      faults.push(`${label} ${row.id}: bytes: it must be ${bytes}`);
    }
    before = row;
  }
  if (before?.['oldest'] !== oldest)
    faults.push(`${label} ${lastId}: oldest: it must be ${oldest}`);
  return faults;
}

function weightOf({ name, weight }: Kind): Weight {
  if (weight === undefined) throw new Error(`${name} is not bounded`);
  return weight;
}

function weigh({ texts, rest }: Weight, row: Readonly<Record<string, unknown>>): number {
  return texts.reduce((sum, name) => {
    const value = row[name];
    return typeof value === 'string' ? sum + Buffer.byteLength(value) : sum;
  }, rest);
}

function numberIn(row: Row | undefined, attribute: string, absent: number): number {
  const value = row?.[attribute];
  return typeof value === 'number' ? value : absent;
}
