/** Dates in headers (RFC 9110, section 5.6.7). */

/** The preferred format, then the two obsolete ones, which a recipient must accept. */
const FORMATS = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

const FIFTY_YEARS_MS = 50 * 365.25 * 24 * 3_600_000;

/**
 * @param text the value of a header, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
 * @param now milliseconds since the epoch. A year of two digits is the one in this century, unless
 *   that is more than 50 years in the future: then it is the one a century earlier.
 * @returns milliseconds since the epoch; null if the text is not a date.
 */
export function parseHttpDate(text: string, now: number): number | null {
  const date = FORMATS.map((format) => format.exec(text)?.groups).find(Boolean);
  if (date === undefined) return null;
  const { day, month, year = '', time } = date;
  const inYear = (full: string): number => Date.parse(`${day} ${month} ${full} ${time} GMT`);
  const century = Math.floor(new Date(now).getUTCFullYear() / 100);
  const found = inYear(year.length === 2 ? `${century}${year}` : year);
  if (Number.isNaN(found)) return null;
  const isLastCentury = year.length === 2 && found > now + FIFTY_YEARS_MS;
  return isLastCentury ? inYear(`${century - 1}${year}`) : found;
}
