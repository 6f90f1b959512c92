/** Where two texts differ. */

export interface Parts {
  readonly before: string;
  /** What the other text does not have; "" if it only has more. */
  readonly own: string;
  readonly after: string;
}

/** Divides a text into what another one begins and ends with, and what is between. */
export function compare(text: string, other: string): Parts {
  const shorter = Math.min(text.length, other.length);
  let start = 0;
  while (start < shorter && text[start] === other[start]) start += 1;
  // The first half of a character that takes two units would be shown as a character of its own.
  if (isFirstHalf(text, start - 1)) start -= 1;
  let end = 0;
  while (end < shorter - start && text.at(-1 - end) === other.at(-1 - end)) end += 1;
  if (end > 0 && isFirstHalf(text, text.length - end - 1)) end -= 1;
  const last = text.length - end;
  return { before: text.slice(0, start), own: text.slice(start, last), after: text.slice(last) };
}

function isFirstHalf(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(at));
}
