/** A store without files: as quick as a map, with every rule. A fold of `apply`, as the real one. */
import { CatalogError } from '../../src/errors.ts';
import type { Change } from '../../src/model/change.ts';
import type { KindName, Scalar } from '../../src/model/kind.ts';
import { Draft, type Transaction } from '../../src/store/writer/draft.ts';
import { baseSlices } from '../../src/store/files/base.ts';
import { decodeBase } from '../../src/store/files/base/base-reader.ts';
import { encodeChangeSet } from '../../src/store/files/change-set.ts';
import { atOnce } from '../../src/slices.ts';
import { State } from '../../src/store/state.ts';
import { StoreReader } from '../../src/store/store-reader.ts';

/** Moves a state by what a draft over it would do. */
export function settle(state: State, draft: Draft): readonly Change[] {
  const content = atOnce(draft.changeSet(new Date().toISOString()));
  return content === null ? [] : state.apply(encodeChangeSet(content).changeSet);
}

export class MemoryStore extends StoreReader {
  protected readonly state = State.empty();

  /**
   * Runs each transaction whole or not at all, in one commit.
   *
   * @param refused is called with what the rules do not allow; without it that is thrown.
   */
  commit(
    transactions: readonly ((transaction: Transaction) => void)[],
    refused?: (error: CatalogError) => void,
  ): readonly Change[] {
    const draft = new Draft(this.state);
    for (const transaction of transactions) {
      try {
        draft.run(transaction);
      } catch (error) {
        if (refused === undefined || !(error instanceof CatalogError)) throw error;
        refused(error);
      }
    }
    return settle(this.state, draft);
  }

  /** The state as a start reads it: its rows are text. */
  opened(): State {
    return decodeBase('base', Buffer.concat([...baseSlices(this.state.snapshot())])).state;
  }
}

/** Puts a row under the next id of its kind. @returns the id. */
export function add(
  transaction: Transaction,
  kind: KindName,
  fields: Readonly<Record<string, Scalar>>,
): number {
  const id = transaction.nextId(kind);
  transaction.put(kind, { id, ...fields });
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
