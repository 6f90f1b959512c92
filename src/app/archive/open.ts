/** The archive of a running server: what `--archive` names, composed with the store. */
import { relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Archiver } from '../../archive/archiver.ts';
import type { ArchiveStatus } from '../../archive/archiver-options.ts';
import { ArchiveObjects } from '../../archive/archive-objects.ts';
import { BASES } from '../../archive/names.ts';
import { archiveRecord } from '../../archive/record.ts';
import { type ArchiveAddress, openObjectStore } from '../../archive/storage/address.ts';
import type { ObjectStore } from '../../archive/storage/object-store.ts';
import { PrivateFiles } from '../../auth/backup/private-files.ts';
import { realPath } from '../../disk/system/real-path.ts';
import { readKeyFile } from '../../encryption/key-file.ts';
import { CatalogError, shellWord } from '../../errors.ts';
import type { ReadinessDetails } from '../../http/services.ts';
import type { Store } from '../../store/store.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import type { Seams } from '../seams.ts';
import { DATA_FILES, isDataFile } from '../../data-files.ts';

/** Milliseconds for which an archive still takes change sets when the server stops. */
const ARCHIVE_GRACE_MS = 5000;

export interface ArchiveOptions {
  readonly archive?: ArchiveAddress;
  /** The path of its key file. */
  readonly archiveKey?: string;
  /** Milliseconds that a restore can go back; everything is kept if left out. */
  readonly archiveKeep?: number;
}

export interface Archive {
  /** Null if nothing is archived. */
  readonly figures: () => ArchiveStatus | null;
  readonly details: () => ReadinessDetails;
  /** Starts to archive in the background. */
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

/** Where the archive is, and its key. */
interface ArchivePlace {
  readonly objects: ObjectStore;
  /** Null if the archive is not encrypted. */
  readonly key: Uint8Array | null;
}

/**
 * @returns null if nothing is archived; `data` is the data directory.
 * @throws CatalogError `usage`, `encryption`: a mistake in the settings.
 */
export function archivePlace(
  { archive: address, archiveKey, data }: ArchiveOptions & { readonly data: string },
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  { archiveStore }: Seams,
): ArchivePlace | null {
  if (address === undefined) return null;
  if (address.kind === 'directory') {
    requireOutside(data, address.path);
    requireNoData(address.path, disk);
  }
  const key = archiveKey === undefined ? null : readKeyFile(archiveKey);
  return { objects: archiveStore ?? openObjectStore(address, env), key };
}

/** Both have files named archive.json and a directory changes/, in which a store refuses others. */
function requireOutside(data: string, directory: string): void {
  const [first = ''] = relative(realPath(data), realPath(directory)).split(sep);
  if (first !== '' && (first === '..' || !isDataFile(first))) return;
  throw new CatalogError(
    'usage',
    `the archive ${directory} is in the data directory, and would be lost with it; name another directory with --archive`,
  );
}

/** Otherwise the archive would replace the archive.json of another store. */
function requireNoData(directory: string, disk: Context['disk']): void {
  if (!namesIn(directory, disk).includes(DATA_FILES.head)) return;
  throw new CatalogError(
    'usage',
    `the archive ${directory} is the data directory of another store; name another directory with --archive`,
  );
}

/**
 * Refuses to make a store, or a file of one, in an archive. Otherwise the advice about the archive's
 * change sets would be to move them away, because a store has no such files.
 *
 * @param data the data directory.
 * @throws CatalogError `store_missing`.
 */
export function requireNoArchive(data: string, disk: Context['disk']): void {
  const url = archiveIn(data, disk);
  if (url === null) return;
  throw new CatalogError(
    'store_missing',
    `${data} holds no store, but an archive; name another directory with --data, or, to make a store from the archive in it, run: catalog-server restore --from ${shellWord(url)} --data <directory>`,
  );
}

/** @returns the address of the archive in a directory that holds no store; null if it has none. */
export function archiveIn(directory: string, disk: Context['disk']): string | null {
  const names = namesIn(directory, disk);
  const { base, head } = DATA_FILES;
  if (!names.includes(BASES) || names.includes(base) || names.includes(head)) return null;
  return pathToFileURL(directory).href;
}

/** A directory that cannot be read ends no start: the archiver tries again. */
function namesIn(directory: string, disk: Context['disk']): readonly string[] {
  try {
    return disk.list(directory);
  } catch {
    return [];
  }
}

/**
 * @param options with `data`, the data directory.
 * @throws as {@link archivePlace}.
 */
export function openArchive(
  options: ArchiveOptions & { readonly data: string },
  store: Store,
  context: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
  seams: Seams,
): Archive {
  const place = archivePlace(options, context, seams);
  if (place === null) {
    return { figures: () => null, details: () => ({}), start() {}, close: async () => {} };
  }
  const { data, archiveKeep } = options;
  const { key } = place;
  const objects = new ArchiveObjects(place.objects, key);
  const privateFiles = key === null ? null : new PrivateFiles(data);
  const archiver = new Archiver({
    store,
    objects,
    privateFiles,
    record: archiveRecord(context.disk, data),
    keep: archiveKeep ?? null,
    now: seams.clock?.now,
    onError: monitor.onError('the server continues, but its archive fails'),
    warn: (message) => monitor.log.warn(message),
  });
  return {
    figures: () => archiver.figures,
    details: () => ({ archive: detailsOf(archiver.figures) }),
    start: () => archiver.start(),
    async close() {
      await archiver.close(ARCHIVE_GRACE_MS);
      privateFiles?.close();
    },
  };
}

/** Without the reason of a failure, which contains paths or addresses for operators only. */
function detailsOf({
  changeSets,
  seconds,
  failing,
}: ArchiveStatus): NonNullable<ReadinessDetails['archive']> {
  return { behind_change_sets: changeSets, behind_seconds: seconds, failing: failing !== null };
}
