/** Rows that belong to the rows of a list, as of the time when the list was requested. */
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import { existingRow } from '../../model/rows.ts';
import type { ReadableStore } from '../../store/readable-store.ts';

/** Rows belonging to one row that are read at once, at most. */
export const MAX_READ_AT_ONCE = 256;

/** Rows belonging to all rows of a list that are read at once, at most: some milliseconds. */
export const MAX_READ_FOR_LIST = 4096;

/**
 * How many rows of a kind belong to a row, without reading them.
 *
 * @param child the kind of the rows. @param foreignKey its attribute that refers to the row.
 */
export function countOwned(
  child: KindName,
  foreignKey: string,
  { id }: Row,
  store: Pick<ReadableStore, 'rank'>,
): number {
  return store.rank(child, foreignKey, id, Number.POSITIVE_INFINITY);
}

/** All calls must be in one turn of the event loop. What they return may be read later. */
export class OwnedRows {
  readonly #store: ReadableStore;
  readonly #later = new Map<string, (value: Scalar) => Iterable<Row>>();
  #left = MAX_READ_FOR_LIST;

  constructor(store: ReadableStore) {
    this.#store = store;
  }

  /** The rows of a kind that belong to a row: read now if they are few, otherwise one by one. */
  of(child: KindName, foreignKey: string, row: Row): Iterable<Row> {
    const store = this.#store;
    const count = countOwned(child, foreignKey, row, store);
    if (count > MAX_READ_AT_ONCE || count > this.#left) {
      return this.#laterOf(child, foreignKey)(row.id);
    }
    this.#left -= count;
    const ids = [...store.matching(child, foreignKey, row.id)];
    return ids.map((id) => existingRow<KindName>(store, child, id));
  }

  /** They share a snapshot of the table, which costs a reference for each of its chunks. */
  #laterOf(child: KindName, foreignKey: string): (value: Scalar) => Iterable<Row> {
    const key = `${child} ${foreignKey}`;
    let later = this.#later.get(key);
    if (later === undefined) {
      this.#later.set(key, (later = this.#store.rowsBy<KindName>(child, foreignKey)));
    }
    return later;
  }
}
