/** Sizes, as flags take them: a number of bytes, or of KiB, MiB or GiB. */
import { InvalidArgumentError } from 'commander';

/** Bytes. */
interface SizeRange {
  readonly least: number;
  readonly most: number;
}

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: KIB, MiB: MIB, GiB: GIB };

/** Bytes of what a client sends. */
const SENT: SizeRange = { least: 1, most: GIB };

/** Bytes of what is kept on the disk. */
const MAX_STORAGE = 2 ** 40;

/** Bytes: from a block of most file systems up to what a start reads in some seconds. */
const CHECKPOINT: SizeRange = { least: 4 * KIB, most: GIB };

/** Bytes. The audit trail is kept in memory. */
const MAX_AUDIT_SIZE = GIB;

/** Bytes. An empty catalog needs about half of it. */
const MIN_MEMORY = 128 * MIB;

/** @returns bytes. @throws InvalidArgumentError. */
export function parseSize(text: string): number {
  return within(text, SENT, 'a number of bytes, such as 65536, 512KiB or 8MiB; at most 1GiB');
}

/** @returns a parser of sizes in a range, which returns bytes or throws InvalidArgumentError. */
export function parseSizeWithin(range: SizeRange): (text: string) => number {
  return (text) => within(text, range, `a size from ${range.least} to ${range.most} bytes`);
}

/** @returns bytes. @throws InvalidArgumentError. */
export function parseMemory(text: string): number {
  const range = { least: MIN_MEMORY, most: Number.MAX_SAFE_INTEGER };
  return within(text, range, '128MiB or more, such as 1536MiB or 4GiB');
}

/** @returns bytes. @throws InvalidArgumentError. */
export function parseHistory(text: string): number {
  return storage(text, '0 keeps nothing');
}

/** @returns bytes. @throws InvalidArgumentError. */
export function parseMinFreeDisk(text: string): number {
  return storage(text, '0 turns the check off');
}

/** @returns bytes. @throws InvalidArgumentError. */
export function parseCheckpointSize(text: string): number {
  return within(text, CHECKPOINT, 'a size from 4KiB to 1GiB, such as 4MiB');
}

/**
 * @param text a size; a number without a unit is in MiB.
 * @returns bytes.
 * @throws InvalidArgumentError.
 */
export function parseAuditSize(text: string): number {
  const range = { least: 0, most: MAX_AUDIT_SIZE };
  const size = /^\d+$/.test(text) ? `${text}MiB` : text;
  return within(size, range, 'a number of MiB from 0 to 1024, or a size such as 64MiB');
}

/** @param zero what 0 means, for the message. */
function storage(text: string, zero: string): number {
  const range = { least: 0, most: MAX_STORAGE };
  return within(text, range, `a size such as 256MiB or 2GiB; ${zero}`);
}

/** @param what describes the values that are allowed, for the message. */
function within(text: string, { least, most }: SizeRange, what: string): number {
  const [, digits, unit = ''] = /^(\d{1,13})(KiB|MiB|GiB)?$/.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (bytes >= least && bytes <= most) return bytes;
  throw new InvalidArgumentError(`Give ${what}.`);
}
