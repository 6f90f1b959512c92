/** The values of flags and arguments: from the text of a shell to what a command works with. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../auth/duration.ts';
import { isRole, ROLES, type Role } from '../../auth/roles.ts';
import { MAX_ID_LENGTH } from '../../auth/tokens.ts';
import { messageOf } from '../../errors.ts';
import { ANY_ORIGIN } from '../../http/rules/cors.ts';

export function parseDirectory(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a directory.');
}

export function parseFile(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a file, or "-".');
}

export function parseHost(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name an address, such as 127.0.0.1 or 0.0.0.0.');
}

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
}

/** "/" is no base path; a slash at the end says nothing. */
export function parseBasePath(text: string): string {
  const path = text.replace(/\/$/, '');
  if (/^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)*$/.test(path)) return path;
  throw new InvalidArgumentError('Give a path that begins with a slash, such as /api.');
}

export function parseSubject(text: string): string {
  if (text.trim() !== '' && text.length <= 255) return text;
  throw new InvalidArgumentError('Name a person or a program in 1 to 255 characters.');
}

export function parseLifetime(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

/** As a lifetime, or none at all. */
export function parseOverlap(text: string): number {
  return /^0{1,9}[smhdw]$/.test(text) ? 0 : parseLifetime(text);
}

/** Letters and digits of any script and a few marks, in the form in which logins are compared. */
export function parseUserName(text: string): string {
  const name = text.normalize('NFC');
  if (/^[\p{L}\p{M}\p{N}._@+-]{1,64}$/u.test(name) && !name.startsWith('-')) return name;
  throw new InvalidArgumentError('Give 1 to 64 letters, digits, or any of . _ @ + -');
}

export function parseRole(text: string): Role {
  if (isRole(text)) return text;
  throw new InvalidArgumentError(`Give one of ${ROLES.join(', ')}.`);
}

export function parseTokenId(text: string): string {
  if (text !== '' && text.length <= MAX_ID_LENGTH) return text;
  throw new InvalidArgumentError(`Give the jti of a token, 1 to ${MAX_ID_LENGTH} characters.`);
}

export function parseIds(text: string, before: readonly number[] = []): number[] {
  if (/^[1-9]\d{0,15}$/.test(text)) return [...before, Number(text)];
  throw new InvalidArgumentError('Give SKU ids in digits.');
}

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20 };

/** The largest body that a command line can ask for, in bytes. */
const LARGEST_BODY = 2 ** 30;

/** Bytes, as such or in KiB or MiB. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,10})(KiB|MiB)?$/.exec(text) ?? [];
  const size = Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (size >= 1 && size <= LARGEST_BODY) return size;
  throw new InvalidArgumentError(
    'Give a number of bytes, such as 65536, 512KiB or 8MiB; at most 1024MiB.',
  );
}

/** The longest audit trail that a command line can ask for, in MiB: it is kept in memory. */
const LARGEST_AUDIT = 1024;

/** @returns bytes, of a number of MiB. */
export function parseAuditSize(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= LARGEST_AUDIT) return Number(text) * 2 ** 20;
  throw new InvalidArgumentError(`Give a number of MiB from 0 to ${LARGEST_AUDIT}.`);
}

/** Origins (RFC 6454), one or several with commas between them; more than one flag adds up. */
export function parseOrigins(text: string, before: readonly string[] = []): string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  for (const origin of origins) {
    if (origin === ANY_ORIGIN || isOrigin(origin)) continue;
    throw new InvalidArgumentError(
      'Give origins such as https://shop.example, without a path and in lower case, or "*".',
    );
  }
  return [...before, ...origins];
}

/** As browsers send it: a page has no other scheme, and no host has a star. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
