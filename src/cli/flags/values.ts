/** The values of flags and arguments of several commands. */
import { InvalidArgumentError } from 'commander';
import { parsePeriodEnd, parsePeriodStart, PERIOD_BOUND } from '../../resources/query/instants.ts';
import { STANDARD_STREAM } from '../standard-stream.ts';

/** @returns a path of a directory, which need not exist. @throws InvalidArgumentError. */
export function parseDirectory(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a directory.');
}

/** @returns a path of a file, which need not exist. @throws InvalidArgumentError. */
export function parseFile(text: string): string {
  if (text === STANDARD_STREAM)
    throw new InvalidArgumentError('Name a file; "-" is not possible here.');
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a file.');
}

/** @returns a path, or "-" for standard input or output. @throws InvalidArgumentError. */
export function parseFileOrStream(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a file, or "-".');
}

/**
 * @returns the age recipients so far. Whether they are valid shows when they are used.
 * @throws InvalidArgumentError.
 */
export function parseRecipients(text: string, before: readonly string[] = []): string[] {
  if (/^age1[a-z0-9]+$/.test(text)) return [...before, text];
  throw new InvalidArgumentError('Give an age recipient, as printed by age-keygen -y.');
}

/**
 * @returns a parser of ids, which returns those so far, with repetitions, or throws
 *   InvalidArgumentError. Whether they exist shows when they are used.
 */
function idsParser(what: string): (text: string, before?: readonly number[]) => number[] {
  return (text, before = []) => {
    const id = Number(text);
    // A larger number is rounded, so a message would name an id that nobody gave.
    if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return [...before, id];
    throw new InvalidArgumentError(`Give ${what} in digits, at most ${Number.MAX_SAFE_INTEGER}.`);
  };
}

export const parseEntryIds = idsParser('ids of audit entries');
export const parseSkuIds = idsParser('SKU ids');

/**
 * @returns the first instant of the given period: ISO 8601, UTC, with milliseconds.
 * @throws InvalidArgumentError.
 */
export function parseSince(text: string): string {
  return requireBound(parsePeriodStart(text));
}

/** @returns the last instant of the given period, as {@link parseSince}. */
export function parseUntil(text: string): string {
  return requireBound(parsePeriodEnd(text));
}

function requireBound(instant: string | null): string {
  if (instant !== null) return instant;
  throw new InvalidArgumentError(`Give ${PERIOD_BOUND}.`);
}

/** Each worker has the whole state in memory. */
const MAX_WORKERS = 64;

/**
 * @returns the number of workers; 1 stands for none, since the owner of the data serves then.
 * @throws InvalidArgumentError.
 */
export function parseWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_WORKERS) return Number(text);
  throw new InvalidArgumentError(`Give a number from 1 to ${MAX_WORKERS}.`);
}
