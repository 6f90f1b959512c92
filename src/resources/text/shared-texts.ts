/**
 * Long texts that their readers share, in bounded memory, however slow the readers are.
 *
 * A reader is counted at a text while it reads it piece by piece. It holds only the piece that its
 * client takes next, so a client that takes nothing costs one piece.
 *
 * Invariants:
 * 1. Texts are made one at a time, in the order of the requests, and only while the kept texts take
 *    at most `maxBytes`. So all texts together take at most that and one text more.
 * 2. No reader delays others by more than {@link TURN_MS} for each kept text: an older text is
 *    dropped if the next one needs room. Its readers request it again, after the others, and
 *    continue where they were.
 */

import { type Delay, delayed } from '../../delay.ts';

/** Milliseconds for which a text is kept at least while it has readers. */
const TURN_MS = 5000;

export interface SharedTextsOptions {
  /** Bytes of the texts that are kept. */
  readonly maxBytes: number;
  /** Milliseconds on a clock that does not go back. */
  readonly now?: (() => number) | undefined;
  readonly delay?: Delay | undefined;
}

/** A part of a text: bytes, or something else that takes about `length` bytes of memory. */
interface Sized {
  readonly length: number;
}

/** Makes a text in pieces of about 64 KiB, which are the same every time. */
type Make<P> = () => Promise<readonly P[]>;

interface Text<P> {
  readonly key: string;
  readonly make: Make<P>;
  /** The number of readers that read it or wait for it. */
  readers: number;
  /** Null before it is made, and after it was dropped. */
  pieces: readonly P[] | null;
  bytes: number;
  madeAt: number;
  /** Rejects if it could not be made. */
  ready: Promise<void>;
}

/** A piece of a text. */
export interface Piece<P extends Sized = Uint8Array> {
  readonly content: P;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export class SharedTexts<P extends Sized = Uint8Array> {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #delay: Delay;
  /** In the order in which they were requested, and are made. */
  readonly #texts = new Map<string, Text<P>>();
  #bytes = 0;
  #queue: Promise<void> = Promise.resolve();
  /** Resumes the text that waits for room. */
  #wake: (() => void) | null = null;

  constructor({ maxBytes, now, delay }: SharedTextsOptions) {
    this.#maxBytes = maxBytes;
    this.#now = now ?? (() => performance.now());
    this.#delay = delay ?? delayed;
  }

  /** Bytes of the texts that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Reads a text, which is made if it is not kept.
   *
   * @param gone ends the wait for it; no more pieces follow.
   * @throws what `make` throws.
   */
  async *read(key: string, make: Make<P>, gone: AbortSignal): AsyncGenerator<Piece<P>, void, void> {
    let next = 0;
    for (let isOver = false; !isOver; ) {
      const text = await this.#enter(key, make, gone);
      if (text === null) return;
      try {
        while (!isOver && text.pieces !== null) {
          const content = text.pieces[next];
          isOver = next + 1 >= text.pieces.length;
          if (content !== undefined) yield { content, isFirst: next === 0, isLast: isOver };
          next += 1;
        }
      } finally {
        this.#leave(text);
      }
    }
  }

  /** @returns the text, which the reader has to leave; null if the wait was ended. */
  async #enter(key: string, make: Make<P>, gone: AbortSignal): Promise<Text<P> | null> {
    const text = this.#texts.get(key) ?? this.#ask(key, make);
    text.readers += 1;
    // Nobody finds a text that could not be made, so its readers are not counted any more.
    if (text.pieces !== null || (await isSettled(text.ready, gone))) return text;
    this.#leave(text);
    return null;
  }

  #leave(text: Text<P>): void {
    text.readers -= 1;
    this.#dropUnread();
  }

  #ask(key: string, make: Make<P>): Text<P> {
    const ready = this.#queue.then(() => this.#make(text));
    const text: Text<P> = { key, make, readers: 0, pieces: null, bytes: 0, madeAt: 0, ready };
    this.#texts.set(key, text);
    this.#queue = ready.catch(() => {});
    return text;
  }

  async #make(text: Text<P>): Promise<void> {
    // Its readers may have left by now, or leave while it waits for room.
    if (text.readers > 0) await this.#room();
    if (text.readers === 0) {
      this.#texts.delete(text.key);
      return;
    }
    try {
      text.pieces = await text.make();
    } catch (error) {
      this.#texts.delete(text.key);
      throw error;
    }
    text.bytes = text.pieces.reduce((sum, { length }) => sum + length, 0);
    text.madeAt = this.#now();
    this.#bytes += text.bytes;
    this.#dropUnread();
  }

  /** Resolves when another text may be made. */
  async #room(): Promise<void> {
    for (const text of this.#texts.values()) {
      const rest = () => text.madeAt + TURN_MS - this.#now();
      while (this.#bytes > this.#maxBytes && text.pieces !== null && rest() > 0) {
        await this.#woken(rest());
      }
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(text);
    }
  }

  /** Resolves when a text was dropped, or after a time in milliseconds. */
  #woken(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#delay(() => this.#wake?.(), milliseconds);
      this.#wake = () => {
        stop();
        this.#wake = null;
        resolve();
      };
    });
  }

  /** Texts without readers are kept for the next reader as long as there is room. */
  #dropUnread(): void {
    for (const text of this.#texts.values()) {
      if (this.#bytes <= this.#maxBytes) return;
      if (text.readers === 0) this.#drop(text);
    }
  }

  #drop(text: Text<P>): void {
    if (text.pieces === null) return;
    this.#texts.delete(text.key);
    this.#bytes -= text.bytes;
    text.pieces = null;
    this.#wake?.();
  }
}

/** @returns true when `ready` resolves; false if the signal ends the wait first. */
function isSettled(ready: Promise<void>, gone: AbortSignal): Promise<boolean> {
  if (gone.aborted) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    const onGone = () => resolve(false);
    gone.addEventListener('abort', onGone, { once: true });
    const end = () => gone.removeEventListener('abort', onGone);
    ready.then(() => resolve(true), reject).finally(end);
  });
}
