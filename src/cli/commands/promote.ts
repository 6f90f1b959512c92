/** `promote`: makes the directory of a follower that of the primary (spec 15.15). */
import type { Context } from '../../app/context.ts';
import { syncDirectory } from '../../disk/durable-file.ts';
import { CatalogError, shellWord } from '../../errors.ts';
import { recover } from '../../store/files/recovery.ts';
import {
  currentEpoch,
  type HostRecord,
  promoted,
  readHostRecord,
  writeHostRecord,
} from '../../store/hosts/host-record.ts';
import { missing, requireStore, withOwnership } from '../../store/directory.ts';

/**
 * @param notify addresses of further hosts, which the new primary informs of its epoch.
 * @throws CatalogError `store_locked`, `store_missing`, `store_damaged`, `schema_version`; `usage`
 *   if the directory is not that of a follower.
 */
export async function promote(
  { data, notify = [] }: { readonly data: string; readonly notify?: readonly string[] },
  { disk, print, warn }: Pick<Context, 'disk' | 'print' | 'warn'>,
): Promise<void> {
  requireStore(data, disk);
  await withOwnership(data, 'promote', async () => {
    const record = readHostRecord(disk, data);
    if (record === null || record.role === 'primary') {
      // A promotion that was killed may have left the record without a sync of its name.
      await syncDirectory(disk, data);
      throw new CatalogError('usage', `${data} follows no other host; ${reasonOf(data, record)}`);
    }
    const state = recover(disk, data)?.state;
    if (state === undefined) throw missing(data);
    const next = promoted(record, state.sequence, notify);
    await writeHostRecord(disk, data, next);
    const { number } = currentEpoch(next);
    const time = state.time === null ? '' : ` of ${state.time}`;
    print(
      `promoted ${data}: epoch ${number} begins after change set ${state.sequence}${time}; ${startOf(data)}`,
    );
    warn(
      `WARNING: writes that ${record.primary ?? 'the previous primary'} confirmed after change set ${state.sequence} are lost, unless they can still be read from that host; stop that host before you start this one`,
    );
    if (record.role === 'succeeded' && notify.length === 0) {
      warn(
        `WARNING: this host does not know the address of the primary of epoch ${record.latest}, and cannot inform it: keep that host off, or clients away from it`,
      );
    }
  });
}

/** Why a host that follows no other one cannot be promoted: it may have been promoted already. */
function reasonOf(data: string, record: HostRecord | null): string {
  const { number, after } = record === null ? { number: 1, after: 0 } : currentEpoch(record);
  return number === 1
    ? 'only the directory of a follower can be promoted'
    : `it is promoted already: epoch ${number} begins after change set ${after}; if no other host was promoted later, ${startOf(data)}`;
}

function startOf(data: string): string {
  return `start it with: catalog-server serve --data ${shellWord(data)}`;
}
