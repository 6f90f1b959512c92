/**
 * The log in the files of one directory: a base, numbered change sets, and a head.
 *
 * Invariants:
 * 1. The state is the base with the change sets after its sequence, in order.
 * 2. A change set appears whole or not at all, and never changes.
 * 3. A change set is removed only if a durable base contains it.
 * 4. The change set that the head names is durable.
 */
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import type { MappedFile } from '../../disk/system/mapped-file.ts';
import { removeTemporaries } from '../../disk/durable-file.ts';
import { removeStaging, Staging } from '../../disk/staging.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { EncodedChangeSet } from '../change-set.ts';
import type { StoreLog } from '../log.ts';
import type { StoreObserver, StoreSize } from '../observer.ts';
import type { Snapshot, State } from '../state.ts';
import { createStore, makeDirectories, writeHead } from './create.ts';
import { changeSetName, damaged, occupied } from './files.ts';
import { Descriptors } from './descriptors.ts';
import { encodeHead } from './head.ts';
import {
  type ChangeFile,
  DEFAULT_HISTORY_BYTES,
  KeptChangeSets,
  occupiedBy,
  readChangeSets,
  requireKept,
} from './history.ts';
import { removeMigrationBackups } from './migration-backup.ts';
import { recover } from './recovery.ts';
import { type Outline, writeOutline } from './base/outline.ts';
import { reusedBaseSlices } from './base.ts';
import { writeBase } from './base/write-base.ts';

/** Bytes of change sets after which a checkpoint is due, if the base is smaller than that. */
export const DEFAULT_CHECKPOINT_BYTES = 4 * 1024 * 1024;

interface Options {
  readonly disk: Disk;
  readonly directory: string;
  /** Called with failures that are not those of a commit. The store continues. */
  readonly onError: (error: unknown) => void;
  /** {@link DEFAULT_CHECKPOINT_BYTES} if left out. */
  readonly smallestCheckpoint?: number | undefined;
  /** {@link DEFAULT_HISTORY_BYTES} if left out. */
  readonly history?: number | undefined;
  /** Whether a large base is only mapped by `open`; then {@link FileLog.copyBase} has to be called. */
  readonly mapsBase?: boolean | undefined;
  readonly observer?: StoreObserver | undefined;
  /** Called when a change set is durable; `append` awaits the promise, which must not reject. */
  readonly onDurable?: ((sequence: number) => Promise<void>) | undefined;
}

export class FileLog implements StoreLog {
  readonly #options: Options;
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #basePath: string;
  readonly #smallestCheckpoint: number;
  readonly #staging: Staging;
  #descriptors: Descriptors | null = null;
  #history: KeptChangeSets;
  /** The base that `open` has mapped; null if it was read, and once it is copied. */
  #mapped: MappedFile | null = null;
  /** Change sets after the base, the oldest first. */
  #files: ChangeFile[] = [];
  /** The last change set that the history gives to readers. */
  #last = 0;
  #baseBytes = 0;
  #baseSequence = 0;
  /** Bytes that {@link #files} occupy. */
  #changeBytes = 0;
  /** After a failed checkpoint: the size of the change sets above which it is tried again. */
  #retryAbove = 0;
  #headFails = false;
  /** The content of the head; null if it is not known. */
  #headBytes: Uint8Array | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#disk = options.disk;
    this.#directory = options.directory;
    this.#basePath = join(options.directory, DATA_FILES.base);
    this.#staging = new Staging(options.disk, options.directory);
    this.#smallestCheckpoint = options.smallestCheckpoint ?? DEFAULT_CHECKPOINT_BYTES;
    this.#history = this.#historyOf([]);
  }

  get size(): StoreSize {
    return { base: this.#baseBytes, changes: this.#changeBytes };
  }

  /** Recovers the state, and removes what a crash has left. See {@link StoreLog.open}. */
  async open(): Promise<State | null> {
    if (this.#options.mapsBase === true) this.#mapped = this.#disk.map(this.#basePath);
    const base = this.#mapped?.pieces;
    const recovered = recover(this.#disk, this.#directory, 'current', base);
    if (recovered === null) return null;
    const { state, baseBytes, files, kept, leftover } = recovered;
    // A crash may have happened between a rename and the sync of its directory. What is served from
    // now on, and what the removals below rely on, has to be durable.
    await makeDirectories(this.#disk, this.#directory);
    await removeTemporaries(this.#disk, this.#directory);
    await removeStaging(this.#disk, this.#directory);
    await removeTemporaries(this.#disk, join(this.#directory, DATA_FILES.changes));
    const none = this.#options.history === 0;
    const obsolete = none ? [...leftover, ...kept] : leftover;
    for (const sequence of obsolete) await this.#disk.unlink(this.#pathOf(sequence));
    await this.#bringHeadForward(state);
    this.#descriptors = new Descriptors(this.#disk, this.#directory);
    this.#baseBytes = baseBytes;
    this.#baseSequence = state.sequence - files.length;
    this.#files = [...files];
    this.#changeBytes = occupiedBy(files);
    this.#last = state.sequence;
    this.#history = this.#historyOf(none ? [] : kept);
    // In the background: measuring a long history takes longer than the rest of a start.
    void this.#trimHistory();
    return state;
  }

  copyBase(): Generator<void, void> | null {
    return this.#mapped === null ? null : this.#copy(this.#mapped);
  }

  *#copy(mapped: MappedFile): Generator<void, void> {
    yield* mapped.copy();
    // From now on only the rows that are still text keep the memory.
    if (mapped.isCopied) this.#mapped = null;
  }

  async append({ changeSet, bytes }: EncodedChangeSet): Promise<void> {
    const { sequence } = changeSet;
    const descriptors = this.#open();
    const { changes } = descriptors;
    // Before the write, so that nothing is written to another directory.
    descriptors.requireDirectory();
    const record = { ...descriptors.head, bytes: encodeHead(changeSet), before: this.#headBytes };
    const options = { exclusive: true, record };
    const writing = this.#staging.write(this.#pathOf(sequence), bytes, changes, options);
    this.#options.observer?.appending(writing);
    const failure = await writing;
    this.#headBytes = failure === null ? record.bytes : null;
    this.#reportHead(failure);
    // After the write, so that no change set in another directory is answered.
    descriptors.requireDirectoryStill();
    const file = { sequence, bytes: bytes.length };
    this.#files.push(file);
    this.#changeBytes += occupied(file.bytes);
    await this.#options.onDurable?.(sequence);
    // The state lacks it until now: a reader that got it from the history would be ahead of the state.
    this.#last = sequence;
  }

  since(sequence: number): AsyncIterable<EncodedChangeSet> {
    requireKept(sequence, this.oldest, this.#last);
    return this.#read(sequence, this.#last);
  }

  get baseSequence(): number {
    return this.#baseSequence;
  }

  get oldest(): number {
    return (this.#history.oldest ?? this.#files[0]?.sequence ?? this.#last + 1) - 1;
  }

  get checkpointDue(): boolean {
    // Until the base is copied, a program that writes to it would change what a checkpoint writes.
    if (this.#mapped?.isCopied === false) return false;
    const due = Math.max(this.#baseBytes, this.#smallestCheckpoint, this.#retryAbove);
    return this.#changeBytes > due;
  }

  async checkpoint(state: State): Promise<void> {
    if (this.#descriptors === null) {
      this.#baseBytes = await createStore(this.#disk, this.#directory, state.snapshot());
      this.#baseSequence = state.sequence;
      this.#headBytes = encodeHead(state);
      this.#descriptors = new Descriptors(this.#disk, this.#directory);
      return;
    }
    await this.#replaceBase(state.snapshot()).catch((error: unknown) => {
      throw described('a checkpoint failed and is tried again', error);
    });
    await this.#trimHistory();
    await this.#removeMigrationBackups();
  }

  /** Waits for the removal of old change sets. The caller has to await a checkpoint under way. */
  async close(): Promise<void> {
    this.#mapped?.close();
    await this.#history.settled();
    const descriptors = this.#descriptors;
    this.#descriptors = null;
    await this.#staging.close().catch(this.#options.onError);
    await descriptors?.close(this.#options.onError);
  }

  /**
   * Replaces the base in this order: write the new one under a temporary name, sync it, rename it,
   * sync the directory; only then do its change sets become history, and may be removed. A crash
   * between any two steps leaves the old base with every change set, or the new base with more
   * history.
   */
  async #replaceBase(snapshot: Snapshot): Promise<void> {
    const { directory } = this.#open();
    const begun = performance.now();
    this.#retryAbove = this.#changeBytes + this.#smallestCheckpoint;
    let failed = true;
    try {
      const slices = reusedBaseSlices(snapshot);
      const outline = (_: string, made: Outline) => writeOutline(this.#disk, this.#directory, made);
      this.#baseBytes = await writeBase(this.#disk, this.#basePath, directory, slices, outline);
      failed = false;
    } finally {
      this.#options.observer?.checkpointed({ milliseconds: performance.now() - begun, failed });
    }
    const after = this.#files.findIndex(({ sequence }) => sequence > snapshot.sequence);
    const covered = after === -1 ? this.#files : this.#files.slice(0, after);
    this.#files = this.#files.slice(covered.length);
    this.#changeBytes = occupiedBy(this.#files);
    this.#retryAbove = 0;
    this.#baseSequence = snapshot.sequence;
    this.#history.add(covered);
  }

  #read(after: number, last: number): AsyncIterable<EncodedChangeSet> {
    const missing = (path: string, sequence: number) => {
      requireKept(sequence - 1, this.oldest, this.#last);
      return damaged(path, 'it is missing, and later change sets are there');
    };
    return readChangeSets(this.#disk, this.#directory, { after, last, missing });
  }

  /**
   * Failures of the disk are only reported: an old head does no harm, and a store on a full disk
   * can still be read. Usually the head is up to date; then the start waits neither for a write nor
   * for the writer thread to start.
   */
  async #bringHeadForward(state: State): Promise<void> {
    const stored = readFile(this.#disk, join(this.#directory, DATA_FILES.head));
    const bytes = encodeHead(state);
    try {
      if (!stored?.equals(bytes)) await writeHead(this.#disk, this.#directory, state);
      this.#headBytes = bytes;
    } catch (error) {
      if (error instanceof CatalogError) throw error;
      this.#reportHead(error);
    }
  }

  /** The commit succeeds all the same. Only the first failure in a row is reported. */
  #reportHead(failure: unknown): void {
    const fails = failure !== null;
    if (fails && !this.#headFails) {
      this.#options.onError(described(`${DATA_FILES.head} could not be written`, failure));
    }
    this.#headFails = fails;
  }

  /** Failures are only reported: the next checkpoint tries again. */
  #trimHistory(): Promise<void> {
    return this.#history.trim().catch((error: unknown) => {
      this.#options.onError(described('old change sets could not be removed', error));
    });
  }

  /** As {@link #trimHistory}. */
  #removeMigrationBackups(): Promise<void> {
    return removeMigrationBackups(this.#disk, this.#directory).catch((error: unknown) => {
      this.#options.onError(described('the backup of a migration could not be removed', error));
    });
  }

  #historyOf(kept: readonly number[]): KeptChangeSets {
    const { disk, directory, history = DEFAULT_HISTORY_BYTES } = this.#options;
    return new KeptChangeSets(disk, directory, history, kept);
  }

  #pathOf(sequence: number): string {
    return join(this.#directory, changeSetName(sequence));
  }

  #open(): Descriptors {
    if (this.#descriptors === null) throw new Error('the log is not open');
    return this.#descriptors;
  }
}

/** @returns the cause with a description in front; a CatalogError has one already. */
function described(what: string, cause: unknown): unknown {
  if (cause instanceof CatalogError) return cause;
  return new Error(`${what}: ${messageOf(cause)}`, { cause });
}
