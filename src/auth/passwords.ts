/** Checks new passwords and hashes passwords with argon2id (RFC 9106), as implemented by Bun. */
import { randomBytes } from 'node:crypto';
import { CatalogError } from '../errors.ts';

/** Least characters (Unicode code points) of a password. */
export const MIN_CODE_POINTS = 8;

/** Most bytes of a password in UTF-8. Hashing a longer one would cost time. */
const MAX_BYTES = 1024;

/**
 * Memory in KiB and passes: the least that OWASP recommends for argon2id with one lane. A hash
 * contains its own parameters, so older hashes stay valid if these change.
 */
const ARGON2_PARAMETERS = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/**
 * The most that a hash may take: twice the memory of the second choice of RFC 9106, section 4. Hashes
 * that other programs make by their defaults take less, and a server can afford it at a login.
 */
const MAX_MEMORY_MIB = 128;
const MAX_PASSES = 10;
const MAX_LANES = 16;

const PARAMETERS = /^\$argon2id\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9})\$/;

/** Bytes of a salt and of a digest. */
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

/** Whether a text begins as a hash in the PHC string format. */
export function isPasswordHash(text: string): boolean {
  return PARAMETERS.test(text);
}

/** Why a hash must not be compared with, such as "takes more than …"; null if it may. */
export function hashFault(hash: string): string | null {
  const [, memory, passes, lanes] = PARAMETERS.exec(hash)?.map(Number) ?? [];
  const isAffordable =
    Number(memory) <= MAX_MEMORY_MIB * 1024 &&
    Number(passes) <= MAX_PASSES &&
    Number(lanes) <= MAX_LANES;
  return isAffordable
    ? null
    : `takes more than ${MAX_MEMORY_MIB} MiB, ${MAX_PASSES} passes or ${MAX_LANES} lanes`;
}

/** Why a password is refused, such as "must have at least 8 characters"; null if it is not. */
export function passwordFault(password: string): string | null {
  const text = normalise(password);
  if (Array.from(text).length < MIN_CODE_POINTS) {
    return `must have at least ${MIN_CODE_POINTS} characters`;
  }
  return isTooLong(text) ? `must have at most ${MAX_BYTES} bytes` : null;
}

/** Whether a password matches a hash. */
export type PasswordCheck = (password: string, hash: string) => Promise<boolean>;

/** Takes the same time for a password that is never accepted as for any other. */
export const verifyPassword: PasswordCheck = (password, hash) => {
  const text = normalise(password);
  // Replaced by a password that hashPassword refuses, so no account has it.
  return Bun.password.verify(text === '' || isTooLong(text) ? '-' : text, hash);
};

/**
 * A hash to compare with if no account has the name. Its salt and its digest are random, so no
 * known password matches it. It costs nothing to make, and comparing with it costs as much as with
 * any other hash.
 */
export function dummyHash(): string {
  const { algorithm, memoryCost, timeCost } = ARGON2_PARAMETERS;
  const [salt, digest] = [randomBytes(HASH_BYTES), randomBytes(HASH_BYTES)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$${algorithm}$v=19$m=${memoryCost},t=${timeCost},p=1$${salt}$${digest}`;
}

/** Gives the same text however a keyboard composes letters (NIST SP 800-63B, section 5.1.1.2). */
function normalise(password: string): string {
  // A text of this length is too long in any normal form.
  return password.length > MAX_BYTES ? password : password.normalize('NFKC');
}

function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_BYTES;
}
