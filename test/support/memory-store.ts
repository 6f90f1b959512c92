/** A store without files: as quick as a map, with every rule. A fold of `apply`, as the real one. */
import { CatalogError } from '../../src/errors.ts';
import type { Change } from '../../src/model/change.ts';
import type { KindName, Scalar } from '../../src/model/kind.ts';
import type { RowOf } from '../../src/model/rows.ts';
import { Draft, type Transaction } from '../../src/store/writer/draft.ts';
import { encodeChangeSet } from '../../src/store/files/change-set.ts';
import type { FrozenView } from '../../src/store/memory/frozen-view.ts';
import type { IdPage, Page, Selection } from '../../src/store/memory/selection.ts';
import { State } from '../../src/store/state.ts';
import type { ReadableStore, RowsOf } from '../../src/store/readable-store.ts';

/** Moves a state by what a draft over it would do. */
export function settle(state: State, draft: Draft): readonly Change[] {
  const content = draft.changeSet(new Date().toISOString());
  return content === null ? [] : state.apply(encodeChangeSet(content).changeSet);
}

export class MemoryStore implements ReadableStore {
  readonly #state = State.empty();

  /**
   * Runs each transaction whole or not at all, in one commit.
   *
   * @param refused is called with what the rules do not allow; without it that is thrown.
   */
  commit(
    transactions: readonly ((transaction: Transaction) => void)[],
    refused?: (error: CatalogError) => void,
  ): readonly Change[] {
    const draft = new Draft(this.#state);
    for (const transaction of transactions) {
      try {
        draft.run(transaction);
      } catch (error) {
        if (refused === undefined || !(error instanceof CatalogError)) throw error;
        refused(error);
      }
    }
    return settle(this.#state, draft);
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#state.get(kind, id);
  }

  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    return this.#state.matching(kind, attribute, value);
  }

  prepare(kind: KindName, selection: Selection): Promise<void> | undefined {
    return this.#state.prepare(kind, selection);
  }

  selectAll<K extends KindName>(kind: K, selection: Selection): RowsOf<K> {
    return this.#state.selectAll(kind, selection);
  }

  select<K extends KindName>(kind: K, selection: Selection): Page<K> {
    return this.#state.select(kind, selection);
  }

  selectIds(kind: KindName, selection: Selection): IdPage {
    return this.#state.selectIds(kind, selection);
  }

  scan<K extends KindName>(kind: K, selection: Selection): Iterable<RowOf<K> | null> {
    return this.#state.scan(kind, selection);
  }

  freeze(): FrozenView {
    return this.#state.freeze();
  }

  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.#state.rank(kind, attribute, value, id);
  }

  ids(kind: KindName): Iterable<number> {
    return this.#state.ids(kind);
  }

  count(kind: KindName): number {
    return this.#state.count(kind);
  }

  dependencyVersion(kind: KindName): number {
    return this.#state.dependencyVersion(kind);
  }

  lastId(kind: KindName): number {
    return this.#state.lastId(kind);
  }

  get sequence(): number {
    return this.#state.sequence;
  }

  get digest(): string {
    return this.#state.digest;
  }
}

/** Puts a row under the next id of its kind. @returns the id. */
export function add(
  transaction: Transaction,
  kind: KindName,
  fields: Readonly<Record<string, Scalar>>,
): number {
  const id = transaction.nextId(kind);
  transaction.put(kind, { ...fields, id });
  return id;
}

/** Changes some attributes of a row that is there. */
export function change(
  transaction: Transaction,
  kind: KindName,
  id: number,
  fields: Readonly<Record<string, Scalar>>,
): void {
  const row = transaction.get(kind, id);
  if (row === undefined) throw new Error(`there is no ${kind} ${id}`);
  transaction.put(kind, { ...row, ...fields });
}
