/**
 * The text of a list, which may be longer than memory should hold for one client.
 *
 * Invariant: what is sent is the list at the moment of the request, however long its client takes.
 * Rows are immutable; what their objects show of other rows is read when the request is made.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** UTF-16 units of one piece; a list that is not longer is one string. */
const PIECE_UNITS = 64 * 1024;

/** JSON text: whole, or in pieces that are made as they are asked for. */
export type ListText = string | AsyncIterable<string>;

/**
 * @param rows of which the first are represented now.
 * @param represent gives the JSON text of a row now.
 * @param represented gives the texts of the rows that are left; called once, before this returns,
 *   if there are any.
 */
export function listText<R>(
  rows: Iterable<R>,
  represent: (row: R) => string,
  represented: (rest: Iterable<R>) => Iterable<string>,
): ListText {
  const iterator = rows[Symbol.iterator]();
  let text = '[';
  for (;;) {
    const { done, value } = iterator.next();
    if (done === true) return `${text}]`;
    text += text.length === 1 ? represent(value) : `,${represent(value)}`;
    if (text.length >= PIECE_UNITS) break;
  }
  return inPieces(text, represented({ [Symbol.iterator]: () => iterator }));
}

/** @param begun the beginning of the list, at least one row long. */
async function* inPieces(begun: string, texts: Iterable<string>): AsyncGenerator<string> {
  let rest = begun;
  for (const text of texts) {
    while (rest.length >= PIECE_UNITS) {
      const end = endOfPiece(rest);
      yield rest.slice(0, end);
      rest = rest.slice(end);
      // A client that takes every piece at once would otherwise hold up all others.
      await nextTurn();
    }
    rest += `,${text}`;
  }
  rest += ']';
  for (let at = 0; at < rest.length; ) {
    const end = at + endOfPiece(rest.slice(at));
    yield rest.slice(at, end);
    at = end;
  }
}

/** @returns where the first piece of a text ends, which one large row can make longer. */
function endOfPiece(text: string): number {
  if (text.length <= PIECE_UNITS) return text.length;
  // The two halves of a surrogate pair are encoded together.
  return isHighSurrogate(text.charCodeAt(PIECE_UNITS - 1)) ? PIECE_UNITS - 1 : PIECE_UNITS;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
