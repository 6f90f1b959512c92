/** Weights of `Accept` and `Accept-Encoding` (RFC 9110, section 12.4.2). */

/**
 * Also reads what common clients send against the grammar: no digit before the point, as in the
 * `*; q=.2` of Java, and more than three digits after it.
 *
 * @returns 0 to 1; a malformed weight, or one above 1, is 0, so that its range accepts nothing.
 */
export function parseWeight(text: string): number {
  const weight = /^(?:\d\.?|\d?\.\d+)$/.test(text) ? Number(text) : 0;
  return weight <= 1 ? weight : 0;
}
