/** The use cases of undoing: one entry of the audit trail, or several at once (spec 1.14). */
import { CatalogError } from '../../errors.ts';
import { type Kind, KIND_NAMES } from '../../model/kind.ts';
import { soughtByWrite } from '../../model/relations.ts';
import { existingRow } from '../../model/rows.ts';
import { atOnce } from '../../slices.ts';
import { Draft, type LongTransaction, type Transaction } from '../../store/writer/draft.ts';
import type { State } from '../../store/state.ts';
import { translated } from '../records.ts';
import { representInParts } from '../represent.ts';
import type { Representation } from '../representation.ts';
import type { AuditedStore } from './audited-store.ts';
import { reverse, reversibleKind, type Undone } from './reversal.ts';

/** The entries of a subject in a period, both bounds included. */
interface Period {
  readonly subject: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly since: string;
  /** The same; null for no end. */
  readonly until: string | null;
}

/** Which entries: by id, or by subject and period. */
export type EntrySelection = readonly number[] | Period;

export class Undo {
  readonly #audited: AuditedStore;

  constructor(audited: AuditedStore) {
    this.#audited = audited;
  }

  /**
   * Undoes one entry, and what was written together with it.
   *
   * @param kind of the entry's row.
   * @param force whether a row that has changed since is overwritten.
   * @param subject who undoes it.
   * @returns the row's object; null if the row was deleted.
   * @throws CatalogError `changed_since`, `integrity`, `not_found`, `referred_to`,
   *   `too_many_webhooks`, `write_refused`.
   */
  async entry(
    kind: Kind,
    id: number,
    force: boolean,
    subject: string,
  ): Promise<Representation | null> {
    await this.#audited.store.prepareIndexes(KIND_NAMES.flatMap(soughtByWrite));
    const committed = this.#commit(subject, function* (transaction) {
      yield* reverse(transaction, [id], force);
      const { resource_id } = existingRow(transaction, 'audits', id);
      const row = transaction.get(kind.name, resource_id);
      return row === undefined ? null : yield* representInParts(kind, row, transaction);
    });
    return translated(kind, committed);
  }

  /**
   * Undoes several entries in one commit.
   *
   * @returns the rows that were undone.
   * @throws CatalogError as {@link Undo.entry}.
   */
  entries(selection: EntrySelection, force: boolean, subject: string): Promise<readonly Undone[]> {
    return this.#commit(subject, (transaction) => reverseSelection(transaction, selection, force));
  }

  #commit<T>(subject: string, run: LongTransaction<T>): Promise<T> {
    this.#audited.requireRoom();
    return this.#audited.transact(subject, true, run);
  }
}

/**
 * What undoing would do, with every check, on a state that does not change meanwhile.
 *
 * @returns and throws as {@link Undo.entries}.
 */
export function planUndo(
  state: State,
  selection: EntrySelection,
  force: boolean,
): readonly Undone[] {
  const draft = new Draft(state);
  return atOnce(draft.runInParts((transaction) => reverseSelection(transaction, selection, force)));
}

function reverseSelection(
  transaction: Transaction,
  selection: EntrySelection,
  force: boolean,
): ReturnType<LongTransaction<readonly Undone[]>> {
  const ids = 'subject' in selection ? entriesOf(transaction, selection) : selection;
  return reverse(transaction, ids, force);
}

/** @throws CatalogError `not_found` if there are none. */
function entriesOf(transaction: Transaction, { subject, since, until }: Period): number[] {
  const ids = [...transaction.matching('audits', 'subject', subject)].filter((id) => {
    const { time, resource } = existingRow(transaction, 'audits', id);
    // Changes of accounts cannot be undone.
    if (reversibleKind({ resource }) === null) return false;
    return time >= since && (until === null || time <= until);
  });
  if (ids.length > 0) return ids;
  const end = until === null ? '' : ` until ${until}`;
  throw new CatalogError('not_found', `${subject} has no audit entries since ${since}${end}`);
}
