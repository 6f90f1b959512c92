/** Reads the state that a store has at the time of each call. */
import type { Change } from '../model/change.ts';
import type { KindName, Scalar } from '../model/kind.ts';
import type { Sought } from '../model/relations.ts';
import type { RowOf } from '../model/rows.ts';
import type { FrozenView } from './memory/frozen-view.ts';
import type { Page, RowsOf, RowSelection, Selection } from './memory/selection.ts';
import type { ReadableStore } from './readable-store.ts';

export abstract class StoreReader implements ReadableStore {
  protected abstract readonly state: ReadableStore;

  get sequence(): number {
    return this.state.sequence;
  }

  get digest(): string {
    return this.state.digest;
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.state.get(kind, id);
  }

  peek<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.state.peek(kind, id);
  }

  has(kind: KindName, id: number): boolean {
    return this.state.has(kind, id);
  }

  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    return this.state.matching(kind, attribute, value);
  }

  prepareIndexes(sought: readonly Sought[], isOne?: boolean): Promise<void> | undefined {
    return this.state.prepareIndexes(sought, isOne);
  }

  prepare(kind: KindName, selection: RowSelection): Promise<void> | undefined {
    return this.state.prepare(kind, selection);
  }

  select(kind: KindName, selection: Selection): Page {
    return this.state.select(kind, selection);
  }

  selectAll<K extends KindName>(kind: K, selection: Selection): RowsOf<K> {
    return this.state.selectAll(kind, selection);
  }

  rowsBy<K extends KindName>(kind: K, attribute: string): (value: Scalar) => Iterable<RowOf<K>> {
    return this.state.rowsBy(kind, attribute);
  }

  scan<K extends KindName>(kind: K, selection: RowSelection): Iterable<RowOf<K> | null> {
    return this.state.scan(kind, selection);
  }

  freeze(): FrozenView {
    return this.state.freeze();
  }

  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.state.rank(kind, attribute, value, id);
  }

  ids(kind: KindName): Iterable<number> {
    return this.state.ids(kind);
  }

  firstId(kind: KindName, from: number): number | undefined {
    return this.state.firstId(kind, from);
  }

  count(kind: KindName): number {
    return this.state.count(kind);
  }

  dependencyVersion(kind: KindName): number {
    return this.state.dependencyVersion(kind);
  }

  lastId(kind: KindName): number {
    return this.state.lastId(kind);
  }

  onApply(observer: (changes: readonly Change[]) => void): () => void {
    return this.state.onApply(observer);
  }
}
