/** The interface for readers of a store. */
import type { Change } from '../model/change.ts';
import type { KindName, Scalar } from '../model/kind.ts';
import type { Sought } from '../model/relations.ts';
import type { RowOf } from '../model/rows.ts';
import type { FrozenView } from './memory/frozen-view.ts';
import type { Page, RowsOf, RowSelection, Selection } from './memory/selection.ts';
import type { View } from './view.ts';

/** What readers of a store see: durable rows only. */
export interface ReadableStore extends View {
  /**
   * Returns the row without keeping it: a row stored as text stays text, and is another object with
   * each call.
   */
  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined;
  has(kind: KindName, id: number): boolean;
  /**
   * Makes sure that rows can be looked up by the values of some attributes without blocking the
   * event loop: soon after a start, the indexes of large tables do not exist yet.
   *
   * @param isOne whether only one value of each attribute is looked up.
   * @returns a promise to await; undefined if nothing has to be prepared.
   */
  prepareIndexes(sought: readonly Sought[], isOne?: boolean): Promise<void> | undefined;
  /**
   * Prepares the order of a selection, so that {@link ReadableStore.select} does not block.
   *
   * @returns a promise to await before calling this again; undefined if the order is ready.
   * @throws CatalogError `busy`, as a rejection.
   */
  prepare(kind: KindName, selection: RowSelection): Promise<void> | undefined;
  /** One page of a collection. Rows are read only if necessary. */
  select(kind: KindName, selection: Selection): Page;
  /** All rows of a selection as of the time of the call, looked up as they are read. */
  selectAll<K extends KindName>(kind: K, selection: Selection): RowsOf<K>;
  /**
   * Gives the rows that have a value of an indexed attribute, by ascending id, as of the time of
   * this call, looked up as they are read. Values must be given in the same turn of the event loop.
   */
  rowsBy<K extends KindName>(kind: K, attribute: string): (value: Scalar) => Iterable<RowOf<K>>;
  /**
   * The rows of a selection as of the time of the call. Each step tests one row, so that none takes
   * long, and gives null if the row does not match. The selection must be prepared.
   */
  scan<K extends KindName>(kind: K, selection: RowSelection): Iterable<RowOf<K> | null>;
  /** A view of all rows as of the time of the call, until it is closed. */
  freeze(): FrozenView;
  /** How many rows whose indexed attribute has the value have a lower id. */
  rank(kind: KindName, attribute: string, value: Scalar, id: number): number;
  /** All ids of a kind, ascending. */
  ids(kind: KindName): Iterable<number>;
  /** The lowest id of a row that is at least `from`; undefined if there is none. */
  firstId(kind: KindName, from: number): number | undefined;
  count(kind: KindName): number;
  /** Changes with every commit that changes what rows of this kind look up in rows of others. */
  dependencyVersion(kind: KindName): number;
  /**
   * Calls `observer` with the changes of every commit, in the event-loop turn in which they become
   * visible and before any reader sees them. It must be quick; if it throws, memory can no longer
   * be trusted.
   *
   * @returns a function after which it is not called any more.
   */
  onApply(observer: (changes: readonly Change[]) => void): () => void;
  /** The last id that was assigned. Every id up to it that has no row was deleted. */
  lastId(kind: KindName): number;
  /** The number of the last change set. Two reads with the same sequence see the same rows. */
  readonly sequence: number;
  /** The digest of that change set. With the number, it identifies the state across histories. */
  readonly digest: string;
}
