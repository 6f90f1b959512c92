/**
 * The log of a directory that another process owns. It writes nothing: a change set that is
 * appended here is already in the directory, written by the owner.
 */
import type { Disk } from '../../disk/disk.ts';
import { CatalogError } from '../../errors.ts';
import type { EncodedChangeSet } from '../change-set.ts';
import type { StoreLog } from '../log.ts';
import type { State } from '../state.ts';
import { readChangeSets, requireKept } from './history.ts';
import { recover } from './recovery.ts';

export class ReadOnlyLog implements StoreLog {
  readonly checkpointDue = false;
  /** The owner counts the files. */
  readonly size = { base: 0, changes: 0 };
  readonly baseSequence = 0;
  readonly #disk: Disk;
  readonly #directory: string;
  #last = 0;
  #oldest = Number.POSITIVE_INFINITY;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  async open(): Promise<State | null> {
    const state = recover(this.#disk, this.#directory)?.state ?? null;
    this.#last = state?.sequence ?? 0;
    return state;
  }

  async append({ changeSet }: EncodedChangeSet): Promise<void> {
    this.#last = changeSet.sequence;
  }

  get oldest(): number {
    return Math.min(this.#oldest, this.#last);
  }

  /** @param oldest the owner's {@link StoreLog.oldest}. */
  setOldest(oldest: number): void {
    this.#oldest = oldest;
  }

  since(sequence: number): AsyncIterable<EncodedChangeSet> {
    requireKept(sequence, this.oldest, this.#last);
    return this.read(sequence, this.#last);
  }

  /**
   * The change sets after one sequence and up to another, which the owner has reported as durable.
   *
   * @throws CatalogError `history_gone` if the owner has removed some of them; `store_damaged`,
   *   `store_unreadable`.
   */
  read(after: number, last: number): AsyncIterable<EncodedChangeSet> {
    return readChangeSets(this.#disk, this.#directory, { after, last, missing });
  }

  async checkpoint(): Promise<void> {
    throw new Error('the owner of the directory writes its base');
  }

  /** The whole base was read. */
  copyBase(): null {
    return null;
  }

  async close(): Promise<void> {}
}

function missing(_: string, sequence: number): CatalogError {
  return new CatalogError('history_gone', `change set ${sequence} is not kept any more`);
}
