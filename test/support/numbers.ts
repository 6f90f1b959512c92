/** Numbers to count with. */

/** The numbers from 0 up to `count`, without `count` itself. */
export function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
