/**
 * The role of this process among the hosts of its history: whether it may write, and what it knows
 * of other hosts that may.
 *
 * Invariant: a host that has learned of a later epoch refuses writes from then on, also after a
 * restart, because the record is durable before anything is answered.
 */
import type { Disk } from '../../disk/disk.ts';
import { CatalogError } from '../../errors.ts';
import type { KnownEpoch } from '../../http/services.ts';
import {
  currentEpoch,
  firstRecord,
  type HostRecord,
  readHostRecord,
  writeHostRecord,
} from '../../store/hosts/host-record.ts';
import type { Store } from '../../store/store.ts';

interface Options {
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  readonly store: Pick<Store, 'refuseWrites'>;
  /** Whether this process follows another host, whatever the record says. */
  readonly follows: boolean;
  /** Called when this host learns that another one has replaced it as the primary. */
  readonly onSucceeded: (message: string) => void;
}

export class HostRole {
  readonly #options: Options;
  #record: HostRecord | null;
  /** Whether another host has replaced this one since the start; the record may not say so yet. */
  #isReplaced = false;
  /** Changes of the record, one after the other. */
  #writing: Promise<void> = Promise.resolve();

  /** @throws CatalogError `store_damaged`, `store_unreadable`. */
  constructor(options: Options) {
    const { disk, directory, follows } = options;
    this.#options = options;
    this.#record = readHostRecord(disk, directory);
    if (follows || !this.isPrimary) this.#refuseWrites();
  }

  /** Null while no other host knows of this one. */
  get record(): HostRecord | null {
    return this.#record;
  }

  get isPrimary(): boolean {
    if (this.#options.follows) return false;
    return this.#record === null || this.#record.role === 'primary';
  }

  /** The words for `/readyz` if another host replaced this one and it follows none; else null. */
  readonly reason = (): string | null =>
    (this.#isReplaced || this.#record?.role === 'succeeded') && !this.#options.follows
      ? 'another host is the primary now'
      : null;

  /** The record. The first call creates it, because it is not needed before. */
  async shared(): Promise<HostRecord> {
    return this.#record ?? this.#change((record) => record ?? firstRecord());
  }

  /** Keeps a later epoch that another host knows, and ends writes. @throws what the disk throws. */
  async learn(known: KnownEpoch): Promise<void> {
    if (!isNews(this.#record, known)) return;
    const { number } = known;
    let isSucceeded = false;
    try {
      await this.#change((record) => {
        if (!isNews(record, known)) return record ?? firstRecord();
        isSucceeded = record.role === 'primary';
        return { ...record, latest: number, role: isSucceeded ? 'succeeded' : record.role };
      });
    } finally {
      // Also if the disk refuses the record: a write that is answered from now on would be lost.
      if (isSucceeded) this.#endWrites(number);
    }
  }

  #endWrites(number: number): void {
    if (this.#isReplaced) return;
    this.#isReplaced = true;
    this.#refuseWrites();
    this.#options.onSucceeded(
      `another host was made the primary in epoch ${number}; this one takes no more writes; restart it with serve --follow and the address of that host`,
    );
  }

  /**
   * Records that a predecessor knows an epoch in which this host is or was the primary. Whatever
   * else the host has learned meanwhile stays in the record.
   *
   * @param address of the predecessor.
   * @throws what the disk throws.
   */
  async predecessorKnows({ history, number }: KnownEpoch, address: string): Promise<void> {
    await this.#change((record) =>
      record?.history === history && currentEpoch(record).number === number
        ? { ...record, predecessors: record.predecessors.filter((each) => each !== address) }
        : (record ?? firstRecord()),
    );
  }

  /** @param change is given the record as it is by then. @throws what the disk throws. */
  async replace(change: (record: HostRecord | null) => HostRecord): Promise<void> {
    await this.#change(change);
  }

  /** @returns the record after the change. */
  #change(change: (record: HostRecord | null) => HostRecord): Promise<HostRecord> {
    const changed = this.#writing.then(async () => {
      const { disk, directory } = this.#options;
      const next = change(this.#record);
      if (next !== this.#record) await writeHostRecord(disk, directory, next);
      this.#record = next;
      return next;
    });
    this.#writing = changed.then(
      () => {},
      () => {},
    );
    return changed;
  }

  #refuseWrites(): void {
    this.#options.store.refuseWrites(() => this.#refusal());
  }

  #refusal(): CatalogError {
    const record = this.#record;
    return new CatalogError(
      'not_primary',
      this.#options.follows
        ? `this host follows ${record?.primary ?? 'another one'}; send writes there`
        : 'another host was made the primary; send writes there',
    );
  }
}

function isNews(record: HostRecord | null, { history, number }: KnownEpoch): record is HostRecord {
  return record !== null && history === record.history && number > record.latest;
}
