/** The store's tables and drafts without its files: as quick as a map, with every rule. */
import { CatalogError } from '../../src/errors.ts';
import type { KindName, Scalar } from '../../src/model/kind.ts';
import type { RowOf } from '../../src/model/rows.ts';
import { Draft, type Transaction } from '../../src/store/draft.ts';
import { perKind } from '../../src/model/per-kind.ts';
import { RowTable } from '../../src/store/memory/row-table.ts';
import type { ReadableStore } from '../../src/store/store.ts';
import { type Change } from '../../src/model/change.ts';
import type { Page, Selection } from '../../src/store/memory/selection.ts';
import { Tables } from '../../src/store/memory/tables.ts';

export class MemoryStore implements ReadableStore {
  readonly #tables = new Tables(perKind(() => new RowTable()));
  readonly #lastIds = perKind(() => 0);
  #sequence = 0;

  /**
   * Runs each transaction whole or not at all, in one commit.
   *
   * @param refused is called with what the rules do not allow; without it that is thrown.
   */
  commit(
    transactions: readonly ((transaction: Transaction) => void)[],
    refused?: (error: CatalogError) => void,
  ): readonly Change[] {
    const draft = new Draft(this.#tables, this.#lastIds);
    for (const transaction of transactions) {
      try {
        draft.run(transaction);
      } catch (error) {
        if (refused === undefined || !(error instanceof CatalogError)) throw error;
        refused(error);
      }
    }
    const changes = draft.changes();
    this.#tables.apply(changes);
    Object.assign(this.#lastIds, draft.lastIds());
    this.#sequence += 1;
    return changes;
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.#tables.get(kind, id);
  }

  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    return this.#tables.idsWith(kind, attribute, value);
  }

  prepare(kind: KindName, selection: Selection): Promise<void> | undefined {
    return this.#tables.prepare(kind, selection);
  }

  selectAll<K extends KindName>(kind: K, selection: Selection) {
    return this.#tables.selectAll(kind, selection);
  }

  select<K extends KindName>(kind: K, selection: Selection): Page<K> {
    return this.#tables.select(kind, selection);
  }

  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.#tables.matching(kind, attribute, value).rank((other) => other < id);
  }

  ids(kind: KindName): Iterable<number> {
    return this.#tables.ids(kind).values();
  }

  count(kind: KindName): number {
    return this.#tables.count(kind);
  }

  dependencyVersion(kind: KindName): number {
    return this.#tables.dependencyVersion(kind);
  }

  lastId(kind: KindName): number {
    return this.#lastIds[kind];
  }

  get sequence(): number {
    return this.#sequence;
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
