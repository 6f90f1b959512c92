/** The rows of a draft by the values that it has given them. */
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { ShardedMap } from '../memory/maps/sharded-map.ts';
import { permanentIndexes } from '../memory/permanent-indexes.ts';

/** Ids as they were added, and whether they are in ascending order, each once. */
interface Ids {
  list: number[];
  ordered: boolean;
}

/** The ids of rows by their values of one attribute. */
interface Index {
  /** How many rows of the kind are in it. */
  rows: number;
  /** A single id is stored as a number: most values of a name or a code have one. */
  readonly ids: ShardedMap<Scalar, number | Ids>;
}

const NONE: readonly number[] = [];

/** The most rows that are indexed at once for each attribute of their kind. */
const STEP_ROWS = 256;

/**
 * The ids of the rows to which a draft has given a value at some time. A later write may have
 * changed or deleted the row, so the caller has to check the row itself.
 */
export class Candidates {
  readonly #rows = new Map<KindName, Row[]>();
  /** By kind and attribute; each is built on first use, since most are never used. */
  readonly #indexes = new Map<KindName, Map<string, Index>>();

  add(kind: KindName, row: Row): void {
    const rows = this.#rows.get(kind);
    if (rows === undefined) {
      this.#rows.set(kind, [row]);
      return;
    }
    rows.push(row);
    if (rows.length % STEP_ROWS !== 0) return;
    // Otherwise the first lookup in a long draft would index all rows at once.
    for (const attribute of permanentIndexes(KINDS[kind])) this.#index(kind, attribute, rows);
  }

  /** Drops all ids of a kind. */
  forget(kind: KindName): void {
    this.#rows.delete(kind);
    this.#indexes.delete(kind);
  }

  /** Ascending, each id once. */
  matching(kind: KindName, attribute: string, value: Scalar): readonly number[] {
    const rows = this.#rows.get(kind);
    if (rows === undefined) return NONE;
    const ids = this.#index(kind, attribute, rows).get(value);
    if (ids === undefined) return NONE;
    if (typeof ids === 'number') return [ids];
    if (!ids.ordered) {
      ids.list = [...new Set(ids.list)].sort((a, b) => a - b);
      ids.ordered = true;
    }
    return ids.list;
  }

  #index(kind: KindName, attribute: string, rows: readonly Row[]): Index['ids'] {
    let indexes = this.#indexes.get(kind);
    if (indexes === undefined) this.#indexes.set(kind, (indexes = new Map()));
    let index = indexes.get(attribute);
    if (index === undefined) indexes.set(attribute, (index = { rows: 0, ids: new ShardedMap() }));
    for (; index.rows < rows.length; index.rows += 1) {
      const row = rows[index.rows];
      if (row !== undefined) enter(index.ids, row[attribute] ?? null, row.id);
    }
    return index.ids;
  }
}

function enter(index: Index['ids'], value: Scalar, id: number): void {
  const ids = index.get(value);
  if (ids === undefined) index.set(value, id);
  else if (typeof ids !== 'number') append(ids, id);
  else if (ids !== id) index.set(value, { list: [ids, id], ordered: ids < id });
}

function append(ids: Ids, id: number): void {
  const last = ids.list.at(-1);
  if (last === id) return;
  if (last !== undefined && last > id) ids.ordered = false;
  ids.list.push(id);
}
