/** `check`: verifies a store, also while a server runs. */
import { accessPath, readAccess } from '../../auth/access.ts';
import { checkKeys } from '../../auth/keys.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { checkStore } from '../../store/check.ts';
import { missing } from '../../store/directory.ts';
import type { Context } from '../../app/context.ts';
import { describeState } from './describe.ts';

export interface CheckOptions {
  readonly data: string;
}

/**
 * Prints every finding.
 *
 * @throws CatalogError `check_failed` if there are findings; `store_missing`.
 */
export function check({ data }: CheckOptions, context: Context): void {
  const { findings, state, changeSets } = checkStore(context.disk, data);
  const found = [
    ...findings,
    ...findingsOf(() => checkKeys(data)),
    ...findingsOf(() => readAccess(accessPath(data))),
  ];
  for (const finding of found) context.print(finding);
  if (found.length > 0) {
    const count = found.length === 1 ? 'one finding' : `${found.length} findings`;
    throw new CatalogError(
      'check_failed',
      `${data} is not in order: ${count}, listed on standard output`,
    );
  }
  if (state === null) throw missing(data);
  const after = changeSets === 1 ? 'one change set' : `${changeSets} change sets`;
  context.print(`${data} is in order: ${describeState(state)}; ${after} after catalog.json`);
}

function findingsOf(judge: () => unknown): string[] {
  try {
    judge();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
