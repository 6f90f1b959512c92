/**
 * A sort order of a table, whole or divided by the values of one attribute, kept in place as rows
 * change.
 */
import type { Change } from '../../model/change.ts';
import type { Kind, Row, Scalar } from '../../model/kind.ts';
import type { Lookup } from '../../model/rows.ts';
import { valueOf } from '../../model/rules.ts';
import { lost, mergedIds, OrderedIds, positionIn, removeFrom } from './ordered-ids.ts';
import type { RowTable } from './row-table.ts';
import { precedes, type SortKey } from './sort-key.ts';
import {
  keyOf,
  type List,
  type Lists,
  MAX_SHORT_LIST,
  type Order,
  partitionOf,
} from './sorting.ts';

const NONE = new OrderedIds();

/** Rows that are read, or lists that are made, between two pauses. */
const STEP_VALUES = 256;

/** What changes do to the lists of an index. */
export interface Replacements {
  /** New lists by the values whose rows they hold; null for a value that has no rows any more. */
  readonly lists: ReadonlyMap<Scalar, List | null>;
  /** Ids that are added at the ends of lists: new rows have the highest ids, so most changes do. */
  readonly appended: ReadonlyMap<OrderedIds, readonly number[]>;
}

export class Ordering {
  readonly kind: Kind;
  readonly order: Order;
  readonly #lists: Lists;
  #lookup: Lookup;

  /**
   * @param lists as `sortedLists` makes them.
   * @param lookup reads the state that they are sorted by.
   */
  constructor(kind: Kind, order: Order, lists: Lists, lookup: Lookup) {
    this.kind = kind;
    this.order = order;
    this.#lists = lists;
    this.#lookup = lookup;
  }

  /** The ids of the rows with a value in the partition; valid until the next change. */
  list(value: Scalar): OrderedIds {
    const list = this.#lists.get(value);
    if (list === undefined) return NONE;
    return list instanceof OrderedIds ? list : new OrderedIds(asArray(list));
  }

  /** The same ids as an array, made without a copy if they are few. */
  ids(value: Scalar): readonly number[] {
    const list = this.#lists.get(value);
    if (list === undefined) return [];
    return list instanceof OrderedIds ? list.values() : asArray(list);
  }

  /** The same ids in parts, without a copy. */
  parts(value: Scalar): Iterable<readonly number[]> {
    const list = this.#lists.get(value);
    if (list === undefined) return [];
    return list instanceof OrderedIds ? list.chunks(false) : [asArray(list)];
  }

  /** Whether a row keeps its place. @param next reads the state with the change. */
  stays(before: Row, after: Row, next: Lookup): boolean {
    if (partitionOf(this.order, before) !== partitionOf(this.order, after)) return false;
    const { sortby } = this.order;
    const value = valueOf(this.kind, sortby, before, this.#lookup);
    return value === valueOf(this.kind, sortby, after, next);
  }

  /** @throws Error if the row does not stand at the place that its values give. */
  leave(row: Row): void {
    const value = partitionOf(this.order, row);
    const list = this.#lists.get(value);
    if (list instanceof OrderedIds) list.remove(row.id, this.#before(row));
    else if (Array.isArray(list)) removeFrom(list, row.id, this.#before(row));
    else if (list !== row.id) throw lost(row.id);
    const isEmpty = typeof list === 'number' || list.length === 0;
    if (isEmpty) this.#lists.delete(value);
  }

  enter(row: Row): void {
    const value = partitionOf(this.order, row);
    const list = this.#lists.get(value);
    if (list instanceof OrderedIds) {
      list.insert(row.id, this.#before(row));
      return;
    }
    if (list === undefined) {
      this.#lists.set(value, row.id);
      return;
    }
    const ids = asArray(list);
    ids.splice(positionIn(ids, this.#before(row)), 0, row.id);
    this.#lists.set(value, ids.length > MAX_SHORT_LIST ? new OrderedIds(ids) : ids);
  }

  /**
   * Brings an ordering of an earlier state to the present one.
   *
   * @param ids of the rows whose place may differ between the two.
   * @param before the row in the earlier state.
   * @param now reads the present state.
   * @throws Error if the ordering does not fit the earlier state.
   */
  catchUp(ids: Iterable<number>, before: (id: number) => Row | undefined, now: Lookup): void {
    const moved = [...ids];
    // All rows leave by the old values before the first enters by the new ones: the comparisons
    // within a list then always agree with the places.
    for (const id of moved) {
      const row = before(id);
      if (row !== undefined) this.leave(row);
    }
    this.#lookup = now;
    for (const id of moved) {
      const row = now(this.kind.name, id);
      if (row !== undefined) this.enter(row);
    }
  }

  /**
   * The lists of an index as they will be after changes. The index itself does not change. Its order
   * has to be by ascending id.
   *
   * @param changes of rows of the kind, each row once.
   * @returns what changes for each value whose rows differ, made in steps.
   * @throws Error if the index contradicts its table.
   */
  *replacements(changes: readonly Change[]): Generator<undefined, Replacements> {
    const moves = yield* movesOf(this.order, changes);
    const lists = new Map<Scalar, List | null>();
    const appended = new Map<OrderedIds, readonly number[]>();
    let done = 0;
    for (const [value, { leaving, entering }] of moves) {
      leaving.sort(byNumber);
      entering.sort(byNumber);
      const list = this.#lists.get(value);
      if (!(list instanceof OrderedIds)) {
        const before = list === undefined ? [] : asArray(list);
        lists.set(value, listOf(mergedIds(before, leaving, entering)));
      } else if (leaving.length === 0 && (entering[0] ?? 0) > (list.last ?? 0)) {
        appended.set(list, entering);
      } else {
        const ids = yield* list.replaced(leaving, entering);
        lists.set(value, ids.length === 0 ? null : ids);
      }
      done += 1;
      if (done % STEP_VALUES === 0) yield;
    }
    return { lists, appended };
  }

  /** Carries out what {@link Ordering.replacements} has found. */
  replace({ lists, appended }: Replacements): void {
    for (const [value, list] of lists) {
      if (list === null) this.#lists.delete(value);
      else this.#lists.set(value, list);
    }
    for (const [list, ids] of appended) list.append(ids);
  }

  /** What contradicts the table, a sentence each. */
  faults(rows: RowTable): string[] {
    const faults: string[] = [];
    const { partition, sortby } = this.order;
    const by = partition === null ? sortby : `${partition} and ${sortby}`;
    const name = `the index of ${this.kind.name} by ${by}`;
    let count = 0;
    for (const value of this.#lists.keys()) {
      let last: Row | undefined;
      for (const id of this.ids(value)) {
        count += 1;
        const row = rows.get(id);
        if (row === undefined || partitionOf(this.order, row) !== value) {
          faults.push(`${name} has ${id} under ${value}, where it does not belong`);
        } else if (last !== undefined && !this.#before(row)(last.id)) {
          faults.push(`${name} has ${id} after ${last.id}`);
        }
        last = row;
      }
    }
    if (count !== rows.size) faults.push(`${name} has ${count} of ${rows.size} rows`);
    return faults;
  }

  /** Whether another id stands before a row. */
  #before(row: Row): (other: number) => boolean {
    const { sortby, order } = this.order;
    if (sortby === 'id') return (other) => other < row.id;
    const own = this.#key(row);
    return (other) => {
      const key = this.#keyOfId(other);
      if (key === own) return other < row.id;
      return order === 'asc' ? precedes(key, own) : precedes(own, key);
    };
  }

  #keyOfId(id: number): SortKey {
    const row = this.#lookup(this.kind.name, id);
    if (row === undefined) throw new Error(`the index has ${this.kind.label} ${id}, and no row`);
    return this.#key(row);
  }

  #key(row: Row): SortKey {
    return keyOf(this.kind, this.order.sortby, row, this.#lookup);
  }
}

interface Moves {
  readonly leaving: number[];
  readonly entering: number[];
}

/** The ids that leave and enter the list of each value, in steps. */
function* movesOf(
  order: Order,
  changes: readonly Change[],
): Generator<undefined, Map<Scalar, Moves>> {
  const moves = new Map<Scalar, Moves>();
  const of = (value: Scalar): Moves => {
    let found = moves.get(value);
    if (found === undefined) moves.set(value, (found = { leaving: [], entering: [] }));
    return found;
  };
  for (const [index, { id, before, after }] of changes.entries()) {
    if (index % STEP_VALUES === 0) yield;
    const from = before === null ? undefined : partitionOf(order, before);
    const to = after === null ? undefined : partitionOf(order, after);
    if (from === to) continue;
    if (from !== undefined) of(from).leaving.push(id);
    if (to !== undefined) of(to).entering.push(id);
  }
  return moves;
}

function listOf(ids: number[]): List | null {
  const [only] = ids;
  if (only === undefined) return null;
  if (ids.length === 1) return only;
  return ids.length > MAX_SHORT_LIST ? new OrderedIds(ids) : ids;
}

function byNumber(a: number, b: number): number {
  return a - b;
}

function asArray(list: number | number[]): number[] {
  return typeof list === 'number' ? [list] : list;
}
