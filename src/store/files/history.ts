/**
 * History: change sets that the base already contains, kept for a while so that `since` can answer.
 * The state does not need them.
 *
 * Invariants:
 * 1. History is a run of change sets without a gap that ends at the base's sequence. Files before a
 *    gap, and those of an earlier version, are not history: a crash or power loss interrupted their
 *    removal, and the next start removes them.
 * 2. Change sets are removed from it oldest first, and only if together they take more than the
 *    limit.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Disk } from '../../disk/disk.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError } from '../../errors.ts';
import { inTurns } from '../../slices.ts';
import { type ChangeSet, changeSetLabel, type EncodedChangeSet } from '../change-set.ts';
import { decodeNextBeside } from './change-set-parts.ts';
import { decodeNext } from './change-set.ts';
import { changeSetName, DamagedFile, damaged, occupied } from './files.ts';

/** Bytes of change sets that are kept after a checkpoint. */
export const DEFAULT_HISTORY_BYTES = 256 * 1024 * 1024;

/** What to do about a damaged change set that the base contains. */
const ONLY_HISTORY =
  'catalog.json contains this change: stop the server, and move this file and all change sets before it out of changes/';

/** The most findings of one check: one cause often leads to many. */
export const MAX_FINDINGS = 1000;

/** Files measured or removed between two turns of the event loop. */
const FILES_PER_TURN = 256;

export interface ChangeFile {
  readonly sequence: number;
  /** The file's length; null if it was not measured yet. */
  readonly bytes: number | null;
}

/** @returns the bytes that measured files occupy. */
export function occupiedBy(files: readonly ChangeFile[]): number {
  return files.reduce((sum, { bytes }) => sum + occupied(bytes ?? 0), 0);
}

/** The change sets that a base contains, by their sequences, ascending. */
export interface History {
  readonly kept: readonly number[];
  /** Files before a gap, and those of an earlier version. */
  readonly leftover: readonly number[];
}

/**
 * @param sequences of all change sets, ascending.
 * @param base sequence of the base.
 * @param migrated the last change set of an earlier version; 0 if there is none.
 */
export function historyOf(sequences: readonly number[], base: number, migrated = 0): History {
  const covered = sequences.filter((sequence) => sequence <= base);
  let first = covered.length;
  const isKept = (sequence = 0) =>
    sequence > migrated && sequence === base - (covered.length - first);
  while (isKept(covered[first - 1])) first -= 1;
  return { kept: covered.slice(first), leftover: covered.slice(0, first) };
}

/**
 * Verifies the files of the history: checksums, numbers, and the chain of digests up to the base.
 *
 * @param digest that the base names.
 * @returns the first {@link MAX_FINDINGS} problems.
 */
export function verifyHistory(
  disk: Disk,
  directory: string,
  kept: readonly number[],
  digest: string,
): CatalogError[] {
  return [...problemsOf(disk, directory, kept, digest).take(MAX_FINDINGS)];
}

function* problemsOf(
  disk: Disk,
  directory: string,
  kept: readonly number[],
  digest: string,
): Generator<CatalogError, void> {
  let previous: string | null = null;
  for (const sequence of kept) {
    const path = join(directory, changeSetName(sequence));
    try {
      const bytes = readFile(disk, path);
      // The owner may have removed it since it was listed.
      previous = bytes === null ? null : decodeNext(path, bytes, sequence, previous).digest;
      if (previous === null || previous === digest || sequence !== kept.at(-1)) continue;
      throw damaged(path, 'it does not fit catalog.json; it is from another history');
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      yield error instanceof DamagedFile ? error.advising(ONLY_HISTORY) : error;
      previous = null;
    }
  }
}

/** The history of an open store. */
export class KeptChangeSets {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #limit: number;
  #files: ChangeFile[];
  #trimming: Promise<void> = Promise.resolve();

  /**
   * @param limit of bytes, counted in blocks as they occupy the disk.
   * @param kept sequences, ascending and without a gap.
   */
  constructor(disk: Disk, directory: string, limit: number, kept: readonly number[]) {
    this.#disk = disk;
    this.#directory = directory;
    this.#limit = limit;
    this.#files = kept.map((sequence) => ({ sequence, bytes: null }));
  }

  /** The sequence of the oldest one; undefined if none is kept. */
  get oldest(): number | undefined {
    return this.#files[0]?.sequence;
  }

  /** Adds the change sets that follow, once a durable base contains them. */
  add(files: readonly ChangeFile[]): void {
    // Not as arguments of push: after failed checkpoints there may be more than a call takes.
    this.#files = [...this.#files, ...files];
  }

  /**
   * Removes the oldest ones until the rest is within the limit.
   *
   * @throws what the disk throws. The rest is removed by the next call.
   */
  trim(): Promise<void> {
    const trimmed = this.#trimming.then(() => this.#trim());
    this.#trimming = trimmed.catch(() => {});
    return trimmed;
  }

  /** Waits for {@link trim}. */
  settled(): Promise<void> {
    return this.#trimming;
  }

  async #trim(): Promise<void> {
    let excess = (await this.#measure()) - this.#limit;
    while (excess > 0) {
      // First, so that no reader is sent to a file that is being removed.
      const file = this.#files.shift();
      if (file === undefined) return;
      try {
        await this.#disk.unlink(join(this.#directory, changeSetName(file.sequence)));
      } catch (error) {
        this.#files.unshift(file);
        throw error;
      }
      excess -= occupied(file.bytes ?? 0);
    }
  }

  /** @returns the bytes that all of them occupy. */
  async #measure(): Promise<number> {
    let sum = 0;
    for (let index = 0; index < this.#files.length; index += 1) {
      const { sequence, bytes } = this.#files[index] as ChangeFile;
      const size = bytes ?? this.#disk.size(join(this.#directory, changeSetName(sequence))) ?? 0;
      this.#files[index] = { sequence, bytes: size };
      sum += occupied(size);
      if (index % FILES_PER_TURN === 0) await nextTurn();
    }
    return sum;
  }
}

interface Range {
  /** The sequence before the first change set. */
  readonly after: number;
  /** The sequence of the last change set. */
  readonly last: number;
  /** Returns the error for a missing file; called with its path and its sequence. */
  readonly missing: (path: string, sequence: number) => Error;
}

/**
 * @returns the change sets of a range, each read on demand.
 * @throws CatalogError `store_damaged`, `store_unreadable`; what `missing` returns.
 */
export function readChangeSets(
  disk: Disk,
  directory: string,
  range: Range,
): AsyncGenerator<EncodedChangeSet> {
  return inTurns(read(disk, directory, range));
}

async function* read(
  disk: Disk,
  directory: string,
  { after, last, missing }: Range,
): AsyncGenerator<EncodedChangeSet> {
  let previous: string | null = null;
  for (let sequence = after + 1; sequence <= last; sequence += 1) {
    const path = join(directory, changeSetName(sequence));
    const bytes = readFile(disk, path);
    if (bytes === null) throw missing(path, sequence);
    const changeSet: ChangeSet = await decodeNextBeside(path, bytes, sequence, previous).catch(
      referToCheck,
    );
    previous = changeSet.digest;
    yield { changeSet, bytes };
  }
}

/** A reader does not know whether the base contains the change set; check does. */
function referToCheck(error: unknown): never {
  if (!(error instanceof DamagedFile)) throw error;
  throw error.advising('run catalog-server check, which says what to do');
}

/**
 * @param oldest the lowest sequence after which all change sets are kept.
 * @param last the last change set.
 * @throws CatalogError `history_gone` if the change sets after a sequence cannot be given.
 */
export function requireKept(sequence: number, oldest: number, last: number): void {
  if (sequence >= oldest && sequence <= last) return;
  const what = sequence > last ? 'there is no such change set' : 'they are too old';
  throw new CatalogError(
    'history_gone',
    `the changes after ${changeSetLabel(sequence)} cannot be given: ${what}; ask for those after ${oldest} to ${last}`,
  );
}
