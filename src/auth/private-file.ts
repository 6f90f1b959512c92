/** Files that only their owner may read, such as the signing keys and the accounts. */
import { DATA_FILES } from '../data-files.ts';
import { type Disk, machineDisk } from '../disk/disk.ts';
import { makeDirectory, replaceFile, writeOnce } from '../disk/durable-file.ts';
import { FileLock } from '../disk/lock.ts';
import { requirePrivate } from '../disk/modes.ts';
import { type FileContent, readWithMode } from '../disk/watched-file.ts';
import { readable } from '../disk/read-file.ts';
import { CatalogError, type Code, messageOf, systemErrorCode } from '../errors.ts';
import { ChecksumMismatch, parseChecked, withChecksum } from '../json/checksum.ts';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The names of these files in a data directory. */
export const PRIVATE_NAMES = [DATA_FILES.access, DATA_FILES.keys, DATA_FILES.webhookKey] as const;

export type PrivateName = (typeof PRIVATE_NAMES)[number];

/** A file and the code of its failures. */
export interface PrivateFile {
  readonly path: string;
  readonly code: Extract<Code, 'key_file' | 'access_file'>;
}

/** @returns a file of a data directory, with the error code of its failures. */
export function privateFile(directory: string, name: PrivateName): PrivateFile {
  const code = name === DATA_FILES.access ? 'access_file' : 'key_file';
  return { path: join(directory, name), code };
}

/** Milliseconds for which a running server assumes that such a file has not changed. */
export const CACHE_MS = 1;

/** Milliseconds that a change waits for another one to end. */
const LOCK_TIMEOUT_MS = 10_000;

/** A starting server removes leftover temporary files, perhaps ours: then the write is repeated. */
const MAX_WRITE_ATTEMPTS = 3;

/**
 * @param read reads the file; once, from the disk, if left out.
 * @returns the parsed JSON, undefined if the file is not JSON; null if there is no file.
 * @throws CatalogError with the code of the file, if it cannot be read, others may read it, or its
 *   checksum does not match.
 */
export function readPrivate(
  { path, code }: PrivateFile,
  read: () => FileContent | null = () => readWithMode(path),
): { readonly json: unknown } | null {
  const content = readable(path, read, code);
  if (content === null) return null;
  requirePrivate(path, content.mode, code);
  try {
    return { json: parseChecked(content.bytes) };
  } catch (cause) {
    // The schema of the caller refuses what is not JSON.
    if (!(cause instanceof ChecksumMismatch)) return { json: undefined };
    throw new CatalogError(
      code,
      `${path} is damaged: ${cause.message}; restore it from a backup, or, if you have edited it, remove its member sha256`,
      { cause },
    );
  }
}

/** @returns the bytes of a file. Copies of a file on several hosts have the same bytes. */
export function encodePrivate(content: object): Uint8Array {
  return withChecksum(content, { indent: 1 }).bytes;
}

/**
 * Creates a file, which survives power loss when this returns. If another process creates it at the
 * same moment, both use what that one wrote.
 *
 * @param made the new content, as `read` returns it.
 * @returns `made`, or what `read` finds in the file of the other process.
 * @throws CatalogError `durability_unknown`, or with the code of the file.
 */
export async function createPrivate<T>(
  { path, code }: PrivateFile,
  content: object,
  made: T,
  read: () => T | null,
): Promise<T> {
  try {
    await makeDirectory(machineDisk, dirname(path));
    if (await writeOnce(machineDisk, path, encodePrivate(content))) return made;
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(code, `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
  const other = read();
  if (other !== null) return other;
  throw new CatalogError(code, `${path} was removed while it was being made; try again`);
}

/**
 * Replaces the file, whole or not at all. When this returns, the file survives power loss and every
 * running server uses it.
 *
 * @throws CatalogError `durability_unknown`; with the code of the file, if nothing was changed.
 */
export async function writePrivate(
  disk: Disk,
  { path, code }: PrivateFile,
  content: object,
): Promise<void> {
  const bytes = encodePrivate(content);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await replaceFile(disk, path, bytes);
      // A timer may fire a millisecond early.
      await pause(CACHE_MS + 1);
      return;
    } catch (cause) {
      if (cause instanceof CatalogError) throw cause;
      if (systemErrorCode(cause) === 'ENOENT' && attempt < MAX_WRITE_ATTEMPTS) continue;
      const why = messageOf(cause);
      throw new CatalogError(code, `${path} cannot be written, nothing was changed: ${why}`, {
        cause,
      });
    }
  }
}

/**
 * Runs `change` while nobody else can change the keys or the accounts of the directory, be it here
 * or in another process. Waits without blocking the event loop.
 *
 * @throws CatalogError `busy` if another change keeps the lock, here or in another process.
 * @throws Error of the system if there can be no lock.
 */
export async function exclusively<T>(directory: string, change: () => Promise<T>): Promise<T> {
  const path = join(directory, DATA_FILES.accessLock);
  const lock = new FileLock(path);
  try {
    await acquire(lock);
    return await change();
  } finally {
    lock.close();
  }
}

async function acquire(lock: FileLock): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!lock.tryLock()) {
    if (performance.now() > deadline) {
      throw new CatalogError('busy', 'another change of accounts or keys has not ended; try again');
    }
    await pause(5);
  }
}
