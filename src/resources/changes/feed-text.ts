/** The texts of change sets as a reader gets them: as one array, or as server-sent events. */
import type { TurnQueue } from '../text/turn-queue.ts';
import type { Part } from './change-texts.ts';

/** Bytes after which a piece is sent. */
const SENT_BYTES = 32 * 1024;

const ascii = (text: string): Uint8Array => Buffer.from(text);

const [OPENING, COMMA, CLOSING] = [ascii('['), ascii(','), ascii(']')];
const END_OF_EVENT = ascii(']\n\n');

/**
 * The changes of change sets as one JSON array.
 *
 * @param limit change sets.
 */
export async function* arrayText(
  parts: AsyncIterable<Part>,
  limit: number,
): AsyncGenerator<Uint8Array, void, void> {
  yield OPENING;
  let left = limit;
  for await (const { bytes, isFirst, isLast } of parts) {
    if (isFirst && left < limit) yield COMMA;
    yield bytes;
    if (isLast) left -= 1;
    if (left === 0) break;
  }
  yield CLOSING;
}

/** A part of a server-sent event: its id is the sequence, its data the array of changes. */
export function eventText({ sequence, bytes, isFirst, isLast }: Part): readonly Uint8Array[] {
  const texts = [
    ...(isFirst ? [ascii(`id: ${sequence}\ndata: [`)] : []),
    bytes,
    ...(isLast ? [END_OF_EVENT] : []),
  ];
  return bytes.length >= SENT_BYTES ? texts : [Buffer.concat(texts)];
}

/**
 * Joins short texts until they are long enough to be sent. Texts that are long enough themselves
 * are passed on without a copy, because other readers share them.
 *
 * @param turns the queue in which it waits before each piece.
 */
export async function* gathered(
  texts: AsyncIterable<Uint8Array>,
  turns: TurnQueue,
): AsyncGenerator<Uint8Array, void, void> {
  let [waiting, length]: [Uint8Array[], number] = [[], 0];
  for await (const text of texts) {
    const isLong = text.length >= SENT_BYTES;
    if (!isLong) {
      waiting.push(text);
      length += text.length;
      if (length < SENT_BYTES) continue;
    }
    await turns.next();
    if (waiting.length > 0) yield Buffer.concat(waiting);
    [waiting, length] = [[], 0];
    if (isLong) yield text;
  }
  yield Buffer.concat(waiting);
}
