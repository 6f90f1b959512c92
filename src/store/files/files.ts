/**
 * The files of a store: what all of them have in common.
 *
 *     catalog.json              base document, as of some change set
 *     changes/000000000124.json change sets, numbered without a gap
 *     head.json                 the last change set that was answered
 *
 * Each ends with a checksum, which src/json/checksum.ts describes.
 */
import { hash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { readable } from '../../disk/read-file.ts';
import { CatalogError, messageOf, systemErrorCode } from '../../errors.ts';
import { CHECKSUM_LENGTH, checksumIn } from '../../json/checksum.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { KindName } from '../../model/kind.ts';

/** Twelve digits; more only if the number has more. */
const CHANGE_SET = /^(\d{12}|[1-9]\d{12,15})\.json$/;

/** The path of a change set in its directory. */
export function changeSetName(sequence: number): string {
  return join(DATA_FILES.changes, `${String(sequence).padStart(12, '0')}.json`);
}

export interface Listing {
  /** The numbers of the change sets, ascending. */
  readonly sequences: readonly number[];
  /** Paths of files that do not belong there. */
  readonly unexpected: readonly string[];
}

/**
 * Lists `changes/`, without hidden files: half-written files are hidden.
 *
 * @throws CatalogError `store_unreadable`.
 */
export function listChanges(disk: Disk, directory: string): Listing {
  const sequences: number[] = [];
  const unexpected: string[] = [];
  const path = join(directory, DATA_FILES.changes);
  for (const name of readable(path, () => disk.list(path))) {
    // The first change set has the number 1.
    const sequence = Number(CHANGE_SET.exec(name)?.[1] ?? 0);
    if (sequence > 0) sequences.push(sequence);
    else if (!name.startsWith('.')) unexpected.push(join(path, name));
  }
  return { sequences: sequences.sort((a, b) => a - b), unexpected };
}

/** As {@link checksumIn}. @throws CatalogError `store_damaged` if the bytes are not a checksum. */
export function statedDigest(path: string, ending: Buffer): string {
  const stated = checksumIn(ending);
  if (stated === undefined) throw noStoreFile(path);
  return stated;
}

/** @returns the error for a file whose beginning or end is not that of a file of a store. */
export function noStoreFile(path: string): DamagedFile {
  return damaged(path, 'it is cut off, or not a file of the store');
}

/** @throws CatalogError `store_damaged` if the content has another digest than the file states. */
export function requireDigest(path: string, digest: string, stated: string): void {
  if (digest !== stated) throw damaged(path, 'its checksum does not match its content');
}

/**
 * Verifies the digest of a file of the store and parses it.
 *
 * @throws CatalogError `store_damaged` if it is not what was written.
 */
export function verifyChecksum(path: string, bytes: Buffer): { value: unknown; digest: string } {
  const end = Math.max(bytes.length - CHECKSUM_LENGTH, 0);
  const stated = statedDigest(path, bytes.subarray(end));
  const digest = hash('sha256', bytes.subarray(0, end), 'hex');
  requireDigest(path, digest, stated);
  try {
    return { value: JSON.parse(`${bytes.toString('utf8', 0, end)}}`), digest };
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
}

/**
 * Judges a value up to its first fault, which is the one that is reported.
 *
 * @throws CatalogError `store_damaged` if it does not have the shape.
 */
export function parseShape<const S extends v.GenericSchema>(
  path: string,
  shape: S,
  value: unknown,
): v.InferOutput<S> {
  const parsed = v.safeParse(shape, value, FIRST_FAULT);
  if (!parsed.success) throw damaged(path, v.summarize(parsed.issues).split('\n')[0] ?? '');
  return parsed.output;
}

const FROM_BACKUP = 'restore the directory from a backup, or see "Damage" in docs/storage.md';

/** CatalogError `store_damaged`. */
export class DamagedFile extends CatalogError {
  readonly #path: string;
  readonly #what: string;

  /** @param advice what to do about it. */
  constructor(path: string, what: string, advice: string) {
    super('store_damaged', `${path} is damaged: ${what}; ${advice}`);
    this.#path = path;
    this.#what = what;
  }

  /** @returns the same with another advice. */
  advising(advice: string): DamagedFile {
    return new DamagedFile(this.#path, this.#what, advice);
  }
}

/** @returns the error for a damaged file of a store. */
export function damaged(path: string, what: string): DamagedFile {
  return new DamagedFile(path, what, FROM_BACKUP);
}

/**
 * @param id the one after the last.
 * @returns the error for a base whose `last_ids`, written by hand, leave no id for another row.
 */
export function noNextId(kind: KindName, id: number): DamagedFile {
  const why = Number.isSafeInteger(id) ? `but ${id} has a row` : 'and there is no higher one';
  return damaged(DATA_FILES.base, `the last id of ${kind} is ${id - 1}, ${why}`);
}

/** @returns the system's reason, such as "ENOSPC: no space left on device", without the path. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/, \w+(?: '.*)?$/s, '');
}

const NO_RIGHT = 'give the user that runs catalog-server the right to write to it';

/** What to do about a directory that cannot be written, by the code of the error. */
const WRITING_ADVICE: Readonly<Record<string, string>> = {
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EROFS: 'mount its file system for writing',
  ENOSPC: 'free some space',
  EDQUOT: 'free some space',
  EFBIG: 'raise the limit of file sizes (ulimit -f)',
  EMFILE: 'raise the limit of open files (ulimit -n)',
  ENFILE: 'close some programs',
  EBADMSG: 'check the file system (fsck)',
  EUCLEAN: 'check the file system (fsck)',
  ESTALE: 'mount its file system again',
  ENOKEY: 'unlock its directory',
  ENOTEMPTY: 'move the files of other programs out of that directory',
};

/** @returns the cause as an error that names the directory; a CatalogError already does. */
export function unwritable(directory: string, cause: unknown): unknown {
  if (cause instanceof CatalogError) return cause;
  const advice = WRITING_ADVICE[systemErrorCode(cause) ?? ''] ?? 'check the disk';
  return new CatalogError(
    'write_refused',
    `${directory} cannot be written (${messageOf(cause)}); ${advice} and try again`,
    { cause },
  );
}

/** @returns the error for a file in `changes/` that the store did not write. */
export function unexpectedFile(path: string): CatalogError {
  return new CatalogError(
    'store_damaged',
    `${path} is not a file of the store: ${basename(path)} is not the name of a change set; move it out of ${dirname(path)}`,
  );
}

/** The block size in which the space that files occupy is counted, in bytes. */
const BLOCK_BYTES = 4096;

/** @returns the bytes that a file of this length occupies on a disk. */
export function occupied(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}
