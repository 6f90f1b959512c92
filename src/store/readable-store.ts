/** What readers of a store ask of it. */
import type { Change } from '../model/change.ts';
import type { KindName, Scalar } from '../model/kind.ts';
import type { Sought } from '../model/relations.ts';
import type { RowOf } from '../model/rows.ts';
import type { FrozenView } from './memory/frozen-view.ts';
import type { IdPage, Page, Selection } from './memory/selection.ts';
import type { View } from './view.ts';

/** What readers of a store see: durable rows only. */
export interface ReadableStore extends View {
  /**
   * The row for one who forgets it at once: if it is text, it is not kept as an object, so that it
   * is another one with each call.
   */
  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined;
  has(kind: KindName, id: number): boolean;
  /**
   * Sees to it that rows can be looked for by the values of some attributes without holding anybody
   * up: soon after a start the indexes of large tables are not there yet.
   *
   * @param isOne whether one value of each is looked for, and no more.
   * @returns what to await; undefined if there is nothing.
   */
  prepareIndexes(sought: readonly Sought[], isOne?: boolean): Promise<void> | undefined;
  /**
   * Prepares the order of a selection, so that {@link ReadableStore.select} does not block.
   *
   * @returns what to await before asking again; undefined if the order is ready.
   * @throws CatalogError `busy`, as a rejection.
   */
  prepare(kind: KindName, selection: Selection): Promise<void> | undefined;
  /** One page of a collection. */
  select<K extends KindName>(kind: K, selection: Selection): Page<K>;
  /** The same page by the ids of its rows, none of which is read for it unless it has to be. */
  selectIds(kind: KindName, selection: Selection): IdPage;
  /** All rows of a selection as of the time of the call, found as they are read. */
  selectAll<K extends KindName>(kind: K, selection: Selection): RowsOf<K>;
  /**
   * The rows of a selection as of the time of the call, whatever its limit, found one after the
   * other as they are read, so that no step takes long; null for a row that does not match. The
   * selection must be prepared.
   */
  scan<K extends KindName>(kind: K, selection: Selection): Iterable<RowOf<K> | null>;
  /** All rows as of the time of the call, until it is closed. */
  freeze(): FrozenView;
  /** How many rows whose indexed attribute has the value have a lower id. */
  rank(kind: KindName, attribute: string, value: Scalar, id: number): number;
  /** All ids of a kind, ascending. */
  ids(kind: KindName): Iterable<number>;
  count(kind: KindName): number;
  /** How often an attribute has changed that rows of this kind look up in rows of others. */
  dependencyVersion(kind: KindName): number;
  /**
   * Calls `observer` with the changes of every commit in the turn in which they can be seen, before
   * anybody sees them. It must be quick; if it throws, memory can no longer be trusted.
   */
  onApply(observer: (changes: readonly Change[]) => void): void;
  /** The last id that was assigned. Every id up to it that has no row was deleted. */
  lastId(kind: KindName): number;
  /** The number of the last change set. Two reads with the same sequence see the same rows. */
  readonly sequence: number;
  /** The digest of that change set. With the number it names the state, in other histories too. */
  readonly digest: string;
}

export interface RowsOf<K extends KindName> {
  readonly rows: Iterable<RowOf<K>>;
  readonly total: number;
}
