/** The store as the rest of the program sees it: committed state to read, transactions to write. */
import { join } from 'node:path';
import type { Low } from 'lowdb';
import { DATA_FILES } from '../data-files.ts';
import { type Disk, machineDisk } from '../disk/disk.ts';
import type { FileLock } from '../disk/lock.ts';
import { CatalogError } from '../errors.ts';
import type { SharedLog } from './change-log.ts';
import type { ChangeSet, EncodedChangeSet } from './change-set.ts';
import { Committer, type CommitterOptions } from './writer/committer.ts';
import type { CommitListener } from './writer/local-commits.ts';
import type { LongTransaction, Transaction } from './writer/draft.ts';
import { FileLog } from './files/file-log.ts';
import { missing, ownDirectory, requireStore } from './directory.ts';
import { unwritable } from './files/files.ts';
import { requireWritable } from './hosts/host-record.ts';
import { inSlices } from '../slices.ts';
import type { StoreLog } from './log.ts';
import { databaseOver } from './lowdb.ts';
import type { Reports, StoreSize } from './observer.ts';
import type { Snapshot, State } from './state.ts';
import { StoreReader } from './store-reader.ts';

interface Options extends CommitterOptions {
  readonly directory: string;
  /** The command that opens the store, for the message of a process that finds it locked. */
  readonly command: string;
  /** The ownership of the directory, if the caller already holds it; the store releases it. */
  readonly lock?: FileLock;
  /** Whether to create an empty store if there is none; otherwise `store_missing` is thrown. */
  readonly create: boolean;
  /** The digest with which the history of a new store begins; a random one if left out. */
  readonly origin?: string | undefined;
  /** Whether the directory may belong to a host that does not write; see `host.json`. */
  readonly follows?: boolean;
  /** Whether transactions will be submitted; if not, the host need not be allowed to write. */
  readonly commits?: boolean;
  readonly disk?: Disk;
  /** See {@link Store.copyBase}. */
  readonly mapsBase?: boolean;
  /** Bytes that the change sets after a small base may take together; 4 MiB if left out. */
  readonly smallestCheckpoint?: number | undefined;
  /** Bytes of change sets that are kept after the base contains them; 256 MiB if left out. */
  readonly history?: number | undefined;
  /**
   * Called when a change set is durable; its transactions wait for the promise, which must not
   * reject.
   */
  readonly onDurable?: ((sequence: number) => Promise<void>) | undefined;
}

/** An open store. One process owns its directory. */
export class Store extends StoreReader {
  protected readonly state: State;
  readonly #log: StoreLog;
  readonly #committer: Committer;
  /** Null if another process owns the directory. */
  readonly #lock: FileLock | null;
  #writeRefusal: (() => CatalogError) | null = null;
  #closed = false;
  /** Whether {@link Store.open} found no store and created one. */
  readonly created: boolean;

  private constructor(
    low: Low<State>,
    log: StoreLog,
    lock: FileLock | null,
    created: boolean,
    options: CommitterOptions,
  ) {
    super();
    this.state = low.data;
    this.#log = log;
    this.#committer = new Committer(low, log, options);
    this.#lock = lock;
    this.created = created;
  }

  /**
   * @throws CatalogError `store_locked`, `store_missing`, `store_damaged`, `store_unreadable`,
   *   `schema_version`, `write_refused`, `not_primary`, `log_missing`.
   */
  static async open(options: Options): Promise<Store> {
    const { directory, command, create, origin, follows = false, disk = machineDisk } = options;
    const { commits = true } = options;
    // Before the lock, whose file would create the directory.
    if (!create) requireStore(directory, disk);
    const lock = options.lock ?? ownDirectory(directory, command);
    const log = new FileLog({ ...options, disk });
    try {
      if (commits) requireLog(directory, disk, options.shared);
      if (commits && !follows) requireWritable(disk, directory);
      const low = databaseOver(log, origin);
      const empty = low.data;
      await low.read();
      const created = low.data === empty;
      if (created && !create) throw missing(directory);
      if (created) await low.write();
      return new Store(low, log, lock, created, options);
    } catch (error) {
      await log.close();
      lock.close();
      throw unwritable(directory, error);
    }
  }

  /**
   * Opens a store over a log whose directory another process owns, like a secondary instance of
   * RocksDB. It accepts no transactions, only the owner's change sets, through
   * {@link Store.receive}.
   *
   * @throws CatalogError `store_missing`, `store_damaged`, `store_unreadable`, `schema_version`.
   */
  static async openSecondary(directory: string, log: StoreLog, reports: Reports): Promise<Store> {
    const low = databaseOver(log);
    const empty = low.data;
    await low.read();
    if (low.data === empty) throw missing(directory);
    const store = new Store(low, log, null, false, reports);
    store.refuseWrites(() => new CatalogError('not_primary', 'another process takes the writes'));
    return store;
  }

  /** Transactions that wait for the group before them. */
  get waiting(): number {
    return this.#committer.waiting;
  }

  /** See {@link Committer.isLogUnavailable}. */
  get isLogUnavailable(): boolean {
    return this.#committer.isLogUnavailable;
  }

  get size(): StoreSize {
    return this.#log.size;
  }

  /**
   * Refuses transactions from now on; change sets of other hosts are still applied.
   *
   * @param refusal makes the error for each transaction; null accepts transactions again.
   */
  refuseWrites(refusal: (() => CatalogError) | null): void {
    this.#writeRefusal = refusal;
  }

  /** See {@link Committer.submitLong}. @throws also the refusal set by {@link refuseWrites}. */
  transactLong<T>(run: LongTransaction<T>): Promise<T> {
    if (this.#writeRefusal !== null) return Promise.reject(this.#writeRefusal());
    return this.#committer.submitLong(run);
  }

  /** See {@link Committer.submit}. @throws also the refusal set by {@link refuseWrites}. */
  transact<T>(run: (transaction: Transaction) => T): Promise<T> {
    if (this.#writeRefusal !== null) return Promise.reject(this.#writeRefusal());
    return this.#committer.submit(run);
  }

  /** See {@link Committer.receive}. */
  receive(received: EncodedChangeSet): Promise<void> {
    return this.#committer.receive(received);
  }

  /** See {@link Committer.catchUp}. */
  catchUp(target: number): Promise<void> {
    return this.#committer.catchUp(target);
  }

  /** See {@link Committer.listen}. */
  onCommit(listener: CommitListener): void {
    this.#committer.listen(listener);
  }

  /** See {@link StoreLog.since}. */
  since(sequence: number): AsyncIterable<ChangeSet> {
    return changeSetsOf(this.#log.since(sequence));
  }

  /** As {@link since}, with the bytes of each. */
  encodedSince(sequence: number): AsyncIterable<EncodedChangeSet> {
    return this.#log.since(sequence);
  }

  /** See {@link StoreLog.baseSequence}. */
  get baseSequence(): number {
    return this.#log.baseSequence;
  }

  /** See {@link State.time}. */
  get time(): string | null {
    return this.state.time;
  }

  /** All rows as of the call, for a base; see {@link State.snapshot}. */
  snapshot(): Snapshot {
    return this.state.snapshot();
  }

  /** See {@link StoreLog.oldest}. */
  get oldest(): number {
    return this.#log.oldest;
  }

  /**
   * See {@link State.completeIndexes}.
   *
   * @param background long work begins when it resolves; at once if left out.
   */
  completeIndexes(background: Promise<void> = Promise.resolve()): Promise<void> {
    return this.state.completeIndexes(background, () => !this.#closed);
  }

  /**
   * Copies the base into memory of the process, in slices. It has to be called if the store was
   * opened with `mapsBase`, which makes the opening shorter (src/disk/system/mapped-file.ts).
   *
   * @param background a copy begins when it resolves; at once if left out.
   * @throws Error if the base was written to since the store was opened; the process has to end.
   */
  async copyBase(background: Promise<void> = Promise.resolve()): Promise<void> {
    const steps = this.#log.copyBase();
    if (steps === null) return;
    await background;
    await inSlices(steps);
  }

  /** Waits for the transactions under way, then releases the directory. */
  async close(): Promise<void> {
    this.#closed = true;
    try {
      await this.#committer.close();
    } finally {
      try {
        await this.#log.close();
      } finally {
        this.#lock?.close();
      }
    }
  }
}

/** @throws CatalogError `log_missing` if commits of this process would bypass the log of all hosts. */
function requireLog(directory: string, disk: Disk, shared: SharedLog | undefined): void {
  if (shared !== undefined || !disk.list(directory).includes(DATA_FILES.cluster)) return;
  throw new CatalogError(
    'log_missing',
    `${directory} belongs to a host that shares its log with others, so only serve --log may write to it; to continue without them, with a separate history, remove ${join(directory, DATA_FILES.cluster)}`,
  );
}

async function* changeSetsOf(encoded: AsyncIterable<EncodedChangeSet>): AsyncGenerator<ChangeSet> {
  for await (const { changeSet } of encoded) yield changeSet;
}
