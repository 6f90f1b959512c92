/** A store with its archive, as a server has them, over objects in memory. */
import { Archiver } from '../../src/archive/archiver.ts';
import type { ArchiverOptions, PrivateFiles } from '../../src/archive/archiver-options.ts';
import { ArchiveObjects } from '../../src/archive/archive-objects.ts';
import { archiveRecord } from '../../src/archive/record.ts';
import { messageOf } from '../../src/errors.ts';
import { baseSlices } from '../../src/store/files/base.ts';
import type { Snapshot } from '../../src/store/state.ts';
import type { Store } from '../../src/store/store.ts';
import { addBook } from './books.ts';
import { openStore } from './checked.ts';
import { quickDisk } from './disk.ts';
import { MemoryObjects } from './object-store.ts';
import { until } from './until.ts';

interface Options {
  readonly network?: MemoryObjects;
  readonly key?: Uint8Array;
  /** Bytes of change sets that are kept beside the base. */
  readonly history?: number;
  readonly keep?: number;
  readonly privateFiles?: PrivateFiles;
  readonly now?: () => number;
  readonly retryDelay?: ArchiverOptions['retryDelay'];
  readonly gatherMs?: number;
}

/** A change set counts for as much on the disk. */
export const BLOCK = 4096;

export class Archived {
  readonly store: Store;
  readonly network: MemoryObjects;
  readonly objects: ArchiveObjects;
  readonly archiver: Archiver;
  /** What was logged. */
  readonly log: string[];

  private constructor(store: Store, directory: string, options: Options) {
    const { network = new MemoryObjects(), key = null, keep = null } = options;
    const log: string[] = [];
    this.store = store;
    this.network = network;
    this.objects = new ArchiveObjects(network, key);
    this.log = log;
    this.archiver = new Archiver({
      store,
      objects: this.objects,
      privateFiles: options.privateFiles ?? null,
      record: archiveRecord(quickDisk, directory),
      keep,
      now: options.now,
      onError: (error) => log.push(messageOf(error)),
      warn: (message) => log.push(message),
      retryDelay: options.retryDelay ?? (() => 1),
      gatherMs: options.gatherMs ?? 1,
    });
  }

  /** Opens the store of a directory and begins to archive it. */
  static async open(directory: string, options: Options = {}): Promise<Archived> {
    const store = await openStore(directory, {
      disk: quickDisk,
      history: options.history ?? 1000 * BLOCK,
      smallestCheckpoint: 8 * BLOCK,
    });
    const archived = new Archived(store, directory, options);
    archived.archiver.start();
    return archived;
  }

  async commit(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth += 1) await this.store.transact(addBook());
  }

  /** Waits until everything is archived, a base of the last checkpoint too. */
  async archived(): Promise<void> {
    await until('the archive is in step', () => {
      const { changeSets, failing } = this.archiver.figures;
      return changeSets === 0 && failing === null && this.hasBase;
    });
  }

  /** Whether the archive has a base with the last checkpoint. */
  get hasBase(): boolean {
    const newest = Number(this.network.in('bases').at(-1)?.slice(0, 12) ?? -1);
    return newest >= this.store.baseSequence;
  }

  /** Stops in order. */
  async close(): Promise<void> {
    await this.archiver.close(60_000);
    await this.store.close();
  }

  /** Stops at once, as a crash does to the archive. */
  async kill(): Promise<void> {
    this.network.before = () => {
      throw new Error('the process is gone');
    };
    await this.archiver.close(60_000);
    await this.store.close();
  }
}

/** A whole state as text. Two states with one text are the same. */
export function textOf(state: { snapshot(): Snapshot }): string {
  return Buffer.concat([...baseSlices(state.snapshot())]).toString();
}
