/** Cutting texts without cutting a character. */

/**
 * @param end UTF-16 units of a text, at least one.
 * @returns the same number, or one less if the cut would divide a surrogate pair, which UTF-8
 *   encodes as one character.
 */
export function cutBetweenCharacters(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
