/** Rows by their names, for references that a file writes as names (spec 12.9). */
import type { KindName, Row } from '../../../model/kind.ts';
import type { FrozenView } from '../../../store/memory/frozen-view.ts';
import { ShardedMap } from '../../../store/memory/sharded-map.ts';
import type { View } from '../../../store/view.ts';
import type { Transaction } from '../../../store/writer/draft.ts';

/** Ids that a message about an ambiguous name has, at most. */
export const MAX_NAMED = 10;

/** The attribute that names a row. */
export function nameAttribute(kind: KindName): 'name' | 'value' {
  return kind === 'options' ? 'value' : 'name';
}

function nameOf(kind: KindName, row: Row): string {
  return String(row[nameAttribute(kind)] ?? '');
}

/** Kinds whose rows are found by these names; the store itself finds SKUs by name. */
const FOUND: ReadonlySet<KindName> = new Set(['brands', 'categories', 'goods', 'specs', 'options']);

type Index = ShardedMap<string, number | number[]>;

function add(index: Index, name: string, id: number): void {
  const known = index.get(name);
  if (known === undefined) index.set(name, id);
  else if (Array.isArray(known)) known.push(id);
  else index.set(name, [known, id]);
}

/** The last ids that were handed out, by kind. */
export type LastIds = ReadonlyMap<KindName, number>;

/**
 * Ids by name, as of a view. {@link Names.find} compares the row itself, so that rows that were
 * renamed since are not found; {@link Names.add} adds new ones, and {@link Names.catchUp} those of
 * other writers.
 */
export class Names {
  readonly #indexes = new Map<KindName, Index>();
  readonly #added = new Map<KindName, Index>();
  /** Rows up to these ids are known. */
  #lastIds: LastIds = new Map();

  /** Reads the names of a kind, and yields between rows. */
  *read(kind: KindName, view: FrozenView): Generator<undefined, void> {
    if (this.#indexes.has(kind) || !FOUND.has(kind)) return;
    const index: Index = new ShardedMap();
    for (const row of view.rows(kind)) {
      add(index, nameOf(kind, row), row.id);
      yield;
    }
    this.#indexes.set(kind, index);
    this.#lastIds = new Map([...this.#lastIds, [kind, view.lastId(kind)]]);
  }

  /** @returns the same names without those that were added, for another pass over the same file. */
  fresh(): Names {
    const names = new Names();
    for (const [kind, index] of this.#indexes) names.#indexes.set(kind, index);
    names.#lastIds = this.#lastIds;
    return names;
  }

  /**
   * Adds the rows that other writers have created since the names were read or {@link Names.settle}
   * was called: a row that is created in the meantime must not be created again. Yields between rows.
   */
  *catchUp(transaction: Transaction): Generator<undefined, void> {
    for (const [kind, known] of this.#lastIds) {
      for (let id = known + 1; id <= transaction.lastId(kind); id += 1) {
        const row = transaction.get(kind, id);
        if (row !== undefined) this.add(kind, row);
        yield;
      }
    }
  }

  /** The last ids of the kinds whose names are known, which include those of the transaction. */
  lastIdsIn(transaction: Transaction): LastIds {
    return new Map(Array.from(this.#lastIds.keys(), (kind) => [kind, transaction.lastId(kind)]));
  }

  /** Call this when a transaction that has called `catchUp` and `add` is committed. */
  settle(lastIds: LastIds): void {
    this.#lastIds = lastIds;
  }

  add(kind: KindName, row: Row): void {
    if (!FOUND.has(kind)) return;
    let index = this.#added.get(kind);
    if (index === undefined) this.#added.set(kind, (index = new ShardedMap()));
    add(index, nameOf(kind, row), row.id);
  }

  /**
   * Ids of the rows that have the name now, ascending.
   *
   * @param most ids that are returned; the others are not read. Thousands of rows can have a name.
   */
  find(view: View, kind: KindName, name: string, most = Number.POSITIVE_INFINITY): number[] {
    const ids = [this.#indexes.get(kind)?.get(name), this.#added.get(kind)?.get(name)].flat();
    const found = new Set<number>();
    for (const id of ids) {
      const row = id === undefined ? undefined : view.get(kind, id);
      if (row !== undefined && nameOf(kind, row) === name) found.add(row.id);
      if (found.size >= most) break;
    }
    return [...found].sort((a, b) => a - b);
  }
}
