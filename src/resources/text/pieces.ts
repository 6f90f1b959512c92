/** Long texts in pieces, each made when it is asked for. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** UTF-16 units of one piece, at most. */
const PIECE_UNITS = 64 * 1024;

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MS = 2;

/**
 * Joins texts and cuts them into pieces. The event loop turns between two pieces, and while a piece
 * takes long to make.
 *
 * @param texts each made in well under a millisecond.
 */
export async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  let rest = '';
  let end = performance.now() + SLICE_MS;
  for (const text of texts) {
    rest += text;
    while (rest.length >= PIECE_UNITS) {
      const cut = endOfPiece(rest);
      yield rest.slice(0, cut);
      rest = rest.slice(cut);
      // A client that takes every piece at once would otherwise hold up all others.
      await nextTurn();
      end = performance.now() + SLICE_MS;
    }
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + SLICE_MS;
  }
  if (rest !== '') yield rest;
}

/** A text in pieces. */
export function* piecesOf(text: string): Generator<string, void> {
  let rest = text;
  while (rest.length > PIECE_UNITS) {
    const end = endOfPiece(rest);
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
  if (rest !== '') yield rest;
}

/** @returns where the first piece of a text ends. The halves of a surrogate pair stay together. */
function endOfPiece(text: string): number {
  const last = text.charCodeAt(PIECE_UNITS - 1);
  return last >= 0xd800 && last <= 0xdbff ? PIECE_UNITS - 1 : PIECE_UNITS;
}
