/**
 * The text of a list, which may be longer than memory should hold for one client.
 *
 * Invariant: what is sent is the list as of the request, however long the client takes.
 * Rows are immutable; what their objects show of other rows is read when the request is made.
 */
import { POOLED_BYTES, PooledBuffer } from './pooled-buffer.ts';
import { inPieces } from './pieces.ts';

/** JSON text: whole, or in pieces that are made on demand. */
export type ListText = string | PooledBuffer | AsyncIterable<string>;

const COMMA = 0x2c;
const OPENING = 0x5b;
const CLOSING = 0x5d;

/**
 * @param rows the first of them are represented now.
 * @param copyText writes the JSON text of a row to the buffer at an offset, and returns its bytes;
 *   0 if there is no room for it, or if it would take long.
 * @param represented gives the texts of the remaining rows, each in parts; called once, before this
 *   returns, if there are any.
 */
export function listText<R>(
  rows: Iterable<R>,
  copyText: (row: R, target: Buffer, at: number) => number,
  represented: (rest: Iterable<R>) => Iterable<Iterable<string>>,
): PooledBuffer | AsyncIterable<string> {
  const iterator = rows[Symbol.iterator]();
  const text = new PooledBuffer();
  const { buffer } = text;
  buffer[0] = OPENING;
  let end = 1;
  for (;;) {
    const { done, value } = iterator.next();
    if (done === true) break;
    const start = end === 1 ? end : end + 1;
    const bytes = copyText(value, buffer, start);
    // The last byte is reserved for the end of the list.
    if (bytes === 0 || start + bytes === POOLED_BYTES) {
      const rest = {
        *[Symbol.iterator]() {
          yield value;
          yield* { [Symbol.iterator]: () => iterator };
        },
      };
      const begun = buffer.toString('utf8', 0, end);
      text.release();
      return inPieces(textsOf(begun, represented(rest)));
    }
    if (start > end) buffer[end] = COMMA;
    end = start + bytes;
  }
  buffer[end] = CLOSING;
  text.length = end + 1;
  return text;
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
