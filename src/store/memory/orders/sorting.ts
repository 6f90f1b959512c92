/** Building a sort order from the rows of a table, in steps between which the work may pause. */
import type { Kind, KindName, Row, Scalar } from '../../../model/kind.ts';
import { type Lookup, lookupIn } from '../../../model/rows.ts';
import { joinOf, valueOf } from '../../../model/rules.ts';
import type { Columns, RowSnapshot } from '../row-table.ts';
import { ShardedMap } from '../maps/sharded-map.ts';
import { shortest } from './lists/list.ts';
import { ListsByValue, type ValueOf } from './lists/lists-by-value.ts';
import type { Direction, Order } from './order.ts';
import { precedes, sortByKey, type SortKey, sortKey } from './sort-key.ts';

/** Ids with the keys that they are sorted by, position by position. */
interface Run {
  readonly ids: number[];
  readonly keys: SortKey[];
}

/** Rows that are read, or merged, between two pauses. */
const STEP_ROWS = 512;

/** Rows that are sorted at once, before runs of them are merged. */
const RUN_ROWS = 4096;

/** The value of the partition to which a row belongs. */
export function partitionOf({ partition }: Pick<Order, 'partition'>, row: Row): Scalar {
  return partition === null ? null : (row[partition] ?? null);
}

/** The key of a row in an order: `<` compares keys as the order compares the values. */
export function keyOf(kind: Kind, sortby: string, row: Row, lookup: Lookup): SortKey {
  return sortKey(valueOf(kind, sortby, row, lookup));
}

/**
 * Reads rows for an order. An order by id, such as an index, reads a row only to compare a text,
 * and does not keep it. Any other order compares the same rows repeatedly, so they stay objects.
 */
export function lookupFor(
  order: Order,
  rowsOf: (kind: KindName) => Pick<RowSnapshot, 'get' | 'peek'>,
): Lookup {
  return order.sortby === 'id'
    ? lookupIn((kind, id) => rowsOf(kind).peek(id))
    : lookupIn((kind, id) => rowsOf(kind).get(id));
}

/**
 * @param rows of the table; they must not change until the generator has ended.
 * @param lookup reads the state that the rows belong to.
 * @returns every list in its order; rows with equal values by ascending id, in either direction.
 */
export function* sortedLists(
  kind: Kind,
  order: Order,
  rows: Columns,
  lookup: Lookup,
): Generator<undefined, ListsByValue> {
  return order.sortby === 'id'
    ? yield* listsById(order, rows, valueOfRow(kind, order, lookup))
    : yield* listsByKey(kind, order, rows, lookup);
}

/** Returns the value of the partition of the row with an id, in the state that `lookup` reads. */
export function valueOfRow(kind: Kind, order: Order, lookup: Lookup): ValueOf {
  return (id) => {
    const row = lookup(kind.name, id);
    return row === undefined ? undefined : partitionOf(order, row);
  };
}

function* listsById(
  { partition }: Order,
  rows: Columns,
  partitionValue: ValueOf,
): Generator<undefined, ListsByValue> {
  const lists = new ListsByValue();
  for (const { ids, values } of rows.columns(partition)) {
    lists.append(ids, values, partitionValue);
    yield;
  }
  return lists;
}

function* listsByKey(
  kind: Kind,
  order: Order,
  rows: Columns,
  lookup: Lookup,
): Generator<undefined, ListsByValue> {
  const lists = new ListsByValue();
  const members = yield* keyed(kind, order, rows, lookup);
  let read = 0;
  for (const [value, run] of members.entries()) {
    read += run.ids.length;
    if (read >= STEP_ROWS) {
      read = 0;
      yield;
    }
    const ids = run.ids.length === 1 ? run.ids : yield* mergeSorted(order, run);
    lists.replace(value, undefined, shortest(ids));
  }
  return lists;
}

/** The rows of each value of the partition by ascending id, with the keys that they are sorted by. */
function* keyed(
  kind: Kind,
  { partition, sortby }: Order,
  rows: Columns,
  lookup: Lookup,
): Generator<undefined, ShardedMap<Scalar, Run>> {
  const members = new ShardedMap<Scalar, Run>();
  const { attribute, valueOf: keyValue } = keyColumn(kind, sortby, lookup);
  const partitions = rows.columns(partition)[Symbol.iterator]();
  for (const { ids, values } of rows.columns(attribute)) {
    const of = partitions.next().value?.values ?? [];
    let at = 0;
    for (const id of ids) {
      const value = of[at] ?? null;
      const key = sortKey(keyValue(values[at] ?? null));
      at += 1;
      const run = members.get(value);
      if (run === undefined) members.set(value, { ids: [id], keys: [key] });
      else {
        run.ids.push(id);
        run.keys.push(key);
      }
    }
    yield;
  }
  return members;
}

/** The rows' own attribute that determines their place, and the value that it stands for. */
function keyColumn(kind: Kind, sortby: string, lookup: Lookup) {
  const declared = kind.attributes[sortby];
  if (declared?.role !== 'lookup') return { attribute: sortby, valueOf: (own: Scalar) => own };
  const { references, foreignKey, attribute } = joinOf(kind, declared);
  return {
    attribute: foreignKey,
    valueOf: (own: Scalar): Scalar => lookup(references, own)?.[attribute] ?? null,
  };
}

/** A bottom-up merge sort. @param rows by ascending id. */
function* mergeSorted({ order }: Order, rows: Run): Generator<undefined, number[]> {
  const comesFirst =
    order === 'asc'
      ? (a: SortKey, b: SortKey) => !precedes(b, a)
      : (a: SortKey, b: SortKey) => !precedes(a, b);
  let runs: Run[] = [];
  for (let start = 0; start < rows.ids.length; start += RUN_ROWS) {
    runs.push(sortedRun(rows, start, order));
    yield;
  }
  while (runs.length > 1) {
    const merged: Run[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [first, second] = [runs[at], runs[at + 1]];
      if (first !== undefined) {
        merged.push(second === undefined ? first : yield* mergedRuns(first, second, comesFirst));
      }
    }
    runs = merged;
  }
  return runs[0]?.ids ?? [];
}

/** @returns at most {@link RUN_ROWS} rows from `start` on, sorted. */
function sortedRun({ ids, keys }: Run, start: number, order: Direction): Run {
  const entries = ids
    .slice(start, start + RUN_ROWS)
    .map((id, index) => ({ id, key: keys[start + index] as SortKey }));
  sortByKey(entries, order);
  return { ids: entries.map((entry) => entry.id), keys: entries.map((entry) => entry.key) };
}

/** @param comesFirst whether an entry of the first run comes before one of the second. */
function* mergedRuns(
  first: Run,
  second: Run,
  comesFirst: (a: SortKey, b: SortKey) => boolean,
): Generator<undefined, Run> {
  const merged: Run = { ids: [], keys: [] };
  let a = 0;
  let b = 0;
  while (a < first.ids.length && b < second.ids.length) {
    const fromFirst = comesFirst(first.keys[a] as SortKey, second.keys[b] as SortKey);
    const from = fromFirst ? first : second;
    const at = fromFirst ? a : b;
    merged.ids.push(from.ids[at] as number);
    merged.keys.push(from.keys[at] as SortKey);
    if (fromFirst) a += 1;
    else b += 1;
    if ((a + b) % STEP_ROWS === 0) yield;
  }
  yield* appended(merged, first, a);
  yield* appended(merged, second, b);
  return merged;
}

/** The rest of a run, after the other one has ended. */
function* appended(merged: Run, { ids, keys }: Run, from: number): Generator<undefined, void> {
  for (let at = from; at < ids.length; at += 1) {
    merged.ids.push(ids[at] as number);
    merged.keys.push(keys[at] as SortKey);
    if (at % STEP_ROWS === 0) yield;
  }
}
