/** Long texts in pieces, each made on demand. */
import { cutBetweenCharacters } from '../../model/characters.ts';
import { inLaterSlices, inSlices } from '../../slices.ts';

/** UTF-16 units of one piece, at most. */
const PIECE_UNITS = 64 * 1024;

/**
 * Joins texts and cuts them into pieces. Returns to the event loop between two pieces, and while it
 * makes a piece that takes long. Only a text that is longer than a piece is cut itself: the rest of
 * a cut text would keep all of it in memory while the client reads the piece.
 *
 * @param texts each made in well under a millisecond.
 */
export async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  const iterator = texts[Symbol.iterator]();
  /** A text that did not fit into the last piece, or what is left of it. */
  let rest = '';
  function* nextPiece(): Generator<undefined, string> {
    let piece = '';
    while (piece.length + rest.length <= PIECE_UNITS) {
      piece += rest;
      const { done, value } = iterator.next();
      rest = done === true ? '' : value;
      if (done === true) return piece;
      yield;
    }
    if (piece !== '') return piece;
    const cut = cutBetweenCharacters(rest, PIECE_UNITS);
    piece = rest.slice(0, cut);
    rest = rest.slice(cut);
    return piece;
  }
  try {
    for (let piece = await inSlices(nextPiece()); piece !== ''; ) {
      yield piece;
      // A client that takes every piece immediately would otherwise block all others.
      piece = await inLaterSlices(nextPiece());
    }
  } finally {
    iterator.return?.();
  }
}
