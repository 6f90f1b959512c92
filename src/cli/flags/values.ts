/** The values of flags and arguments of several commands. */
import { InvalidArgumentError } from 'commander';
import { parsePeriodEnd, parsePeriodStart, PERIOD_BOUND } from '../../resources/query/instants.ts';

export function parseDirectory(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a directory.');
}

export function parseFile(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a file, or "-".');
}

/** @returns the age recipients so far. That each is one shows when it is used. */
export function parseRecipients(text: string, before: readonly string[] = []): string[] {
  if (/^age1[a-z0-9]+$/.test(text)) return [...before, text];
  throw new InvalidArgumentError('Give an age recipient, such as age-keygen -y prints it.');
}

export function parseEntryIds(text: string, before: readonly number[] = []): number[] {
  if (/^[1-9]\d{0,15}$/.test(text)) return [...before, Number(text)];
  throw new InvalidArgumentError('Give ids of audit entries in digits.');
}

/** @returns ISO 8601, UTC, with milliseconds. */
export function parseSince(text: string): string {
  return requireBound(parsePeriodStart(text));
}

/** @returns ISO 8601, UTC, with milliseconds. */
export function parseUntil(text: string): string {
  return requireBound(parsePeriodEnd(text));
}

function requireBound(instant: string | null): string {
  if (instant !== null) return instant;
  throw new InvalidArgumentError(`Give ${PERIOD_BOUND}.`);
}

export function parseIds(text: string, before: readonly number[] = []): number[] {
  if (/^[1-9]\d{0,15}$/.test(text)) return [...before, Number(text)];
  throw new InvalidArgumentError('Give SKU ids in digits.');
}

/** MiB. The audit trail is kept in memory. */
const MAX_AUDIT_SIZE = 1024;

/** @returns bytes. @param text a number of MiB. */
export function parseAuditSize(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= MAX_AUDIT_SIZE) return Number(text) * 2 ** 20;
  throw new InvalidArgumentError(`Give a number of MiB from 0 to ${MAX_AUDIT_SIZE}.`);
}

/** Each worker has the whole state in memory. */
const MAX_WORKERS = 64;

export function parseWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_WORKERS) return Number(text);
  throw new InvalidArgumentError(`Give a number from 1 to ${MAX_WORKERS}.`);
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** Bytes. */
const MAX_STORAGE = 2 ** 40;

/** Bytes: a block of most file systems, and what a start reads in some seconds. */
const CHECKPOINT_SIZE = { min: 2 ** 12, max: 2 ** 30 };

/** @returns bytes, of a number of bytes, KiB, MiB or GiB. */
export function parseHistory(text: string): number {
  return storageSize(text, '0 keeps nothing');
}

/** @returns bytes, of a number of bytes, KiB, MiB or GiB. */
export function parseMinFreeDisk(text: string): number {
  return storageSize(text, '0 leaves the disk out');
}

/** @param zero what 0 means, for the message. */
function storageSize(text: string, zero: string): number {
  const bytes = bytesOf(text);
  if (bytes <= MAX_STORAGE) return bytes;
  throw new InvalidArgumentError(`Give a size such as 256MiB or 2GiB; ${zero}.`);
}

/** @returns bytes, of a number of bytes, KiB, MiB or GiB. */
export function parseCheckpointSize(text: string): number {
  const bytes = bytesOf(text);
  if (bytes >= CHECKPOINT_SIZE.min && bytes <= CHECKPOINT_SIZE.max) return bytes;
  throw new InvalidArgumentError('Give a size from 4KiB to 1GiB, such as 4MiB.');
}

/** NaN for what is no size. */
function bytesOf(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,13})(KiB|MiB|GiB)?$/.exec(text) ?? [];
  return Number(digits) * (UNITS[unit] ?? Number.NaN);
}
