/** The texts of change sets as a reader gets them: as one array, or as server-sent events. */
import { hasCode } from '../../errors.ts';
import type { TurnQueue } from '../text/turn-queue.ts';
import type { Part } from './change-texts.ts';

/** Bytes after which a piece is sent. */
const SENT_BYTES = 32 * 1024;

const ascii = (text: string): Uint8Array => Buffer.from(text);

const [OPENING, COMMA, CLOSING] = [ascii('['), ascii(','), ascii(']')];
const END_OF_EVENT = ascii(']\n\n');

/**
 * The changes of change sets as one JSON array. It ends early, after a whole change set, if the next
 * ones are no longer kept: its reader asks for them, and gets a 410.
 *
 * @param limit change sets.
 * @throws what `parts` throws otherwise.
 */
export async function* arrayText(
  parts: AsyncIterable<Part>,
  limit: number,
): AsyncGenerator<Uint8Array, void, void> {
  yield OPENING;
  let left = limit;
  let isBetween = false;
  try {
    for await (const { bytes, isFirst, isLast } of parts) {
      if (isFirst && left < limit) yield COMMA;
      yield bytes;
      isBetween = isLast;
      if (isLast) left -= 1;
      if (left === 0) break;
    }
  } catch (error) {
    if (!isBetween || !hasCode(error, 'history_gone')) throw error;
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
