/** Lines of a stream of bytes. */
import { Slice } from '../../slices.ts';

/** A line is longer than the limit. */
export class LineTooLong extends Error {}

const LINE_FEED = 0x0a;

/**
 * The lines of a stream, each with its line feed. Bytes after the last line feed are dropped,
 * because their line was cut off. Memory holds one line. The event loop turns now and then, also if
 * the stream never pauses.
 *
 * @param limit bytes of a line.
 * @throws LineTooLong if a line is longer; and what `pieces` throws.
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Buffer, void, void> {
  let held: Uint8Array[] = [];
  let size = 0;
  const slice = new Slice();
  for await (const piece of pieces) {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(LINE_FEED, start);
      const part = piece.subarray(start, end < 0 ? piece.length : end + 1);
      size += part.length;
      if (size > limit) throw new LineTooLong(`a line is longer than ${limit} bytes`);
      if (part.length > 0) held.push(part);
      if (end < 0) break;
      yield Buffer.concat(held);
      held = [];
      size = 0;
      start = end + 1;
      if (slice.isOver) await slice.next();
    }
  }
}
