/** Passwords: which are accepted, and their hashes by argon2id (RFC 9106), as Bun implements it. */
import { randomBytes } from 'node:crypto';
import { CatalogError } from '../errors.ts';

/** Characters (Unicode code points). */
export const MIN_CODE_POINTS = 8;

/** Bytes in UTF-8. Hashing a longer password would cost time. */
const MAX_BYTES = 1024;

/**
 * Memory in KiB and passes: the least that OWASP recommends for argon2id with one lane. A hash
 * contains its own parameters, so older hashes stay valid if these change.
 */
const ARGON2_PARAMETERS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** Bytes of a salt, and of a digest. */
const HASH_BYTES = 32;

/**
 * @returns the hash, with its parameters and its salt, in the PHC string format.
 * @throws CatalogError `account` if the password is too short or too long.
 */
export function hashPassword(password: string): Promise<string> {
  const fault = passwordFault(password);
  if (fault !== null) throw new CatalogError('account', `a password ${fault}`);
  return Bun.password.hash(normalise(password), ARGON2_PARAMETERS);
}

/** Why an account cannot have the password, such as "must have at least 8 characters"; or null. */
export function passwordFault(password: string): string | null {
  const text = normalise(password);
  if (Array.from(text).length < MIN_CODE_POINTS) {
    return `must have at least ${MIN_CODE_POINTS} characters`;
  }
  return isTooLong(text) ? `must have at most ${MAX_BYTES} bytes` : null;
}

/** Whether a password is the one of a hash. */
export type PasswordCheck = (password: string, hash: string) => Promise<boolean>;

/** Takes the same time for a password that no account can have as for any other. */
export const verifyPassword: PasswordCheck = (password, hash) => {
  const text = normalise(password);
  // Replaced by one that no account can have, because hashPassword refuses it.
  return Bun.password.verify(text === '' || isTooLong(text) ? '-' : text, hash);
};

/**
 * A hash to compare with for names that no account has. No password is known to it: salt and digest
 * are random, so that making it costs nothing, and comparing with it what every comparison costs.
 */
export function dummyHash(): string {
  const { algorithm, memoryCost, timeCost } = ARGON2_PARAMETERS;
  const [salt, digest] = [randomBytes(HASH_BYTES), randomBytes(HASH_BYTES)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$${algorithm}$v=19$m=${memoryCost},t=${timeCost},p=1$${salt}$${digest}`;
}

/** The same text however the keyboard composes letters (NIST SP 800-63B, section 5.1.1.2). */
function normalise(password: string): string {
  // A text of this length is too long in any form.
  return password.length > MAX_BYTES ? password : password.normalize('NFKC');
}

function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_BYTES;
}
