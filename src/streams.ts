/** Streams, of bytes in pieces and of other values. */

/** @returns the bytes of a stream in one piece. @throws what the stream throws. */
export async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  // Copies, because the owner of a piece may use its memory again.
  for await (const piece of pieces) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

/** @returns the bytes in pieces of a size, without copies; the last piece is the rest. */
export function piecesOf(bytes: Buffer, size: number): Generator<Buffer>;
export function piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array>;
export function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** @returns a value, and then those of a stream. */
export async function* following<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

/** @returns the pieces. @throws what `tooLong` returns if they have more bytes than the limit. */
export async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  limit: number,
  tooLong: () => Error,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > limit) throw tooLong();
    yield piece;
  }
}

/** @returns the values of a stream. @throws what `tooMany` returns if there are more than the limit. */
export async function allOf<T>(
  values: AsyncIterable<T>,
  limit: number,
  tooMany: () => Error,
): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) {
    if (all.length === limit) throw tooMany();
    all.push(value);
  }
  return all;
}

/**
 * A stream that can be closed while it waits for its next value, because its reader has gone.
 *
 * @param closed is aborted if the stream is closed before its end: a waiting generator would
 *   otherwise close only at its next value.
 * @param close called at the end of the stream, and when it is closed, even if it has not begun.
 *   Later calls must have no effect.
 */
export function closable<T>(
  stream: AsyncGenerator<T>,
  closed: AbortController,
  close = () => Promise.resolve(),
): AsyncIterable<T> {
  const values = (async function* () {
    try {
      yield* stream;
    } finally {
      await close();
    }
  })();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => values.next(),
      async return() {
        closed.abort();
        await values.return(undefined);
        await close();
        return { done: true, value: undefined };
      },
    }),
  };
}
