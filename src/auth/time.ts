/** Times in the files of accounts and keys: whole seconds in RFC 3339, UTC. */
import * as v from 'valibot';

/** Seconds by which the clocks of two hosts may differ. */
export const LEEWAY_S = 2;

/** A text such as `2026-11-21T17:25:35Z`; its value is seconds since the epoch. */
export const isoSeconds = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  // The pattern alone would accept 31 February.
  v.check((text) => !Number.isNaN(Date.parse(text)) && toIso(Date.parse(text) / 1000) === text),
  v.transform((text) => Date.parse(text) / 1000),
);

/** The end of the year 9999, in seconds since the epoch: the last time that RFC 3339 can write. */
const MAX_TIME_S = 253_402_300_799;

/**
 * Whether a value is a time in seconds since the epoch that can be written as a date. It may have a
 * fraction (RFC 7519, section 2). Some JSON numbers, such as 1e400, are parsed as infinity.
 */
export function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIME_S;
}

/** @param seconds since the epoch. */
export function toIso(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Whole seconds since the epoch. @param now milliseconds since the epoch. */
export function wholeSeconds(now: number): number {
  return Math.floor(now / 1000);
}
