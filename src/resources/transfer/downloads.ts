/**
 * Exports that clients download: how many at a time, and how fast they have to be taken (spec 12.2).
 *
 * Invariant: an export takes a place, and keeps old versions of changed rows, until its client has
 * taken it, has gone, or was too slow. A client that stalls cannot keep either.
 */
import { type Clock, machineClock } from '../../delay.ts';
import { CatalogError } from '../../errors.ts';
import type { Kind } from '../../model/kind.ts';
import type { RowSelection } from '../../store/memory/selection.ts';
import { Places } from '../../places.ts';
import type { Exports } from './exports.ts';
import type { Format } from './formats.ts';

/** Exports that are being sent, at most. */
export const MAX_OPEN = 24;

/** Exports of one subject, so that others get places. A copy of the catalog takes six at once. */
export const MAX_OF_SUBJECT = 12;

/** Seconds after which a client may try again. */
const RETRY_AFTER_S = '10';

/** Bytes after which the time of a client begins again. */
const STRETCH_BYTES = 1024 * 1024;

/** As an `ExportFile` (exports.ts). */
export interface Download {
  readonly name: string;
  /** Call its `return` if it is not read to its end. */
  readonly text: AsyncIterableIterator<string, void>;
}

export class Downloads {
  readonly #exports: Pick<Exports, 'open'>;
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #places = new Places({ total: MAX_OPEN, share: MAX_OF_SUBJECT, refusal });

  /** @param timeout milliseconds for a client to take each MiB of an export, or the rest of it. */
  constructor(exports: Pick<Exports, 'open'>, timeout: number, clock = machineClock) {
    this.#exports = exports;
    this.#timeout = timeout;
    this.#clock = clock;
  }

  /**
   * See {@link Exports.open}.
   *
   * @param subject who downloads.
   * @throws CatalogError `busy`, also if there is no place.
   */
  async open(
    kind: Kind,
    format: Format,
    selection: RowSelection,
    subject: string | null,
  ): Promise<Download> {
    const leave = this.#places.take(subject);
    try {
      const { name, text } = await this.#exports.open(kind, format, selection);
      return { name, text: new TimedText(text, this.#timeout, this.#clock, leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

function refusal(limit: 'own' | 'all'): CatalogError {
  const message =
    limit === 'own'
      ? `${MAX_OF_SUBJECT} of your exports are in progress; read one of them to its end first`
      : `${MAX_OPEN} exports are in progress; try again when one of them has ended`;
  return new CatalogError('busy', message, { headers: { 'Retry-After': RETRY_AFTER_S } });
}

/**
 * A text with a time limit for the reader of each MiB. The time that the server takes to make a
 * piece does not count. When the time is over, the text is closed, even if its reader has stalled.
 */
class TimedText implements AsyncIterableIterator<string, void> {
  readonly #pieces: AsyncIterator<string>;
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #onClose: () => void;
  #state: 'open' | 'late' | 'closed' = 'open';
  /** Bytes that were read since the time began. */
  #bytes = 0;
  /** Milliseconds of the time that the reader has used. */
  #waited = 0;
  /** Ends the wait for the reader. */
  #stop: () => void = () => {};

  /** @param onClose called once. */
  constructor(text: AsyncIterable<string>, timeout: number, clock: Clock, onClose: () => void) {
    this.#pieces = text[Symbol.asyncIterator]();
    this.#timeout = timeout;
    this.#clock = clock;
    this.#onClose = onClose;
    this.#wait();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** @throws Error if the reader was too slow. */
  async next(): Promise<IteratorResult<string, void>> {
    this.#stop();
    if (this.#state === 'late') throw new Error(this.#late);
    try {
      const step = await this.#pieces.next();
      if (step.done === true) {
        this.#close('closed');
        return { done: true, value: undefined };
      }
      this.#give(step.value);
      return step;
    } catch (error) {
      this.#close('closed');
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string, void>> {
    // If a piece is being made, the text is closed when the piece is complete.
    await this.#pieces.return?.();
    this.#close('closed');
    return { done: true, value: undefined };
  }

  get #late(): string {
    return `the client read less than 1 MiB of an export in ${this.#timeout / 1000} s`;
  }

  #give(piece: string): void {
    this.#bytes += Buffer.byteLength(piece);
    if (this.#bytes >= STRETCH_BYTES) {
      this.#bytes = 0;
      this.#waited = 0;
    }
    this.#wait();
  }

  #wait(): void {
    const begun = this.#clock.now();
    const stop = this.#clock.after(() => this.#end(), this.#timeout - this.#waited);
    this.#stop = () => {
      this.#stop = () => {};
      stop();
      this.#waited += this.#clock.now() - begun;
    };
  }

  /** The reader is too late. No piece is being made, so the text can be closed at once. */
  #end(): void {
    this.#close('late');
    void this.#pieces.return?.();
  }

  #close(state: 'late' | 'closed'): void {
    this.#stop();
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#onClose();
  }
}
