/**
 * A backup is one base document: the whole catalog as of one change set, in plain JSON with a
 * checksum, and with the caller's members before the tables. It contains no pages and no history.
 */
import { dirname } from 'node:path';
import { DATA_FILES } from '../data-files.ts';
import type { Disk } from '../disk/disk.ts';
import { makeDirectory, withOpen } from '../disk/durable-file.ts';
import { CatalogError } from '../errors.ts';
import { withOwnership } from './directory.ts';
import { type BackupMembers, baseSlices, reusedBaseSlices } from './files/base.ts';
import { type Base, BaseReader, decodeBase } from './files/base/base-reader.ts';
import { stateFault } from './check.ts';
import { createStore } from './files/create.ts';
import type { State } from './state.ts';
import { damaged, listChanges, noStoreFile, unwritable } from './files/files.ts';
import { writeBase } from './files/base/write-base.ts';

/** Files that may be in a directory into which a backup is restored. */
const NO_STORE = new Set([
  DATA_FILES.lock,
  DATA_FILES.pagesLock,
  DATA_FILES.keys,
  DATA_FILES.webhookKey,
  DATA_FILES.access,
  DATA_FILES.pageSettings,
  DATA_FILES.pagesManifest,
  DATA_FILES.accessLock,
  'lost+found',
  DATA_FILES.changes,
  DATA_FILES.head,
  DATA_FILES.outline,
  DATA_FILES.backup,
  // Left by a host that has found no other host to send it a base.
  DATA_FILES.cluster,
]);

/** The control characters that may be in JSON. */
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from('\t\n\r'));

const SPACE = 0x20;

/** Bytes in which nearly every file that is no text has another control character. */
const BEGINNING_BYTES = 1024;

export interface Backup {
  readonly state: State;
  /** Its members in addition to the state. */
  readonly members?: BackupMembers;
}

/**
 * Writes a backup to a file. It appears whole or not at all, after it was read back and verified.
 * An existing file is replaced, and a missing directory is created.
 *
 * @throws CatalogError `store_damaged` if the state itself does not pass; what the disk throws.
 */
export async function writeBackup(
  disk: Disk,
  { state, members }: Backup,
  path: string,
): Promise<void> {
  await makeDirectory(disk, dirname(path));
  await withOpen(disk, dirname(path), (fd) =>
    writeBase(disk, path, fd, reusedBaseSlices(state.snapshot(), members), (temporary) => {
      verifyBackup(path, disk.pieces(temporary) ?? []);
    }),
  );
}

/**
 * @returns the bytes of a backup in slices, which can be iterated more than once.
 * @throws CatalogError `store_damaged` if the state itself does not pass.
 */
export function encodeBackup({ state, members }: Backup): Iterable<Uint8Array> {
  const snapshot = state.snapshot();
  const slices = { [Symbol.iterator]: () => baseSlices(snapshot, members) };
  verifyBackup('the backup', slices);
  return slices;
}

/**
 * @param name of the file, for messages.
 * @param content the file's bytes, or pieces of them in order.
 * @returns what is in the backup, after every row was judged.
 * @throws CatalogError `store_damaged`, `schema_version`.
 */
export function verifyBackup(
  name: string,
  content: Uint8Array | Iterable<Uint8Array>,
): Required<Backup> {
  const pieces = content instanceof Uint8Array ? [content] : content;
  return requireWhole(name, decodeBase(name, fromText(name, pieces)));
}

function* fromText(name: string, pieces: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  let isFirst = true;
  for (const piece of pieces) {
    if (isFirst) requireText(name, piece);
    isFirst = false;
    yield piece;
  }
}

/** As {@link verifyBackup}, from a stream. @throws also what the stream throws. */
export async function receiveBackup(
  name: string,
  stream: AsyncIterable<Uint8Array>,
): Promise<Required<Backup>> {
  const reader = new BaseReader(name);
  for await (const piece of stream) {
    if (reader.isEmpty) requireText(name, piece);
    reader.write(piece);
  }
  return requireWhole(name, reader.end());
}

/**
 * Refuses what is not text, such as a compressed backup, a disk, or a device without an end. All of
 * it would be kept in memory until its end.
 *
 * @param piece the first one.
 * @throws CatalogError `store_damaged`.
 */
function requireText(name: string, piece: Uint8Array): void {
  const beginning = piece.subarray(0, BEGINNING_BYTES);
  const isBinary = beginning.some((byte) => byte < SPACE && !WHITE_SPACE.has(byte));
  if (isBinary) throw noStoreFile(name);
}

function requireWhole(name: string, { state, members }: Base): Required<Backup> {
  const fault = stateFault(state);
  if (fault !== null) throw damaged(name, fault);
  return { state, members };
}

/**
 * Creates a store from a backup in a directory that holds none. A crash leaves a whole store, or
 * none; in the latter case the restore can be run again.
 *
 * @param prepare is called once the directory is owned and known to hold no store. What it writes
 *   is there before the store is. If it fails, no store is created.
 * @throws CatalogError `store_locked`, `store_not_empty`, `durability_unknown`, `write_refused`.
 */
export async function restoreBackup(
  disk: Disk,
  state: State,
  directory: string,
  prepare: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  // Before a lock file is created in a directory that is not ours, and again under the lock.
  requireNoStore(disk, directory);
  await withOwnership(directory, 'restore', async () => {
    try {
      requireNoStore(disk, directory);
      await prepare();
      await createStore(disk, directory, state.snapshot());
    } catch (error) {
      throw unwritable(directory, error);
    }
  });
}

/**
 * Checks that a backup can be restored into a directory.
 *
 * @throws CatalogError `store_not_empty`.
 */
export function requireNoStore(disk: Disk, directory: string): void {
  const { sequences, unexpected } = listChanges(disk, directory);
  const found = disk.list(directory).find((name) => !NO_STORE.has(name) && !name.startsWith('.'));
  if (sequences.length === 0 && unexpected.length === 0 && found === undefined) return;
  throw new CatalogError(
    'store_not_empty',
    `${directory} is not empty, it holds ${found ?? DATA_FILES.changes}; name an empty directory with --data`,
  );
}
