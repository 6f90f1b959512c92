/** Reads JSON values in place, without parsing the object that they belong to. */
import type { Scalar } from '../../model/kind.ts';

const COMMA = 0x2c;
const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
const BRACE = 0x7d;

const BACKSLASH = '\\';

const WORDS: readonly (readonly [word: Buffer, value: boolean | null])[] = [
  [Buffer.from('null'), null],
  [Buffer.from('true'), true],
  [Buffer.from('false'), false],
];

/**
 * @param start of the value, in bytes, within an object without spaces (RFC 8259).
 * @returns undefined if the value is not a natural number, a text without a backslash, a boolean or
 *   null.
 */
export function valueAt(bytes: Buffer, start: number): Scalar | undefined {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) return textAt(bytes, start + 1);
  return first >= ZERO && first <= NINE ? naturalAt(bytes, start) : wordAt(bytes, start);
}

/**
 * @param start of the value, in bytes, as for {@link valueAt}.
 * @returns undefined if it is not a natural number up to 2^53 − 1.
 */
export function naturalAt(bytes: Buffer, start: number): number | undefined {
  let at = start;
  let value = 0;
  let byte = bytes[at] ?? 0;
  for (; byte >= ZERO && byte <= NINE; byte = bytes[at] ?? 0) {
    value = value * 10 + (byte - ZERO);
    at += 1;
  }
  const isPlain = at > start && (bytes[start] !== ZERO || at === start + 1);
  return isPlain && isEnd(byte) && Number.isSafeInteger(value) ? value : undefined;
}

/** @returns an attribute with a value, as it is in the text of a row that we write. */
export function valueText(attribute: string, value: Scalar): Buffer {
  return Buffer.from(`${JSON.stringify(attribute)}:${JSON.stringify(value)}`);
}

/**
 * @param text as {@link valueText} makes it. It cannot be within a string of a row: there, a
 *   backslash would precede each quotation mark.
 * @returns the offset of its next occurrence; −1 if there is none.
 */
export function indexOfValue(bytes: Buffer, text: Buffer, from = 0): number {
  let at = bytes.indexOf(text, from);
  // The value may be the beginning of a longer number.
  while (at >= 0 && !isEnd(bytes[at + text.length] ?? 0)) at = bytes.indexOf(text, at + 1);
  return at;
}

function textAt(bytes: Buffer, start: number): string | undefined {
  const end = bytes.indexOf(QUOTE, start);
  const text = end < 0 ? BACKSLASH : bytes.toString('utf8', start, end);
  return text.includes(BACKSLASH) ? undefined : text;
}

function wordAt(bytes: Buffer, start: number): boolean | null | undefined {
  const found = WORDS.find(
    ([word]) =>
      word.every((byte, index) => bytes[start + index] === byte) &&
      isEnd(bytes[start + word.length] ?? 0),
  );
  return found?.[1];
}

/** Whether a value may end before a byte. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === BRACE;
}
