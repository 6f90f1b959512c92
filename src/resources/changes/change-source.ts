/**
 * The change sets of a store in order: the recent ones from memory, older ones from the history.
 * All readers of changes share it. Only while there are readers are change sets kept: otherwise each
 * would live just long enough to make collections of garbage expensive.
 *
 * Invariant: the recent change sets are a run without a gap that ends at the last one announced.
 */
import type { ChangeSet } from '../../store/change-set.ts';
import type { Store } from '../../store/store.ts';
import { Arrivals } from './arrivals.ts';

/** Bytes of change sets that are kept in memory, as they are encoded. */
const MAX_RECENT_BYTES = 8 * 1024 * 1024;

/** Milliseconds after the last read for which change sets are kept. Clients may poll that rarely. */
const READ_MS = 5 * 60_000;

/** Bytes that a change set in memory counts at least. */
const MIN_BYTES = 1024;

/** A change set in memory, and about how many bytes it has when encoded. */
export interface RecentChangeSet {
  readonly changeSet: ChangeSet;
  readonly bytes: number;
}

interface Options {
  /** {@link MAX_RECENT_BYTES} by default. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds on a monotonic clock; `performance.now` by default. */
  readonly now?: (() => number) | undefined;
}

export class ChangeSource {
  readonly arrivals: Arrivals;
  readonly #store: Pick<Store, 'sequence' | 'since' | 'onCommit'>;
  readonly #recent = new Map<number, RecentChangeSet>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  #bytes = 0;
  #lastRead = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<Store, 'sequence' | 'since' | 'onCommit'>, options: Options = {}) {
    this.#store = store;
    this.#maxBytes = options.maxBytes ?? MAX_RECENT_BYTES;
    this.#now = options.now ?? performance.now.bind(performance);
    this.arrivals = new Arrivals(() => store.sequence);
    store.onCommit(({ changeSet, bytes }) => {
      this.#keep(changeSet, Math.max(bytes, MIN_BYTES));
      void this.arrivals.announce(changeSet.sequence);
    });
  }

  /** The sequence of the last change set. */
  get sequence(): number {
    return this.#store.sequence;
  }

  /**
   * Checks that the change sets after a sequence are kept in the history. Change sets that are only
   * in memory do not count, because they may be evicted at any time.
   *
   * @throws CatalogError `history_gone`, which names the oldest and the last.
   */
  require(sequence: number): void {
    this.#lastRead = this.#now();
    if (sequence === this.sequence) return;
    // The call checks; reading begins when the first change set is requested.
    void this.#store.since(sequence);
  }

  /** A change set, if it is in memory. */
  recent(sequence: number): RecentChangeSet | undefined {
    this.#lastRead = this.#now();
    return this.#recent.get(sequence);
  }

  /**
   * The change sets after a sequence, up to and including `last`.
   *
   * @throws CatalogError `history_gone`, `store_damaged`, `store_unreadable`.
   */
  async *after(sequence: number, last: number): AsyncGenerator<ChangeSet, void, void> {
    let at = sequence;
    while (at < last) {
      const recent = this.recent(at + 1);
      if (recent !== undefined) {
        at += 1;
        yield recent.changeSet;
        continue;
      }
      for await (const changeSet of this.#store.since(at)) {
        at = changeSet.sequence;
        yield changeSet;
        if (at >= last || this.#recent.has(at + 1)) break;
      }
    }
  }

  #keep(changeSet: ChangeSet, bytes: number): void {
    if (this.arrivals.size === 0 && this.#now() - this.#lastRead > READ_MS) {
      this.#recent.clear();
      this.#bytes = 0;
      return;
    }
    this.#recent.set(changeSet.sequence, { changeSet, bytes });
    this.#bytes += bytes;
    for (const [sequence, kept] of this.#recent) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#recent.delete(sequence);
      this.#bytes -= kept.bytes;
    }
  }
}
