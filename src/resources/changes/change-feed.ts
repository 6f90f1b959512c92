/**
 * The use cases of readers of changes (spec 14.2 to 14.4): change sets after a sequence as an array,
 * at once or when there are some, and as a stream of events.
 *
 * Every response holds no more than a piece of 64 KiB of a text that all readers share. The numbers
 * of open responses and of waiting callers are bounded.
 */
import { CatalogError, hasCode } from '../../errors.ts';
import { Places } from '../../places.ts';
import { closable, following } from '../../streams.ts';
import type { SharedTextsOptions } from '../text/shared-texts.ts';
import { TurnQueue } from '../text/turn-queue.ts';
import { AwaitedSequences } from './awaited-sequences.ts';
import type { ChangeSource } from './change-source.ts';
import type { FeedView } from './change-text.ts';
import { ChangeTexts } from './change-texts.ts';
import { arrayText, eventText, gathered } from './feed-text.ts';

/** Open responses, at most: arrays that wait or are being sent, and streams. */
export const MAX_OPEN = 250;

/** Open responses to one subject, so that others get some. */
export const MAX_OPEN_OF_SUBJECT = 125;

/** Milliseconds without an event after which a stream gets a comment. */
const COMMENT_MS = 15_000;

const COMMENT = Buffer.from(':\n\n');

export interface FeedQuery {
  /** Who reads. */
  readonly subject: string | null;
  /** The change set after which to begin; null for the last one. */
  readonly since: number | null;
  /** Change sets in the response, at most. */
  readonly limit: number;
  /** Milliseconds to wait for a change. */
  readonly wait: number;
  /** Called when a wait has ended with a change. @throws if the reader may not read any more. */
  readonly confirm?: (() => unknown) | undefined;
}

/** An array of changes. */
export interface FeedPage {
  /** If it is not a string, it has to be read or closed. */
  readonly text: string | AsyncIterable<Uint8Array>;
  /** The last change set of the store. If the array is empty, there were no changes up to it. */
  readonly last: number;
}

interface Options {
  /** {@link COMMENT_MS} by default. */
  readonly commentMs?: number | undefined;
  /** Options for sharing the texts of change sets that differ from the defaults. */
  readonly sharing?: Partial<SharedTextsOptions> | undefined;
  /** See {@link AwaitedSequences}; false by default. */
  readonly mayBeBehind?: boolean | undefined;
}

export class ChangeFeed {
  /** Reads that wait for a change set. */
  readonly awaited: AwaitedSequences;
  readonly #source: ChangeSource;
  readonly #commentMs: number;
  readonly #turns = new TurnQueue();
  readonly #texts: ChangeTexts;
  readonly #places = new Places({ total: MAX_OPEN, share: MAX_OPEN_OF_SUBJECT, refusal });

  constructor(source: ChangeSource, options: Options = {}) {
    this.#source = source;
    this.awaited = new AwaitedSequences(source, options.mayBeBehind ?? false);
    this.#commentMs = options.commentMs ?? COMMENT_MS;
    this.#texts = new ChangeTexts(source, this.#turns, options.sharing);
  }

  /** The sequence of the last change set. */
  get sequence(): number {
    return this.#source.sequence;
  }

  /** The number of open responses. */
  get open(): number {
    return this.#places.taken;
  }

  /**
   * The changes after a sequence. Waits if there are none.
   *
   * @param gone ends the wait.
   * @throws CatalogError `history_gone`, `busy`, `store_damaged`, `store_unreadable`; what
   *   `query.confirm` throws.
   */
  async page(query: FeedQuery, view: FeedView, gone?: AbortSignal): Promise<FeedPage> {
    const leave = this.#places.take(query.subject);
    try {
      const page = await this.#page(query, view, leave, gone);
      if (typeof page.text === 'string') leave();
      return page;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #page(
    query: FeedQuery,
    view: FeedView,
    leave: () => void,
    gone?: AbortSignal,
  ): Promise<FeedPage> {
    const { since, wait } = query;
    const source = this.#source;
    const deadline = performance.now() + wait;
    let scanned = since ?? source.sequence;
    source.require(scanned);
    const closed = new AbortController();
    gone?.addEventListener('abort', () => closed.abort(), { once: true });
    for (;;) {
      const last = source.sequence;
      const parts = this.#texts.after(scanned, last, view, closed.signal);
      const first = await parts.next();
      if (first.done !== true) {
        const array = arrayText(following(first.value, parts), query.limit);
        const close = async () => {
          leave();
          // They stay a reader of a shared text until they are closed.
          await parts.return();
        };
        return { text: closable(gathered(array, this.#turns), closed, close), last };
      }
      scanned = last;
      if (!(await source.arrivals.past(last, deadline - performance.now(), gone))) {
        return { text: '[]', last };
      }
      await query.confirm?.();
    }
  }

  /**
   * The changes after a sequence, and all that follow, as server-sent events.
   *
   * @param since the change set after which to begin; null for the last one.
   * @param subject who reads.
   * @param isAllowed whether the reader may still read; the stream ends when it may not.
   * @returns a text that has to be read or closed.
   * @throws CatalogError `history_gone`, `busy`.
   */
  events(
    since: number | null,
    subject: string | null,
    view: FeedView,
    isAllowed: () => boolean | Promise<boolean>,
  ): AsyncIterable<Uint8Array> {
    const after = since ?? this.sequence;
    this.#source.require(after);
    const leave = this.#places.take(subject);
    const closed = new AbortController();
    const text = this.#events(after, view, isAllowed, closed.signal);
    return closable(text, closed, async () => leave());
  }

  async *#events(
    after: number,
    view: FeedView,
    isAllowed: () => boolean | Promise<boolean>,
    gone: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    const { arrivals } = this.#source;
    let at = after;
    let due = performance.now() + this.#commentMs;
    while (!arrivals.closed && !gone.aborted) {
      const last = this.sequence;
      try {
        for await (const part of this.#texts.after(at, last, view, gone)) {
          if (part.isFirst && (arrivals.closed || !(await isAllowed()))) return;
          await this.#turns.next();
          yield* eventText(part);
          due = performance.now() + this.#commentMs;
        }
        at = last;
      } catch (error) {
        // The reader was too slow. It reconnects with the last id, and gets a 410.
        if (hasCode(error, 'history_gone')) return;
        throw error;
      }
      if (await arrivals.past(at, due - performance.now(), gone)) continue;
      if (arrivals.closed || gone.aborted || !(await isAllowed())) return;
      yield COMMENT;
      due = performance.now() + this.#commentMs;
    }
  }
}

function refusal(limit: 'own' | 'all'): CatalogError {
  return new CatalogError(
    'busy',
    limit === 'own'
      ? `${MAX_OPEN_OF_SUBJECT} of your requests for changes are open; close one of them`
      : 'too many requests are waiting for changes; try again later',
  );
}
