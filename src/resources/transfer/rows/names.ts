/** Rows by their names, for references that a file writes as names (spec 12.9). */
import type { Change } from '../../../model/change.ts';
import type { Kind, KindName, Row } from '../../../model/kind.ts';
import { ALL_KINDS } from '../../../model/kinds.ts';
import { namingOf } from '../../../model/relations.ts';
import type { FrozenView } from '../../../store/memory/frozen-view.ts';
import { ShardedMap } from '../../../store/memory/maps/sharded-map.ts';
import { permanentIndexes } from '../../../store/memory/permanent-indexes.ts';
import type { View } from '../../../store/view.ts';

/** Ids that a message about an ambiguous name has, at most. */
export const MAX_NAMED = 10;

/** The text by which cells name a row. */
export function nameOf(kind: KindName, row: Row): string {
  return String(row[namingOf(kind).attribute] ?? '');
}

/** Whether the store itself finds rows by an attribute, such as SKUs by name. */
export function isIndexed(kind: Kind, attribute: string): boolean {
  return permanentIndexes(kind).includes(attribute);
}

/** Kinds whose rows are found by these names. */
const FOUND: ReadonlySet<KindName> = new Set(
  ALL_KINDS.flatMap((kind) => {
    const { name, naming } = kind;
    return naming === undefined || isIndexed(kind, naming.attribute) ? [] : [name];
  }),
);

type Index = ShardedMap<string, number | number[]>;

function add(index: Index, name: string, id: number): void {
  const known = index.get(name);
  if (known === undefined) index.set(name, id);
  else if (Array.isArray(known)) known.push(id);
  else index.set(name, [known, id]);
}

function indexIn(indexes: Map<KindName, Index>, kind: KindName): Index {
  let index = indexes.get(kind);
  if (index === undefined) indexes.set(kind, (index = new ShardedMap()));
  return index;
}

/**
 * Ids by name, as of a view. {@link Names.each} compares the row itself, so that rows that were
 * renamed since are not found; {@link Names.add} adds those that a transaction of the import
 * writes, and {@link Names.follow} those that are committed.
 */
export class Names {
  readonly #indexes = new Map<KindName, Index>();
  readonly #added = new Map<KindName, Index>();
  /** Rows that were committed since, also before the names of their kind were read. */
  readonly #committed: Map<KindName, Index>;

  /** @param committed those of an earlier pass, which it shares. */
  constructor(committed = new Map<KindName, Index>()) {
    this.#committed = committed;
  }

  /** Reads the names of a kind, and yields between rows. */
  *read(kind: KindName, view: FrozenView): Generator<undefined, void> {
    if (this.#indexes.has(kind) || !FOUND.has(kind)) return;
    const index: Index = new ShardedMap();
    for (const row of view.rows(kind)) {
      add(index, nameOf(kind, row), row.id);
      yield;
    }
    this.#indexes.set(kind, index);
  }

  /** @returns the same names without those that were added, for another pass over the same file. */
  fresh(): Names {
    const names = new Names(this.#committed);
    for (const [kind, index] of this.#indexes) names.#indexes.set(kind, index);
    return names;
  }

  /**
   * Must be called with every commit after the view was made: what another writer has created or
   * renamed in the meantime must not be created again.
   */
  follow(changes: readonly Change[]): void {
    for (const { kind, id, before, after } of changes) {
      if (after === null || !FOUND.has(kind)) continue;
      const name = nameOf(kind, after);
      if (before !== null && nameOf(kind, before) === name) continue;
      add(indexIn(this.#committed, kind), name, id);
    }
  }

  /** Call this when a transaction that has called {@link Names.add} is committed. */
  settle(): void {
    this.#added.clear();
  }

  add(kind: KindName, row: Row): void {
    if (FOUND.has(kind)) add(indexIn(this.#added, kind), nameOf(kind, row), row.id);
  }

  /**
   * Ids of the rows that have the name now, ascending.
   *
   * @param most ids that are returned; the others are not read. Thousands of rows can have a name.
   */
  find(view: View, kind: KindName, name: string, most: number): number[] {
    return [...this.each(view, kind, name).take(most)].sort((a, b) => a - b);
  }

  /** Ids of the rows that have the name now, each once, in any order. Reads each when it is taken. */
  *each(view: View, kind: KindName, name: string): Generator<number, void> {
    const found = new Set<number>();
    for (const byKind of [this.#indexes, this.#added, this.#committed]) {
      const ids = byKind.get(kind)?.get(name) ?? [];
      for (const id of Array.isArray(ids) ? ids : [ids]) {
        const row = view.get(kind, id);
        if (row === undefined || nameOf(kind, row) !== name || found.has(id)) continue;
        found.add(id);
        yield id;
      }
    }
  }
}
