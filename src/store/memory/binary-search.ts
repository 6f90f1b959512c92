/** Binary search. */

/**
 * @param count of some things in order.
 * @param isBefore whether the one at an index comes before the place that is sought.
 * @returns how many come before it.
 */
export function countBefore(count: number, isBefore: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
