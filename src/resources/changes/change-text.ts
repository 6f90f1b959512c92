/** The text of the changes of one change set, as bytes. */
import type { ChangeSet } from '../../store/change-set.ts';
import { changesIn } from './published.ts';

/** Bytes of a piece, at most. */
export const PIECE_BYTES = 64 * 1024;

/** UTF-16 units that are encoded at once. */
const STEP_UNITS = 16 * 1024;

/** What is shown of changes. */
export interface FeedView {
  /** Whether changes name their subjects. */
  readonly subjects: boolean;
}

const encoder = new TextEncoder();

/**
 * The changes of a change set as JSON, separated by commas, in pieces; none if nothing of it is
 * published. The pieces are the same every time.
 */
export function* changesText(
  changeSet: ChangeSet,
  { subjects }: FeedView,
): Generator<undefined, readonly Uint8Array[]> {
  const pieces = new Pieces();
  let isFirst = true;
  for (const change of changesIn(changeSet)) {
    if (change !== null) {
      pieces.add(isFirst ? change.text(subjects) : `,${change.text(subjects)}`);
      isFirst = false;
    }
    yield;
  }
  return pieces.end();
}

/** Encodes texts into pieces. All but the last one are full, up to a whole character. */
class Pieces {
  readonly #full: Uint8Array[] = [];
  /** The text that is not encoded yet. */
  #text = '';
  #piece: Buffer | null = null;
  #length = 0;

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= STEP_UNITS) this.#encode();
  }

  end(): readonly Uint8Array[] {
    // Most change sets have one row: they take no more memory than their text.
    if (this.#piece === null) return this.#text === '' ? [] : [Buffer.from(this.#text)];
    this.#encode();
    const last = Buffer.from(this.#piece.subarray(0, this.#length));
    return last.length === 0 ? this.#full : [...this.#full, last];
  }

  #encode(): void {
    while (this.#text !== '') {
      this.#piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
      const { read, written } = encoder.encodeInto(this.#text, this.#piece.subarray(this.#length));
      this.#length += written;
      this.#text = this.#text.slice(read);
      if (this.#text === '') return;
      this.#full.push(this.#piece.subarray(0, this.#length));
      this.#piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#length = 0;
    }
  }
}
