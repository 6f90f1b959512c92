/**
 * The files of a store behind lowdb's `Adapter`: read loads base and change sets, write appends
 * the staged change set, or writes a new base where none is staged.
 *
 * Invariants:
 * 1. State is the base with the change sets behind its sequence, in order.
 * 2. A change set appears whole or not at all, and is never changed.
 * 3. A change set is removed only when a durable base contains it.
 * 4. The change set that the head names is durable.
 */
import { join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Disk } from '../../disk/disk.ts';
import { removeTemporaries, writeDurably } from '../../disk/durable-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { encodeChangeSet } from './change-set.ts';
import { checkpoint } from './checkpoint.ts';
import { createStore, makeDirectories, writeHead } from './create.ts';
import { type StoreState, snapshotOf } from '../state.ts';
import { CHANGES, changeSetName, HEAD } from './files.ts';
import { encodeHead } from './head.ts';
import { removeMigrationBackups } from './migration-backup.ts';
import { load, occupied } from './load.ts';
import type { StoreObserver, StoreSize } from '../observer.ts';

/** Change sets may outgrow a small base by this much before a checkpoint, in bytes. */
const MIN_CHECKPOINT_BYTES = 4 * 1024 * 1024;

interface Options {
  readonly disk: Disk;
  readonly directory: string;
  /** Told of what fails beside the commits; the store goes on without it. */
  readonly onError: (error: unknown) => void;
  /** {@link MIN_CHECKPOINT_BYTES} where it is not given. */
  readonly smallestCheckpoint?: number | undefined;
  readonly observer?: StoreObserver | undefined;
}

/** What stays open while the store is. */
type Descriptors = readonly [directory: number, changes: number, head: number];

export class ChangeSetAdapter implements Adapter<StoreState> {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #failed: (error: unknown) => void;
  readonly #smallestCheckpoint: number;
  readonly #observer: StoreObserver | undefined;
  #descriptors: Descriptors | null = null;
  #checkpoint: Promise<void> | null = null;
  #baseBytes = 0;
  #changeBytes = 0;
  /** Change sets on the disk, the oldest first. */
  #files: string[] = [];
  #retryAbove = 0;
  #headFails = false;

  constructor({ disk, directory, onError: failed, smallestCheckpoint, observer }: Options) {
    this.#disk = disk;
    this.#directory = directory;
    this.#failed = failed;
    this.#smallestCheckpoint = smallestCheckpoint ?? MIN_CHECKPOINT_BYTES;
    this.#observer = observer;
  }

  get size(): StoreSize {
    return { base: this.#baseBytes, changes: this.#changeBytes };
  }

  /**
   * Loads the store as its owner, and clears away what a crash left.
   *
   * @returns null where the directory holds no store.
   * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`.
   */
  async read(): Promise<StoreState | null> {
    const loaded = load(this.#disk, this.#directory);
    if (loaded === null) return null;
    // A crash may have come between a rename and the sync of its directory: what is served from
    // here on, and what the removals below rely on, has to be durable.
    await makeDirectories(this.#disk, this.#directory);
    await removeTemporaries(this.#disk, this.#directory);
    await removeTemporaries(this.#disk, join(this.#directory, CHANGES));
    for (const name of loaded.covered) await this.#disk.unlink(join(this.#directory, name));
    await this.#bringHeadForward(loaded.document);
    this.#open();
    this.#baseBytes = loaded.baseBytes;
    this.#changeBytes = loaded.changeBytes;
    this.#files = loaded.files;
    return loaded.document;
  }

  /** @throws what the disk throws; CatalogError `durability_unknown`. */
  async write(document: StoreState): Promise<void> {
    if (document.staged === null) {
      this.#baseBytes = await createStore(this.#disk, this.#directory, document);
      this.#open();
      return;
    }
    this.#checkpointIfDue(document);
    const { sequence } = document.staged;
    const name = changeSetName(sequence);
    const { bytes, digest } = encodeChangeSet(document.staged);
    const [, changes, head] = this.#descriptors as Descriptors;
    const path = join(this.#directory, name);
    const record = { fd: head, bytes: encodeHead({ sequence, digest }) };
    this.#tellOfHead(await writeDurably(this.#disk, path, bytes, changes, record));
    this.#files.push(name);
    this.#changeBytes += occupied(bytes.length);
    document.previous = digest;
  }

  /** Waits for a checkpoint under way. */
  async close(): Promise<void> {
    await this.#checkpoint;
    const descriptors = this.#descriptors;
    if (descriptors === null) return;
    this.#descriptors = null;
    try {
      await this.#disk.fdatasync(descriptors[2]);
    } catch (error) {
      this.#tell(`${HEAD} could not be synced`, error);
    }
    for (const fd of descriptors) this.#disk.close(fd);
  }

  /** An old head is no harm: a full disk can still be read. */
  async #bringHeadForward(document: StoreState): Promise<void> {
    try {
      await writeHead(this.#disk, this.#directory, document);
    } catch (error) {
      if (error instanceof CatalogError) throw error;
      this.#tellOfHead(error);
    }
  }

  /** The commit stands; the operator hears of the first failure. */
  #tellOfHead(failure: unknown): void {
    const fails = failure !== null;
    if (fails && !this.#headFails) this.#tell(`${HEAD} could not be written`, failure);
    this.#headFails = fails;
  }

  #tell(what: string, cause: unknown): void {
    if (cause instanceof CatalogError) this.#failed(cause);
    else this.#failed(new Error(`${what}: ${messageOf(cause)}`, { cause }));
  }

  /** The document is as of the change set before the one that is being written. */
  #checkpointIfDue(document: StoreState): void {
    const due = Math.max(this.#baseBytes, this.#smallestCheckpoint, this.#retryAbove);
    if (this.#checkpoint !== null || this.#changeBytes <= due) return;
    const covered = this.#files;
    const coveredBytes = this.#changeBytes;
    const [directoryFd] = this.#descriptors as Descriptors;
    const snapshot = snapshotOf(document);
    const begun = performance.now();
    const ended = (failed: boolean) =>
      this.#observer?.checkpointed({ milliseconds: performance.now() - begun, failed });
    this.#files = [];
    this.#checkpoint = checkpoint(this.#disk, this.#directory, directoryFd, snapshot, covered)
      .then(
        (bytes) => {
          this.#baseBytes = bytes;
          this.#changeBytes -= coveredBytes;
          this.#retryAbove = 0;
          ended(false);
          return removeMigrationBackups(this.#disk, this.#directory);
        },
        (error: unknown) => {
          this.#files = [...covered, ...this.#files];
          this.#retryAbove = this.#changeBytes + this.#smallestCheckpoint;
          ended(true);
          throw error;
        },
      )
      .catch((error: unknown) => this.#tell('a checkpoint failed and is tried again', error))
      .finally(() => {
        this.#checkpoint = null;
      });
  }

  /** At start, so that a server that has used up its descriptors can still write. */
  #open(): void {
    const opened: number[] = [];
    try {
      opened.push(this.#disk.open(this.#directory));
      opened.push(this.#disk.open(join(this.#directory, CHANGES)));
      opened.push(this.#disk.openRecord(join(this.#directory, HEAD)));
    } catch (error) {
      for (const fd of opened) this.#disk.close(fd);
      throw error;
    }
    this.#descriptors = opened as unknown as Descriptors;
  }
}
