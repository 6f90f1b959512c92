import { CatalogError } from '../errors.ts';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** The longest that a token of ours may live, in seconds: ten years. */
export const LONGEST_LIFETIME = 10 * 365 * SECONDS.d;

/**
 * @param text a whole number and a unit, such as `90s`, `30m`, `8h`, `7d` or `2w`.
 * @returns seconds, from 1 to ten years.
 * @throws CatalogError `usage`.
 */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
  if (seconds >= 1 && seconds <= LONGEST_LIFETIME) return seconds;
  throw new CatalogError(
    'usage',
    `${JSON.stringify(text)} is no duration; write a number and s, m, h, d or w, such as 8h, up to ten years`,
  );
}
