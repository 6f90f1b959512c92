/** The store as the rest of the program sees it: committed state to read, transactions to write. */
import { join } from 'node:path';
import { Low } from 'lowdb';
import { type Disk, machineDisk } from '../disk/disk.ts';
import { acquireOwnership, type FileLock } from '../disk/lock.ts';
import { CatalogError } from '../errors.ts';
import type { KindName, Scalar } from '../model/kind.ts';
import type { RowOf } from '../model/rows.ts';
import { ChangeSetAdapter } from './files/file-log.ts';
import { Committer, type CommitListener } from './commit.ts';
import { type StoreState, emptyDocument } from './state.ts';
import type { Transaction, View } from './draft.ts';
import { BASE, HEAD, LOCK, unwritable } from './files/files.ts';
import { load } from './files/load.ts';
import type { StoreObserver, StoreSize } from './observer.ts';
import type { Page, Selection } from './memory/selection.ts';
import { Tables } from './memory/tables.ts';

/** What readers see: durable rows only. */
export interface ReadableStore extends View {
  /**
   * Sees to it that {@link ReadableStore.select} holds nobody up.
   *
   * @returns what to wait for, and then to ask again; undefined if there is nothing.
   * @throws CatalogError `busy`, as a rejection.
   */
  prepare(kind: KindName, selection: Selection): Promise<void> | undefined;
  /** One page of a collection. */
  select<K extends KindName>(kind: K, selection: Selection): Page<K>;
  /** All rows of a selection, found as they are read, as of the time of the call. */
  selectAll<K extends KindName>(
    kind: K,
    selection: Selection,
  ): { readonly rows: Iterable<RowOf<K>>; readonly total: number };
  /** How many rows whose indexed attribute has the value have a lower id. */
  rank(kind: KindName, attribute: string, value: Scalar, id: number): number;
  /** All ids of a kind, ascending. */
  ids(kind: KindName): Iterable<number>;
  count(kind: KindName): number;
  /** How often an attribute has changed that rows of the kind look up in rows of others. */
  dependencyVersion(kind: KindName): number;
  /** The last id that was handed out; every id up to it that has no row was deleted. */
  lastId(kind: KindName): number;
  /** Commits so far: as long as it is the same, so is everything else. */
  readonly sequence: number;
}

interface Options {
  readonly directory: string;
  /** The command that opens it, for whoever finds the directory locked. */
  readonly command: string;
  /** Creates an empty store where there is none; otherwise that is `store_missing`. */
  readonly create: boolean;
  readonly disk?: Disk;
  /** Bytes that change sets may have together beside a small base; 4 MiB otherwise. */
  readonly smallestCheckpoint?: number;
  /** Told of what fails in the background; the store goes on. */
  readonly onError: (error: unknown) => void;
  /** Told when memory or disk can no longer be known; the process has to end. */
  readonly onFatal: (error: unknown) => void;
  /** Told of every group and checkpoint. */
  readonly observer?: StoreObserver | undefined;
}

class Reader implements ReadableStore {
  protected readonly tables: Tables;
  protected readonly document: StoreState;

  constructor(document: StoreState) {
    this.document = document;
    this.tables = new Tables(document.rows);
  }

  get<K extends KindName>(kind: K, id: Scalar): RowOf<K> | undefined {
    return this.tables.get(kind, id);
  }

  matching(kind: KindName, attribute: string, value: Scalar): Iterable<number> {
    return this.tables.idsWith(kind, attribute, value);
  }

  prepare(kind: KindName, selection: Selection): Promise<void> | undefined {
    return this.tables.prepare(kind, selection);
  }

  select<K extends KindName>(kind: K, selection: Selection): Page<K> {
    return this.tables.select(kind, selection);
  }

  selectAll<K extends KindName>(kind: K, selection: Selection) {
    return this.tables.selectAll(kind, selection);
  }

  rank(kind: KindName, attribute: string, value: Scalar, id: number): number {
    return this.tables.matching(kind, attribute, value).rank((other) => other < id);
  }

  ids(kind: KindName): Iterable<number> {
    return this.tables.ids(kind).values();
  }

  count(kind: KindName): number {
    return this.tables.count(kind);
  }

  dependencyVersion(kind: KindName): number {
    return this.tables.dependencyVersion(kind);
  }

  lastId(kind: KindName): number {
    return this.document.lastIds[kind];
  }

  get sequence(): number {
    return this.document.sequence;
  }
}

/**
 * A consistent snapshot of a directory that another process may own.
 *
 * @throws CatalogError `store_missing`, `store_damaged`, `schema_version`.
 */
export function readSnapshot(directory: string, disk: Disk = machineDisk): ReadableStore {
  const loaded = load(disk, directory);
  if (loaded === null) throw missing(directory);
  return new Reader(loaded.document);
}

/**
 * Whether a directory holds a store, without reading it.
 *
 * @throws CatalogError `store_missing`.
 */
export function requireStore(directory: string, disk: Disk): void {
  const names = disk.list(directory);
  if (!names.includes(BASE) && !names.includes(HEAD)) throw missing(directory);
}

/** An open store; one process owns its directory. */
export class Store extends Reader {
  readonly #committer: Committer;
  readonly #adapter: ChangeSetAdapter;
  readonly #lock: FileLock;
  /** Whether {@link Store.open} found no store and made one. */
  readonly created: boolean;

  private constructor(
    low: Low<StoreState>,
    adapter: ChangeSetAdapter,
    lock: FileLock,
    created: boolean,
    { onFatal: fatal, observer }: Options,
  ) {
    super(low.data);
    this.#committer = new Committer(low, this.tables, fatal, observer);
    this.#adapter = adapter;
    this.#lock = lock;
    this.created = created;
  }

  /** @throws CatalogError `store_locked`, `store_missing`, `store_damaged`, `schema_version`. */
  static async open(options: Options): Promise<Store> {
    const { directory, command, create, onError: failed, onFatal: fatal } = options;
    const disk = options.disk ?? machineDisk;
    const lock = acquireOwnership(join(directory, LOCK), command);
    const adapter = new ChangeSetAdapter({
      disk,
      directory,
      smallestCheckpoint: options.smallestCheckpoint,
      observer: options.observer,
      onError(error) {
        const unknown = error instanceof CatalogError && error.code === 'durability_unknown';
        (unknown ? fatal : failed)(error);
      },
    });
    try {
      const low = new Low<StoreState>(adapter, emptyDocument());
      const empty = low.data;
      await low.read();
      const created = low.data === empty;
      if (created && !create) throw missing(directory);
      if (created) await low.write();
      return new Store(low, adapter, lock, created, options);
    } catch (error) {
      await adapter.close();
      lock.close();
      throw unwritable(directory, error);
    }
  }

  /** Transactions that wait for the disk to take those before them. */
  get waiting(): number {
    return this.#committer.waiting;
  }

  get size(): StoreSize {
    return this.#adapter.size;
  }

  /** See {@link Committer.submit}. */
  transact<T>(run: (transaction: Transaction) => T): Promise<T> {
    return this.#committer.submit(run);
  }

  /** See {@link Committer.listen}. */
  onCommit(listener: CommitListener): void {
    this.#committer.listen(listener);
  }

  /** Waits for the transactions under way, then gives the directory free. */
  async close(): Promise<void> {
    await this.#committer.close();
    try {
      await this.#adapter.close();
    } finally {
      this.#lock.close();
    }
  }
}

/** @returns the refusal of a directory without a store. */
export function missing(directory: string): CatalogError {
  return new CatalogError(
    'store_missing',
    `${directory} holds no store; run: catalog-server migrate --data ${directory}`,
  );
}
