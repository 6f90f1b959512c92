/**
 * Bounds one rendering. Templates run without a wait, so one that does not end would stop all pages
 * and the end of the server. Steps are counted and not timed, since the pages' thread may get
 * little of a busy processor: the same page always ends the same way.
 */

/**
 * Steps of one rendering: statements, and entries of ranges. It is three times what the built-in
 * templates need for the page of a SKU with the most choices; a million take about half a second.
 */
export const MAX_STEPS = 1_000_000;

let left = MAX_STEPS;

/** Call this when a rendering begins. */
export function beginSteps(): void {
  left = MAX_STEPS;
}

/** @throws Error if the rendering has taken {@link MAX_STEPS}. */
export function countStep(): void {
  left -= 1;
  if (left >= 0) return;
  throw new Error(`gave up after ${MAX_STEPS} statements and entries of ranges: shorten the loops`);
}

/**
 * Replaces the function of nunjucks, which makes arrays of any length, or without end if the step
 * is too small to change the number.
 *
 * @param start of the numbers; the end, if it is the only argument.
 * @param stop the end, which is not one of the numbers.
 * @returns the numbers.
 * @throws Error if the rendering has taken {@link MAX_STEPS}.
 */
export function range(start: number, stop?: number, step?: number): number[] {
  const [first, end, by] = stop === undefined ? [0, start, 1] : [start, stop, step || 1];
  const numbers: number[] = [];
  for (let number = first; by > 0 ? number < end : number > end; number += by) {
    countStep();
    numbers.push(number);
  }
  return numbers;
}
