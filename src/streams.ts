/** Bytes that arrive in pieces. */

/**
 * @param enough bytes after which the rest is not read; all are read if it is left out.
 * @returns the bytes of a stream in one piece.
 * @throws what the stream throws.
 */
export async function wholeOf(
  pieces: AsyncIterable<Uint8Array | string>,
  enough = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    // Copies, because the owner of a piece may use its memory again.
    const part = Buffer.from(piece);
    parts.push(part);
    size += part.length;
    if (size >= enough) break;
  }
  return Buffer.concat(parts);
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
