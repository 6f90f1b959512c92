/** A log that hosts share, in memory: it conflicts, delays, answers late and loses answers. */
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogError } from '../../src/errors.ts';
import type { Appended, ChangeLog, LogPosition } from '../../src/store/change-log.ts';
import type { EncodedChangeSet } from '../../src/store/change-set.ts';

/** What becomes of one call. */
export type Fault =
  | 'none'
  /** The call has no effect, and its caller gets an error. */
  | 'lost'
  /** The call has its effect, and its caller gets an error. */
  | 'unanswered'
  /** The call has its effect, and later its answer. */
  | 'late'
  /** The caller gets an error, and the call has its effect later, while it is being repeated. */
  | 'delayed';

/** An error that says nothing about the outcome of a call. */
export class LostConnection extends Error {}

/**
 * Calls of all hosts together, and calls without an answer in a row: many times what any test
 * makes. More of them would have no end.
 */
const MAX = { calls: 1000, unanswered: 100 };

export class MemoryChangeLog implements ChangeLog {
  readonly entries: EncodedChangeSet[] = [];
  readonly #origin: LogPosition;
  readonly #listeners = new Set<(head: LogPosition | null) => void>();
  /** Asked for the fault of every call; `writer` is that of a change set to be appended. */
  fault: (writer?: string) => Fault = () => 'none';
  #calls = 0;
  /** Calls since the last one that was answered. */
  #unanswered = 0;

  constructor(origin: LogPosition) {
    this.#origin = origin;
  }

  get last(): LogPosition {
    return this.entries.at(-1)?.changeSet ?? this.#origin;
  }

  async head(): Promise<LogPosition> {
    return this.#call(() => this.last);
  }

  async append(encoded: EncodedChangeSet): Promise<Appended> {
    return this.#call(() => this.#append(encoded), encoded.changeSet.writer);
  }

  async read(after: number): Promise<readonly Uint8Array[]> {
    return this.#call(() => {
      const first = this.entries[0]?.changeSet.sequence ?? after + 1;
      if (after + 1 < first) throw new CatalogError('history_gone', 'trimmed');
      return this.entries.slice(after + 1 - first, after + 4 - first).map(({ bytes }) => bytes);
    });
  }

  follow(listener: (head: LogPosition | null) => void): () => Promise<void> {
    this.#listeners.add(listener);
    return async () => void this.#listeners.delete(listener);
  }

  async trim(below: number): Promise<void> {
    while ((this.entries[0]?.changeSet.sequence ?? below) < below) this.entries.shift();
  }

  #append(encoded: EncodedChangeSet): Appended {
    const { sequence, previous, digest } = encoded.changeSet;
    if (this.entries.some(({ changeSet }) => changeSet.digest === digest)) return 'appended';
    const { last } = this;
    if (last.sequence !== sequence - 1 || last.digest !== previous) return 'conflict';
    this.entries.push(encoded);
    for (const listener of this.#listeners) queueMicrotask(() => listener(this.last));
    return 'appended';
  }

  async #call<T>(effect: () => T, writer?: string): Promise<T> {
    this.#calls += 1;
    const fault = this.fault(writer);
    this.#unanswered = fault === 'none' || fault === 'late' ? 0 : this.#unanswered + 1;
    if (this.#calls > MAX.calls || this.#unanswered > MAX.unanswered) {
      // After this error a host does not call again.
      throw new CatalogError('store_damaged', 'a test has called the log too often');
    }
    await pause(0);
    if (fault === 'lost') throw new LostConnection('the connection was refused');
    if (fault === 'delayed') {
      void pause(2).then(() => ignoring(effect));
      throw new LostConnection('the connection was lost');
    }
    const result = effect();
    if (fault === 'unanswered') throw new LostConnection('the connection was lost');
    if (fault === 'late') await pause(3);
    return result;
  }
}

function ignoring(effect: () => unknown): void {
  try {
    effect();
  } catch {
    // Nobody waits for it.
  }
}
