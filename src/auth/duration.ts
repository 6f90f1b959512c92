/** Durations as people write them: `30m`, `8h`. */
import { CatalogError } from '../errors.ts';

const DAY_S = 86_400;

const SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', DAY_S],
  ['w', 7 * DAY_S],
]);

/** The longest lifetime of our tokens, in seconds: ten years. */
export const MAX_LIFETIME_S = 10 * 365 * DAY_S;

/**
 * @param text a whole number and a unit, such as `90s`, `30m`, `8h`, `7d` or `2w`.
 * @returns seconds, from 1 to ten years.
 * @throws CatalogError `usage`.
 */
export function parseDuration(text: string): number {
  const seconds = durationIn(text);
  if (seconds !== null) return seconds;
  throw new CatalogError(
    'usage',
    `${JSON.stringify(text)} is not a duration; write a number and s, m, h, d or w, such as 8h, from one second to ten years`,
  );
}

/** Like {@link parseDuration}, but returns null if the text is not a duration. */
export function durationIn(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS.get(unit) ?? Number.NaN);
  return seconds >= 1 && seconds <= MAX_LIFETIME_S ? seconds : null;
}
