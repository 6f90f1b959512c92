/**
 * The text of a list, which may be longer than memory should hold for one client.
 *
 * Invariant: what is sent is the list at the moment of the request, however long its client takes.
 * Rows are immutable; what their objects show of other rows is read when the request is made.
 */
import { inPieces, PIECE_UNITS } from './pieces.ts';

/** JSON text: whole, or in pieces that are made as they are asked for. */
export type ListText = string | AsyncIterable<string>;

/**
 * @param rows of which the first are represented now.
 * @param represent gives the JSON text of a row now; null if that would take long.
 * @param represented gives the texts of the rows that are left, each in parts; called once, before
 *   this returns, if there are any.
 */
export function listText<R>(
  rows: Iterable<R>,
  represent: (row: R) => string | null,
  represented: (rest: Iterable<R>) => Iterable<Iterable<string>>,
): ListText {
  const iterator = rows[Symbol.iterator]();
  let text = '[';
  for (;;) {
    const { done, value } = iterator.next();
    if (done === true) return `${text}]`;
    const row = represent(value);
    if (row === null) {
      const rest = {
        *[Symbol.iterator]() {
          yield value;
          yield* { [Symbol.iterator]: () => iterator };
        },
      };
      return inPieces(textsOf(text, represented(rest)));
    }
    text += text.length === 1 ? row : `,${row}`;
    if (text.length >= PIECE_UNITS) break;
  }
  return inPieces(textsOf(text, represented({ [Symbol.iterator]: () => iterator })));
}

/** @param begun the beginning of the list. */
function* textsOf(begun: string, rows: Iterable<Iterable<string>>): Generator<string, void> {
  yield begun;
  let isFirst = begun.length === 1;
  for (const parts of rows) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield* parts;
  }
  yield ']';
}
