/** `check`: verifies a store, also while a server runs. */
import { join } from 'node:path';
import { archiveIn } from '../../app/archive/open.ts';
import { readClusterSettings } from '../../app/cluster/settings-file.ts';
import { archiveRecord } from '../../archive/record.ts';
import { PRIVATE_NAMES } from '../../auth/private-file.ts';
import { judge } from '../../auth/sharing/private-contents.ts';
import { WebhookKey } from '../../auth/webhook-key.ts';
import { CatalogError, messageOf, shellWord, systemErrorCode } from '../../errors.ts';
import type { RowOf } from '../../model/rows.ts';
import { keptSettings } from '../../pages/shop/settings.ts';
import { checkStore } from '../../store/check.ts';
import { missing } from '../../store/directory.ts';
import { readHostRecord } from '../../store/hosts/host-record.ts';
import type { Context } from '../../app/context.ts';
import { describeState } from './describe.ts';

export interface CheckOptions {
  readonly data: string;
}

/**
 * Prints every finding.
 *
 * @throws CatalogError `check_failed` if there are findings; `store_missing`; Error of the system if
 *   the path leads to something else than a directory.
 */
export function check({ data }: CheckOptions, context: Context): void {
  requireNothingElse(context, data);
  const { findings, state, changeSets } = checkStore(context.disk, data);
  const found = [...findings, ...filesBeside(context, data).flatMap(findingsOf)];
  for (const finding of found) context.print(finding);
  if (found.length > 0) {
    const count = found.length === 1 ? 'one finding' : `${found.length} findings`;
    throw new CatalogError(
      'check_failed',
      `${data} is not in order: ${count}, listed on standard output`,
    );
  }
  if (state === null) throw missing(data);
  for (const webhook of state.rows.webhooks.values()) {
    warnOfSecret(data, webhook as RowOf<'webhooks'>, context);
  }
  const after = changeSets === 1 ? 'one change set' : `${changeSets} change sets`;
  context.print(`${data} is in order: ${describeState(state)}; ${after} after catalog.json`);
}

/**
 * Without the key of its secret, a webhook gets nothing. The store is in order all the same: one that
 * was restored from a backup without keys has none.
 */
function warnOfSecret(data: string, webhook: RowOf<'webhooks'>, { warn }: Context): void {
  try {
    new WebhookKey(data).secretOf(webhook);
  } catch (error) {
    warn(`WARNING: nothing is delivered to webhook ${webhook.id}: ${messageOf(error)}`);
  }
}

/** In a path that is no directory, or in an archive, every file would be a finding. */
function requireNothingElse({ disk }: Context, data: string): void {
  try {
    disk.list(data);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTDIR') throw error;
  }
  const url = archiveIn(data, disk);
  if (url === null) return;
  throw new CatalogError(
    'store_missing',
    `${data} holds no store, but an archive; to check it, run: catalog-server check --archive ${shellWord(url)}`,
  );
}

/** @returns what reads each file beside the store that a server or a command refuses if damaged. */
function filesBeside({ disk }: Context, data: string): (() => unknown)[] {
  return [
    ...PRIVATE_NAMES.map((name) => () => judge(name, join(data, name))),
    () => readHostRecord(disk, data),
    () => archiveRecord(disk, data).read(),
    () => readClusterSettings(data, disk),
    () => keptSettings(disk, data),
  ];
}

function findingsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
