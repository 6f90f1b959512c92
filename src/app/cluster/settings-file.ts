/**
 * `cluster.json` of a data directory: how its host reaches the log that it shares. Commands that
 * change accounts or keys read it, and so need no flags. It names files, and contains no secret.
 */
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { type AccessDraft, changeAccess } from '../../auth/access.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { replaceFile } from '../../disk/durable-file.ts';
import { readFile } from '../../disk/read-file.ts';
import { asOwner } from '../../disk/system/owner.ts';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { formatLogAddress, parseLogAddress } from '../../hosts/cluster/address.ts';
import { openCluster } from './open.ts';
import type { ClusterSettings, SharedLogSettings } from './options.ts';

const shape = v.object({
  log: v.string(),
  logCa: v.optional(v.string()),
  logCert: v.optional(v.string()),
  logKey: v.optional(v.string()),
  logUser: v.optional(v.string()),
  logPasswordFile: v.optional(v.string()),
});

/**
 * Writes the settings of a host that shares a log, if they have changed: a host can start again
 * with a full disk.
 *
 * @throws CatalogError `store_unreadable` if they cannot be read; what the disk throws.
 */
export async function keepClusterSettings(
  disk: Disk,
  directory: string,
  settings: ClusterSettings,
): Promise<void> {
  const { log, logCa, logCert, logKey, logUser, logPasswordFile } = settings;
  if (log === undefined) return;
  const content: v.InferInput<typeof shape> = {
    log: formatLogAddress(log),
    logCa: absolute(logCa),
    logCert: absolute(logCert),
    logKey: absolute(logKey),
    logUser,
    logPasswordFile: absolute(logPasswordFile),
  };
  const bytes = Buffer.from(`${JSON.stringify(content, null, 1)}\n`);
  const path = join(directory, DATA_FILES.cluster);
  if (readFile(disk, path)?.equals(bytes) === true) return;
  await replaceFile(disk, path, bytes);
}

/** A command may run in another working directory. */
function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

/**
 * The originals of the accounts and keys of a directory, for a command.
 *
 * @returns undefined if the host of the directory shares no log.
 * @throws CatalogError `usage` if `cluster.json` cannot be used.
 */
export function sharedFilesOf(directory: string, disk: Disk): SharedFiles | undefined {
  const settings = readClusterSettings(directory, disk);
  if (settings === null) return undefined;
  const cluster = asOwner(() => openCluster(settings));
  const files = cluster.credentials(disk, directory, () => {});
  return {
    pull: () => cluster.forOperator(files.pull()),
    push: (file, content) => cluster.forOperator(files.push(file, content)),
    requireConfirmed: () => files.requireConfirmed(),
  };
}

/**
 * @returns the content of `cluster.json`; null if there is none.
 * @throws CatalogError `usage` if it is not what `serve` writes, `store_unreadable` if it cannot be
 *   read.
 */
export function readClusterSettings(directory: string, disk: Disk): SharedLogSettings | null {
  const path = join(directory, DATA_FILES.cluster);
  const bytes = readFile(disk, path);
  return bytes === null ? null : settingsIn(path, bytes);
}

/** Changes accounts or revocations for a command: those of all hosts, if they are shared. */
export function changeShared<T>(
  directory: string,
  disk: Disk,
  change: (draft: AccessDraft, now: number) => T,
): Promise<T> {
  const shared = sharedFilesOf(directory, disk);
  return changeAccess(disk, directory, change, { shared });
}

function settingsIn(path: string, bytes: Buffer): SharedLogSettings {
  try {
    const { log, ...files } = v.parse(shape, JSON.parse(bytes.toString()), FIRST_FAULT);
    return { ...files, log: parseLogAddress(log) };
  } catch (cause) {
    throw new CatalogError(
      'usage',
      `${path} does not hold the address of the shared log; start serve --log, which writes the file again`,
      { cause },
    );
  }
}
