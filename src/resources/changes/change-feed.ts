/**
 * The use cases of readers of changes (spec 14.2 to 14.4): change sets after a sequence as an array,
 * at once or when there are some, and as a stream of events; and reads that wait for a sequence.
 *
 * Every answer holds at most one change set in memory, and some pieces of its text. Their number is
 * bounded, and that of the callers that wait.
 */
import { CatalogError } from '../../errors.ts';
import type { ChangeSource } from './change-source.ts';
import { arrayText, eventText, type View } from './feed-text.ts';
import { isPublished } from './published.ts';

/** Milliseconds for which a read waits for a change set that it asks for (spec 15.2). */
const MIN_SEQUENCE_WAIT_MS = 1000;

/** Answers that are open: arrays that wait or are being sent, and streams. */
const MAX_OPEN = 250;

/** Reads that wait for a change set. */
const MAX_WAITING_READS = 1000;

/** Milliseconds without an event after which a stream gets a comment. */
const COMMENT_MS = 15_000;

const COMMENT = ':\n\n';

export interface FeedQuery {
  /** The change set after which to begin; null for the last one. */
  readonly since: number | null;
  /** Change sets in the answer, at most. */
  readonly limit: number;
  /** Milliseconds to wait for a change. */
  readonly wait: number;
}

/** An array of changes. */
export interface FeedPage {
  readonly text: string | AsyncIterable<string>;
  /** The last change set that there is: there are no changes up to it but those in the array. */
  readonly last: number;
}

interface Options {
  /** {@link COMMENT_MS} by default. */
  readonly commentMs?: number | undefined;
}

export class ChangeFeed {
  readonly #source: ChangeSource;
  readonly #commentMs: number;
  #open = 0;
  #reads = 0;

  constructor(source: ChangeSource, options: Options = {}) {
    this.#source = source;
    this.#commentMs = options.commentMs ?? COMMENT_MS;
  }

  /** The last change set that there is. */
  get sequence(): number {
    return this.#source.sequence;
  }

  /** Answers that are open. */
  get open(): number {
    return this.#open;
  }

  /**
   * Waits, for a second, until the state contains a change set.
   *
   * @returns undefined if it does already.
   * @throws CatalogError `busy`, as a rejection.
   */
  reach(sequence: number): Promise<void> | undefined {
    return sequence <= this.sequence ? undefined : this.#waitFor(sequence);
  }

  async #waitFor(sequence: number): Promise<void> {
    const { arrivals } = this.#source;
    if (this.#reads >= MAX_WAITING_READS) throw tooMany();
    this.#reads += 1;
    try {
      if (await arrivals.past(sequence - 1, MIN_SEQUENCE_WAIT_MS)) return;
    } finally {
      this.#reads -= 1;
    }
    throw new CatalogError(
      'busy',
      `change set ${sequence} is not here yet, the last one is ${this.sequence}; try again`,
    );
  }

  /**
   * The changes after a sequence. Waits if there are none.
   *
   * @param gone ends the wait.
   * @throws CatalogError `history_gone`, `busy`, `store_damaged`, `store_unreadable`.
   */
  async page({ since, limit, wait }: FeedQuery, view: View, gone?: AbortSignal): Promise<FeedPage> {
    this.#requireOpen();
    const source = this.#source;
    const deadline = performance.now() + wait;
    let scanned = since ?? source.sequence;
    source.require(scanned);
    this.#open += 1;
    try {
      for (;;) {
        const last = source.sequence;
        for await (const changeSet of source.after(scanned, last)) {
          if (!isPublished(changeSet)) continue;
          const text = arrayText(source.after(changeSet.sequence - 1, last), limit, view);
          return { text: this.#counted(text), last };
        }
        scanned = last;
        if (!(await source.arrivals.past(last, deadline - performance.now(), gone))) {
          return { text: '[]', last };
        }
      }
    } finally {
      this.#open -= 1;
    }
  }

  /**
   * The changes after a sequence, and all that follow, as server-sent events.
   *
   * @param since the change set after which to begin; null for the last one.
   * @param isAllowed whether the reader may still read; the stream ends when it may not.
   * @throws CatalogError `history_gone`, `busy`.
   */
  events(
    since: number | null,
    view: View,
    isAllowed: () => boolean | Promise<boolean>,
  ): AsyncIterable<string> {
    this.#requireOpen();
    const after = since ?? this.sequence;
    this.#source.require(after);
    const gone = new AbortController();
    const events = this.#counted(this.#events(after, view, isAllowed, gone.signal));
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => events.next(),
        async return() {
          // A generator that waits for a change set would be closed with the next one.
          gone.abort();
          await events.return();
          return { done: true, value: undefined };
        },
      }),
    };
  }

  async *#events(
    after: number,
    view: View,
    isAllowed: () => boolean | Promise<boolean>,
    gone: AbortSignal,
  ): AsyncGenerator<string, void, void> {
    const { arrivals } = this.#source;
    let at = after;
    let due = performance.now() + this.#commentMs;
    while (!arrivals.closed && !gone.aborted) {
      const last = this.sequence;
      try {
        for await (const changeSet of this.#source.after(at, last)) {
          at = changeSet.sequence;
          if (!isPublished(changeSet)) continue;
          if (arrivals.closed || !(await isAllowed())) return;
          yield* eventText(changeSet, view);
          due = performance.now() + this.#commentMs;
        }
      } catch (error) {
        // The reader was too slow. It comes back with the last id, and gets a 410.
        if (error instanceof CatalogError && error.code === 'history_gone') return;
        throw error;
      }
      if (await arrivals.past(at, due - performance.now(), gone)) continue;
      if (arrivals.closed || gone.aborted || !(await isAllowed())) return;
      yield COMMENT;
      due = performance.now() + this.#commentMs;
    }
  }

  /** @throws CatalogError `busy`. */
  #requireOpen(): void {
    if (this.#open >= MAX_OPEN) throw tooMany();
  }

  /** Counts an answer from its first piece on: the one to HEAD has none. */
  async *#counted(text: AsyncIterable<string>): AsyncGenerator<string, void, void> {
    this.#open += 1;
    try {
      yield* text;
    } finally {
      this.#open -= 1;
    }
  }
}

function tooMany(): CatalogError {
  return new CatalogError('busy', 'too many requests wait for changes; try again');
}
