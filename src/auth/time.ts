/** Times in the files of this folder: whole seconds, written for people (RFC 3339, UTC). */
import * as v from 'valibot';

/** A text such as `2026-11-21T17:25:35Z`; its value is seconds since the epoch. */
export const isoSeconds = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  // The shape alone lets 31 February through.
  v.check((text) => !Number.isNaN(Date.parse(text)) && toIso(Date.parse(text) / 1000) === text),
  v.transform((text) => Date.parse(text) / 1000),
);

/** The end of the year 9999, in seconds since the epoch: RFC 3339 can write no later time. */
const MAX_TIME_S = 253_402_300_799;

/**
 * Whether a value is a time in seconds since the epoch that can be written as a date. It may have a
 * fraction (RFC 7519, section 2). JSON has numbers that are read as infinite, such as 1e400.
 */
export function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIME_S;
}

/** @param seconds since the epoch. */
export function toIso(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Seconds since the epoch, whole. @param now milliseconds since the epoch. */
export function wholeSeconds(now: number): number {
  return Math.floor(now / 1000);
}
