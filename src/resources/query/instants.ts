/** The bounds of a period: instants and days of ISO 8601, as the audit trail writes its times. */

/** What a bound must be, for messages. */
export const PERIOD_BOUND =
  'a date such as 2026-11-21, or an instant with its offset from UTC such as 2026-11-21T08:00:00Z';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Characters of `2026-11-21T08:00:00.000Z`: texts of this length sort like the instants. */
const LENGTH = 24;

/**
 * @param text an instant with its offset, or a day of UTC, which stands for its beginning.
 * @returns ISO 8601 in UTC with milliseconds; null if the text is neither.
 */
export function parsePeriodStart(text: string): string | null {
  return DAY.test(text) ? instantIn(text, `${text}T00:00:00.000Z`) : parseInstant(text);
}

/**
 * @param text an instant with its offset, or a day of UTC, which stands for its end.
 * @returns the last instant of the period, as {@link parsePeriodStart}.
 */
export function parsePeriodEnd(text: string): string | null {
  return DAY.test(text) ? instantIn(text, `${text}T23:59:59.999Z`) : parseInstant(text);
}

function parseInstant(text: string): string | null {
  const [, day] = INSTANT.exec(text) ?? [];
  return day === undefined ? null : instantIn(day, text);
}

/** @param day the date in the text, checked because Date rolls 30 February over to March. */
function instantIn(day: string, text: string): string | null {
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return null;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return null;
  const iso = instant.toISOString();
  return iso.length === LENGTH ? iso : null;
}
