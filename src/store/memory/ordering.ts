/**
 * A sort order of a table, whole or partitioned by the values of one attribute, kept in place as
 * rows change.
 */
import type { Kind, Lookup, Row, Scalar } from '../../model/kind.ts';
import { valueOf } from '../../model/rules.ts';
import { OrderedIds } from './ordered-ids.ts';
import type { RowTable } from './row-table.ts';
import { sortKey } from './sort-key.ts';

export type Direction = 'asc' | 'desc';

export interface Order {
  /** The attribute whose values divide the table into lists; null for one list of all. */
  readonly partition: string | null;
  readonly sortby: string;
  readonly order: Direction;
}

const NONE = new OrderedIds();

export class Ordering {
  readonly kind: Kind;
  readonly partition: string | null;
  readonly sortby: string;
  readonly #order: Direction;
  readonly #lookup: Lookup;
  /** By value of the partition; an id by itself where it is the only one, as it mostly is. */
  readonly #lists = new Map<Scalar, number | OrderedIds>();

  /**
   * @param rows by ascending id.
   * @param lookup reads the committed state.
   */
  constructor(kind: Kind, order: Order, rows: Iterable<Row>, lookup: Lookup) {
    this.kind = kind;
    this.partition = order.partition;
    this.sortby = order.sortby;
    this.#order = order.order;
    this.#lookup = lookup;
    this.#build(rows);
  }

  /** The ids of the rows with a value in the partition; for reading until the next change. */
  list(value: Scalar): OrderedIds {
    const list = this.#lists.get(value);
    if (list === undefined) return NONE;
    return typeof list === 'number' ? new OrderedIds([list]) : list;
  }

  /** Whether a row keeps its place. @param next reads the state with the change. */
  stays(before: Row, after: Row, next: Lookup): boolean {
    if (this.#partitionOf(before) !== this.#partitionOf(after)) return false;
    const was = valueOf(this.kind, this.sortby, before, this.#lookup);
    return was === valueOf(this.kind, this.sortby, after, next);
  }

  /** @throws Error where the row does not stand at the place that its values give. */
  leave(row: Row): void {
    const key = this.#partitionOf(row);
    const list = this.#lists.get(key);
    if (list === row.id) {
      this.#lists.delete(key);
      return;
    }
    if (!(list instanceof OrderedIds)) throw new Error(`the index has lost row ${row.id}`);
    list.remove(row.id, this.#before(row));
    if (list.length === 0) this.#lists.delete(key);
  }

  enter(row: Row): void {
    const key = this.#partitionOf(row);
    const list = this.#lists.get(key);
    if (list === undefined) {
      this.#lists.set(key, row.id);
      return;
    }
    const ids = typeof list === 'number' ? new OrderedIds([list]) : list;
    ids.insert(row.id, this.#before(row));
    if (ids !== list) this.#lists.set(key, ids);
  }

  /** What contradicts the table, a sentence each. */
  faults(rows: RowTable): string[] {
    const faults: string[] = [];
    const by = this.partition === null ? this.sortby : `${this.partition} and ${this.sortby}`;
    const name = `the index of ${this.kind.name} by ${by}`;
    let count = 0;
    for (const [key, list] of this.#lists) {
      let last: Row | undefined;
      for (const id of typeof list === 'number' ? [list] : list.values()) {
        count += 1;
        const row = rows.get(id);
        if (row === undefined || this.#partitionOf(row) !== key) {
          faults.push(`${name} has ${id} under ${key}, where it does not belong`);
        } else if (last !== undefined && !this.#before(row)(last.id)) {
          faults.push(`${name} has ${id} behind ${last.id}`);
        }
        last = row;
      }
    }
    if (count !== rows.size) faults.push(`${name} has ${count} of ${rows.size} rows`);
    return faults;
  }

  #build(rows: Iterable<Row>): void {
    const members = new Map<Scalar, number | number[]>();
    for (const row of rows) {
      const key = this.#partitionOf(row);
      const list = members.get(key);
      if (list === undefined) members.set(key, row.id);
      else if (typeof list === 'number') members.set(key, [list, row.id]);
      else list.push(row.id);
    }
    for (const [key, ids] of members) {
      this.#lists.set(key, typeof ids === 'number' ? ids : new OrderedIds(this.#sorted(ids)));
    }
  }

  /** @param ids ascending. */
  #sorted(ids: readonly number[]): readonly number[] {
    if (this.sortby === 'id') return ids;
    const sign = this.#order === 'asc' ? 1 : -1;
    // The sort is stable, so that equal values keep the ascending id.
    return ids
      .map((id) => ({ id, key: this.#keyOf(id) }))
      .sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -sign : sign))
      .map(({ id }) => id);
  }

  /** Whether another id stands before a row. */
  #before(row: Row): (other: number) => boolean {
    if (this.sortby === 'id') return (other) => other < row.id;
    const own = this.#key(row);
    return (other) => {
      const key = this.#keyOf(other);
      if (key === own) return other < row.id;
      return this.#order === 'asc' ? key < own : key > own;
    };
  }

  #keyOf(id: number): string | number {
    return this.#key(this.#lookup(this.kind.name, id) as Row);
  }

  #key(row: Row): string | number {
    return sortKey(valueOf(this.kind, this.sortby, row, this.#lookup));
  }

  #partitionOf(row: Row): Scalar {
    return this.partition === null ? null : (row[this.partition] ?? null);
  }
}
