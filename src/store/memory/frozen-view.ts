/**
 * All rows as they were at one moment, for readers that take long.
 *
 * Invariant: every answer is as of the moment when the view was made. The rows are those of
 * snapshots, which share what does not change. A look-up by value reads the live indexes; what was
 * removed from them since is kept here: rows that changed one by one, and lists that were replaced.
 * So a view takes memory only for what changes while it is open.
 */
import type { Change } from '../../model/change.ts';
import type { KindName, Scalar } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { perKind } from '../../model/per-kind.ts';
import type { RowOf } from '../../model/rows.ts';
import { Candidates } from '../writer/candidates.ts';
import { ShardedMap } from './maps/sharded-map.ts';
import { permanentIndexes } from './permanent-indexes.ts';
import { idsIn } from './orders/lists/list.ts';
import type { Replacements } from './orders/lists/replacements.ts';
import type { TablesPlan } from './plan.ts';
import type { RowSnapshot } from './row-table.ts';
import type { View } from '../view.ts';

/** What a view takes from the state when it is made. */
export interface Moment {
  readonly sequence: number;
  readonly digest: string;
  readonly lastIds: Readonly<Record<KindName, number>>;
  readonly rows: Readonly<Record<KindName, RowSnapshot>>;
}

export class FrozenView implements View {
  readonly sequence: number;
  readonly digest: string;
  readonly #lastIds: Readonly<Record<KindName, number>>;
  readonly #rows: Readonly<Record<KindName, RowSnapshot>>;
  readonly #live: View;
  /** Rows that have changed since, by the values that they had at the moment. */
  readonly #changed = new Candidates();
  /** Their ids: only the first change of a row shows the value of the moment. */
  readonly #changedIds = perKind(() => new ShardedMap<number, true>());
  /** Lists that were replaced since, by kind and attribute. */
  readonly #replaced = new Map<string, Replacements[]>();
  readonly #onClose: () => void;

  /** @param live the state, which passes every change to {@link FrozenView.keep} first. */
  constructor({ sequence, digest, lastIds, rows }: Moment, live: View, onClose: () => void) {
    this.sequence = sequence;
    this.digest = digest;
    this.#lastIds = lastIds;
    this.#rows = rows;
    this.#live = live;
    this.#onClose = onClose;
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#rows[kind].get(id) as RowOf<K> | undefined;
  }

  /** Returns the row without keeping it: a row stored as text stays text. */
  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#rows[kind].peek(id) as RowOf<K> | undefined;
  }

  /** The last id of a kind that had been assigned. */
  lastId(kind: KindName): number {
    return this.#lastIds[kind];
  }

  /** The ids of {@link FrozenView.matching}, and the last of them. */
  index(kind: KindName, attribute: string, value: Scalar) {
    const ids = [...this.matching(kind, attribute, value)];
    return { last: ids.at(-1), values: () => ids };
  }

  /** All ids of a kind, ascending. */
  idList(kind: KindName) {
    const rows = this.#rows[kind];
    return { chunks: (): readonly (readonly number[])[] => [rows.ids()] };
  }

  /** Every row of a kind, by ascending id. */
  rows(kind: KindName): RowSnapshot {
    return this.#rows[kind];
  }

  /** Ascending. Each row is read when its id is taken: all of them would block the event loop. */
  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    const ids = this.#candidates(kind, attribute, value);
    const rows = this.#rows[kind];
    return {
      *[Symbol.iterator]() {
        for (const id of ids) if (rows.peek(id)?.[attribute] === value) yield id;
      },
    };
  }

  /** The rows that have the value now, and those that may have had it. Ascending, each once. */
  #candidates(kind: KindName, attribute: string, value: Scalar): readonly number[] {
    const stayed = [...this.#live.matching(kind, attribute, value)];
    const changed = this.#changed.matching(kind, attribute, value);
    const replaced = (this.#replaced.get(nameOf(kind, attribute)) ?? []).flatMap((lists) =>
      idsIn(lists.get(value)?.before),
    );
    if (changed.length === 0 && replaced.length === 0) return stayed;
    return [...new Set([...stayed, ...changed, ...replaced])].sort((a, b) => a - b);
  }

  /**
   * Must be called with every change before the state moves.
   *
   * @param plan of the changes, if they are many.
   */
  keep(changes: readonly Change[], plan?: TablesPlan): void {
    const kept = plan === undefined ? null : this.#keepLists(plan);
    for (const { kind, before } of changes) {
      if (before === null || !this.#rows[kind].has(before.id)) continue;
      if (kept?.has(kind) === true) continue;
      const ids = this.#changedIds[kind];
      if (ids.get(before.id) === true) continue;
      ids.set(before.id, true);
      this.#changed.add(kind, before);
    }
  }

  /**
   * Keeps the lists that a plan replaces.
   *
   * @returns the kinds for which this is enough: an index that did not exist when the plan was made
   *   is built from the later state, if it is needed.
   */
  #keepLists({ lists }: TablesPlan): ReadonlySet<KindName> {
    const names = new Set<string>();
    for (const [{ kind, order }, replacements] of lists) {
      if (order.sortby !== 'id') continue;
      const name = nameOf(kind.name, order.partition);
      names.add(name);
      this.#replaced.set(name, [...(this.#replaced.get(name) ?? []), replacements]);
    }
    const kept = ALL_KINDS.filter((kind) =>
      permanentIndexes(kind).every((attribute) => names.has(nameOf(kind.name, attribute))),
    );
    return new Set(kept.map(({ name }) => name));
  }

  /** Detaches the view from the state, which passes it no more changes. */
  close(): void {
    this.#onClose();
  }
}

function nameOf(kind: KindName, attribute: string | null): string {
  return `${kind} ${attribute}`;
}
