/**
 * Sends the reports of imports to clients, which may be many, and slow (spec 12.7).
 *
 * Invariant: a client that takes nothing costs one piece. Clients of a finished import share its
 * bytes. Clients of an unfinished import share its lists, and each has its own copy only of the
 * piece that it takes next.
 */
import { missingItem } from '../../errors.ts';
import { inSlices } from '../../slices.ts';
import { EntityTagger } from '../entity-tag.ts';
import { closable } from '../../streams.ts';
import { inPieces } from '../text/pieces.ts';
import { SharedTexts } from '../text/shared-texts.ts';
import { TurnQueue } from '../text/turn-queue.ts';
import type { ImportMoment } from './import-state.ts';

/** Bytes of the reports that are kept. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;

/** Bytes of a piece, and UTF-16 units up to which a report is sent whole. */
const PIECE_BYTES = 64 * 1024;

/** An import for a client. */
export interface ShownImport {
  /** With its quotes. */
  readonly etag: string;
  /** JSON text. */
  readonly text: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

export class ImportReports {
  readonly #load: (id: number) => Uint8Array | null;
  readonly #shared = new SharedTexts({ maxBytes: MAX_SHARED_BYTES });
  readonly #turns = new TurnQueue();
  readonly #etags = new Map<number, string>();

  /** @param load reads the report of an import that has ended; null if there is none. */
  constructor(load: (id: number) => Uint8Array | null) {
    this.#load = load;
  }

  /** An import that is under way. */
  unfinished({ etag, units, parts }: ImportMoment): ShownImport {
    if (units <= PIECE_BYTES) return { etag, text: [...parts()].join('') };
    return { etag, text: this.#queued(inPieces(parts())) };
  }

  /**
   * An import that has ended.
   *
   * @throws CatalogError `not_found` if its report is lost.
   */
  async finished(id: number): Promise<ShownImport> {
    const pieces = this.#piecesOf(id, new AbortController());
    const { value: first } = await pieces.next();
    await pieces.return();
    const etag = this.#etags.get(id);
    if (first === undefined || etag === undefined) throw missingItem('import', id);
    if (first.isLast) return { etag, text: first.content };
    const closed = new AbortController();
    const bytes = async function* (this: ImportReports) {
      for await (const piece of this.#piecesOf(id, closed)) yield piece.content;
    };
    return { etag, text: closable(this.#queued(bytes.call(this)), closed) };
  }

  /** Call this when an import is not kept any more. */
  forget(id: number): void {
    this.#etags.delete(id);
  }

  #piecesOf(id: number, closed: AbortController) {
    return this.#shared.read(String(id), () => inSlices(this.#make(id)), closed.signal);
  }

  *#make(id: number): Generator<undefined, readonly Uint8Array[]> {
    const bytes = this.#load(id);
    if (bytes === null) throw missingItem('import', id);
    const pieces: Uint8Array[] = [];
    const tagger = new EntityTagger();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      // A copy, because a subarray would keep all bytes in memory.
      const piece = Uint8Array.from(bytes.subarray(at, at + PIECE_BYTES));
      tagger.update(piece);
      pieces.push(piece);
      yield;
    }
    this.#etags.set(id, tagger.tag());
    return pieces;
  }

  async *#queued<T>(pieces: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    for await (const piece of pieces) {
      await this.#turns.next();
      yield piece;
    }
  }
}
