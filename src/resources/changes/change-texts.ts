/**
 * The texts of change sets, for all readers of the feed: one with subjects, and one without.
 *
 * A reader holds one piece of 64 KiB. Texts of small change sets are kept as long as the change
 * sets are in memory. Other texts are made one at a time, and shared: see text/shared-texts.ts.
 */
import { atOnce, inSlices } from '../../slices.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { SharedTexts, type SharedTextsOptions } from '../text/shared-texts.ts';
import type { TurnQueue } from '../text/turn-queue.ts';
import type { ChangeSource } from './change-source.ts';
import { changesText, type FeedView, PIECE_BYTES } from './change-text.ts';
import { isPublished } from './published.ts';

/** Bytes of the shared texts that are kept. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;

/** A piece of the text of a change set. */
export interface Part {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export class ChangeTexts {
  readonly #source: ChangeSource;
  readonly #turns: TurnQueue;
  readonly #shared: SharedTexts;
  readonly #withSubjects = new WeakMap<ChangeSet, readonly Uint8Array[]>();
  readonly #without = new WeakMap<ChangeSet, readonly Uint8Array[]>();

  constructor(source: ChangeSource, turns: TurnQueue, options: Partial<SharedTextsOptions> = {}) {
    this.#source = source;
    this.#turns = turns;
    this.#shared = new SharedTexts({ maxBytes: MAX_SHARED_BYTES, ...options });
  }

  /**
   * The texts of the change sets after a sequence, up to and including `last`, without those of
   * which nothing is published.
   *
   * @param gone ends the texts, also while they wait.
   * @throws CatalogError `history_gone`, `store_damaged`, `store_unreadable`.
   */
  async *after(
    sequence: number,
    last: number,
    view: FeedView,
    gone: AbortSignal,
  ): AsyncGenerator<Part, void, void> {
    for (let at = sequence + 1; at <= last && !gone.aborted; at += 1) {
      const recent = this.#source.recent(at);
      if (recent === undefined || recent.bytes > PIECE_BYTES) yield* this.#long(at, view, gone);
      else if (isPublished(recent.changeSet)) yield* this.#short(recent.changeSet, view);
    }
  }

  *#short(changeSet: ChangeSet, view: FeedView): Generator<Part, void> {
    const known = view.subjects ? this.#withSubjects : this.#without;
    const pieces = known.get(changeSet) ?? atOnce(changesText(changeSet, view));
    known.set(changeSet, pieces);
    const { sequence } = changeSet;
    for (const [index, bytes] of pieces.entries()) {
      yield { sequence, bytes, isFirst: index === 0, isLast: index === pieces.length - 1 };
    }
  }

  async *#long(
    sequence: number,
    view: FeedView,
    gone: AbortSignal,
  ): AsyncGenerator<Part, void, void> {
    const key = `${sequence} ${view.subjects}`;
    const pieces = this.#shared.read(key, () => this.#make(sequence, view), gone);
    for await (const { content: bytes, ...rest } of pieces) yield { sequence, bytes, ...rest };
  }

  async #make(sequence: number, view: FeedView): Promise<readonly Uint8Array[]> {
    // In turns, because the files may hold many small change sets in a row.
    await this.#turns.next();
    for await (const changeSet of this.#source.after(sequence - 1, sequence)) {
      return inSlices(changesText(changeSet, view));
    }
    throw new Error(`change set ${sequence} was not read`);
  }
}
