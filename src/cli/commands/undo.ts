/** `undo`: reverts rows to their state before entries of the audit trail (spec 8.12). */
import type { Context } from '../../app/context.ts';
import { CatalogError, hasCode } from '../../errors.ts';
import { ChangedSinceError, type Undone } from '../../resources/audit/reversal.ts';
import { type EntrySelection, planUndo, Undo } from '../../resources/audit/undo.ts';
import { readSnapshot } from '../../store/directory.ts';
import { openForWrites } from './open-store.ts';
import { commandSubject } from './subject.ts';

export interface UndoOptions {
  readonly data: string;
  readonly selection: EntrySelection;
  readonly dryRun: boolean;
  /** Whether rows that have changed since are overwritten. */
  readonly force: boolean;
}

/**
 * Prints a line for each row, or for each row that has changed since.
 *
 * @throws CatalogError `changed_since`, `integrity`, `not_found`, `referred_to`, `store_locked` and
 *   the other failures of opening a store.
 */
export async function undo(options: UndoOptions, context: Context): Promise<void> {
  const { data, selection, dryRun, force } = options;
  try {
    const undone = dryRun
      ? planUndo(readSnapshot(data, context.disk), selection, force)
      : await undoInStore(options, context);
    for (const each of undone) context.print(describe(each, dryRun));
  } catch (error) {
    if (!(error instanceof ChangedSinceError)) throw error;
    for (const difference of error.differences) context.print(difference);
    const [rows, them] =
      error.differences.length === 1 ? ['one row has', 'it'] : ['rows have', 'them'];
    throw new CatalogError(
      'changed_since',
      `nothing was undone: ${rows} changed since, listed on standard output; --force overwrites ${them}`,
    );
  }
}

async function undoInStore(
  { data, selection, force }: UndoOptions,
  context: Context,
): Promise<readonly Undone[]> {
  const audited = await openForWrites(data, 'undo', context).catch((error: unknown) => {
    if (!hasCode(error, 'store_locked')) throw error;
    const way = 'or let the running server undo the changes: POST /admin/audits/<id>/reversal/';
    throw new CatalogError('store_locked', `${error.message}; ${way}`, { cause: error });
  });
  try {
    return await new Undo(audited).entries(selection, force, commandSubject());
  } finally {
    await audited.store.close();
  }
}

function describe({ kind, id, before, after }: Undone, dryRun: boolean): string {
  const will = dryRun ? 'would be ' : '';
  const what = after === null ? 'deleted' : before === null ? 'put back' : 'changed back';
  return `${kind.label} ${id} ${will}${what}`;
}
