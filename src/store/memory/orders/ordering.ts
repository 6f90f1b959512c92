/**
 * A sort order of a table, whole or divided by the values of one attribute, kept up to date as rows
 * change.
 */
import type { Change } from '../../../model/change.ts';
import type { Kind, Row, Scalar } from '../../../model/kind.ts';
import type { Lookup } from '../../../model/rows.ts';
import { valueOf } from '../../../model/rules.ts';
import { copyOf, idsIn, type List, orderedIdsOf } from './lists/list.ts';
import { ListsByValue, type ValueOf } from './lists/lists-by-value.ts';
import { mergedLists, type Replacement, type Replacements } from './lists/replacements.ts';
import { OrderedIds } from './ordered-ids.ts';
import { positionIn, without } from './positions.ts';
import type { RowTable } from '../row-table.ts';
import { precedes, type SortKey } from './sort-key.ts';
import type { Order } from './order.ts';
import { keyOf, partitionOf, valueOfRow } from './sorting.ts';

/** Lists that are replaced between two pauses. */
const STEP_LISTS = 256;

/** Rows that leave or enter a list one by one between two pauses. */
const STEP_MOVES = 32;

export class Ordering {
  readonly kind: Kind;
  readonly order: Order;
  readonly #lists: ListsByValue;
  /** Whether the lists are by ascending id, as those of an index are. */
  readonly #isById: boolean;
  #lookup: Lookup;
  #valueOf: ValueOf;
  /** Lists that override those in `#lists`, until all of them are moved there. */
  #replacements: Replacements | null = null;

  /**
   * @param lists as `sortedLists` makes them.
   * @param lookup reads the state that they are sorted by.
   */
  constructor(kind: Kind, order: Order, lists: ListsByValue, lookup: Lookup) {
    this.kind = kind;
    this.order = order;
    this.#lists = lists;
    this.#isById = order.sortby === 'id';
    this.#lookup = lookup;
    this.#valueOf = valueOfRow(kind, order, lookup);
  }

  /** The ids of the rows with a value in the partition; valid until the next change. */
  list(value: Scalar): OrderedIds {
    return orderedIdsOf(this.#listOf(value));
  }

  /** The same ids as an array, made without a copy if they are few. */
  ids(value: Scalar): readonly number[] {
    return idsIn(this.#listOf(value));
  }

  /** How many of these ids, which have to be ascending, are lower than another. */
  rank(value: Scalar, id: number): number {
    const list = this.#listOf(value);
    if (!(list instanceof OrderedIds)) return positionIn(idsIn(list), (other) => other < id);
    return id === Number.POSITIVE_INFINITY ? list.length : list.rank((other) => other < id);
  }

  /** The same ids in parts, without a copy. */
  parts(value: Scalar): Iterable<readonly number[]> {
    const list = this.#listOf(value);
    return list instanceof OrderedIds ? list.parts() : [idsIn(list)];
  }

  #listOf(value: Scalar): List | undefined {
    const replacement = this.#replacements?.get(value);
    return replacement === undefined ? this.#current(value) : replacement.after;
  }

  #current(value: Scalar): List | undefined {
    return this.#lists.get(value, this.#valueOf);
  }

  /** @param lookup reads the state that the lists are sorted by from now on. */
  #look(lookup: Lookup): void {
    this.#lookup = lookup;
    this.#valueOf = valueOfRow(this.kind, this.order, lookup);
  }

  /** Whether a row keeps its place. @param next reads the state with the change. */
  stays(before: Row, after: Row, next: Lookup): boolean {
    if (partitionOf(this.order, before) !== partitionOf(this.order, after)) return false;
    if (this.#isById) return true;
    const { sortby } = this.order;
    const value = valueOf(this.kind, sortby, before, this.#lookup);
    return value === valueOf(this.kind, sortby, after, next);
  }

  /** @throws Error if the row is not at the place that its values give. */
  leave(row: Row): void {
    const value = partitionOf(this.order, row);
    if (this.#isById) {
      this.#lists.remove(value, row.id, this.#valueOf);
      return;
    }
    const list = this.#current(value);
    if (list instanceof OrderedIds) {
      list.remove(row.id, this.#before(row));
      if (list.length === 0) this.#lists.replace(value, list, undefined);
    } else {
      const ids = idsIn(list);
      this.#lists.replace(value, list, without(ids, row.id, this.#before(row)));
    }
  }

  enter(row: Row): void {
    const value = partitionOf(this.order, row);
    if (this.#isById) {
      this.#lists.insert(value, row.id, this.#valueOf);
      return;
    }
    const list = this.#current(value);
    if (list instanceof OrderedIds) list.insert(row.id, this.#before(row));
    else {
      const ids = idsIn(list);
      const at = positionIn(ids, this.#before(row));
      this.#lists.replace(value, list, ids.toSpliced(at, 0, row.id));
    }
  }

  /**
   * Brings an ordering of an earlier state to a later one, in steps. Nothing else may use it until
   * they have ended.
   *
   * @param ids of the rows whose place may differ between the two.
   * @param before the row in the earlier state.
   * @param after reads the later state.
   * @throws Error if the ordering does not fit the earlier state.
   */
  *catchUp(
    ids: Iterable<number>,
    before: (id: number) => Row | undefined,
    after: Lookup,
  ): Generator<undefined, void> {
    const moved = [...ids];
    // All rows leave by the old values before the first enters by the new ones, so that comparisons
    // within a list always agree with its order.
    for (const [index, id] of moved.entries()) {
      if (index % STEP_MOVES === 0) yield;
      const row = before(id);
      if (row !== undefined) this.leave(row);
    }
    this.#look(after);
    for (const [index, id] of moved.entries()) {
      if (index % STEP_MOVES === 0) yield;
      const row = after(this.kind.name, id);
      if (row !== undefined) this.enter(row);
    }
  }

  /**
   * The lists as they will be after changes. The ordering itself does not change.
   *
   * @param changes of rows of the kind, each row once.
   * @param next reads the state after the changes.
   * @returns a list for each value whose rows differ, made in steps.
   * @throws Error if the ordering contradicts its table.
   */
  plan(changes: readonly Change[], next: Lookup): Generator<undefined, Replacements> {
    if (!this.#isById) return this.#moved(changes, next);
    return mergedLists(this.order, (value) => this.#current(value), changes);
  }

  /** The plan for any ordering: rows leave and enter copies of the lists one by one. */
  *#moved(changes: readonly Change[], next: Lookup): Generator<undefined, Replacements> {
    const copies = new ListsByValue();
    const draft = new Ordering(this.kind, this.order, copies, this.#lookup);
    const touched = new Map<Scalar, List | undefined>();
    const touch = (row: Row) => {
      const value = partitionOf(this.order, row);
      if (touched.has(value)) return;
      const list = this.#current(value);
      touched.set(value, list);
      if (list !== undefined) copies.replace(value, undefined, copyOf(list));
    };
    const entering: Row[] = [];
    for (const [index, { before, after }] of changes.entries()) {
      if (index % STEP_MOVES === 0) yield;
      if (before !== null && after !== null && this.stays(before, after, next)) continue;
      if (after !== null) entering.push(after);
      if (before === null) continue;
      touch(before);
      draft.leave(before);
    }
    draft.#look(next);
    for (const [index, row] of entering.entries()) {
      if (index % STEP_MOVES === 0) yield;
      touch(row);
      draft.enter(row);
    }
    const replacements = new Map<Scalar, Replacement>();
    for (const [value, before] of touched) {
      replacements.set(value, { before, after: draft.#current(value) });
    }
    return replacements;
  }

  /**
   * Replaces lists by planned ones, in constant time. Until {@link Ordering.settle} has ended,
   * nothing may enter or leave.
   */
  replace(replacements: Replacements): void {
    this.#replacements = replacements;
  }

  /** Completes a replacement, in steps; readers see no difference. */
  *settle(): Generator<undefined, void> {
    let settled = 0;
    for (const [value, { before, after }] of this.#replacements ?? []) {
      this.#lists.replace(value, before, after);
      settled += 1;
      if (settled % STEP_LISTS === 0) yield;
    }
    this.#replacements = null;
  }

  /** Contradictions between the ordering and the table, one sentence each. */
  faults(rows: RowTable): string[] {
    const faults: string[] = [];
    const { partition, sortby } = this.order;
    const by = partition === null ? sortby : `${partition} and ${sortby}`;
    const name = `the index of ${this.kind.name} by ${by}`;
    let count = 0;
    for (const value of new Set([
      ...this.#lists.values(this.#valueOf),
      ...(this.#replacements?.keys() ?? []),
    ])) {
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

  /** Whether another id comes before a row. */
  #before(row: Row): (other: number) => boolean {
    if (this.#isById) return (other) => other < row.id;
    const { order } = this.order;
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

/** A row and an ordering that it has to enter. */
export interface Entering {
  readonly ordering: Ordering;
  readonly row: Row;
}

/** Removes rows from an ordering if their place in it changes, and notes which rows enter it. */
export function leave(
  ordering: Ordering,
  changes: readonly Change[],
  next: Lookup,
  entering: Entering[],
): void {
  for (const { before, after } of changes) {
    if (before !== null && after !== null && ordering.stays(before, after, next)) continue;
    if (before !== null) ordering.leave(before);
    if (after !== null) entering.push({ ordering, row: after });
  }
}
