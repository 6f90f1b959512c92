/** The signing keys, from the environment or from a file that only its owner may read. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../data-files.ts';
import type { FileContent } from '../disk/watched-file.ts';
import { CatalogError } from '../errors.ts';
import { FIRST_FAULT } from '../json/first-fault.ts';
import { createPrivate, type PrivateFile, readPrivate } from './private-file.ts';
import { isoSeconds, toIso, wholeSeconds } from './time.ts';

/** HS256 requires a key as long as its hash, 256 bits (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;

export interface SigningKey {
  readonly kid: string;
  readonly secret: Uint8Array;
  /** Seconds since the epoch, as is `until`. Files of earlier versions do not have it. */
  readonly created?: number | undefined;
  /** When tokens of this key stop being valid; set when a newer key has replaced it. */
  readonly until?: number | undefined;
}

/** The first key signs. Each key verifies until it expires. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

const secret = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]+$/),
  v.transform((text) => new Uint8Array(Buffer.from(text, 'base64url'))),
  v.check((bytes) => bytes.length >= SECRET_BYTES),
);
const key = v.object({
  kid: v.pipe(v.string(), v.minLength(1)),
  secret,
  created: v.optional(isoSeconds),
  until: v.optional(isoSeconds),
});
const signing = v.object({ ...key.entries, until: v.optional(v.undefined()) });
const keyFile = v.object({ keys: v.tupleWithRest([signing], key) });

/** @returns the path of the keys of a data directory, a file that may not exist. */
export function keysPath(directory: string): string {
  return join(directory, DATA_FILES.keys);
}

/**
 * The keys of a data directory, created if there are none yet.
 *
 * @param fromEnvironment the value of CATALOG_JWT_SECRET, which replaces the file.
 * @throws CatalogError `key_file`, `durability_unknown`.
 */
export async function loadKeys(
  directory: string,
  fromEnvironment: string | undefined,
): Promise<SigningKeys> {
  if (fromEnvironment !== undefined) return secretKeys(fromEnvironment);
  const path = keysPath(directory);
  return readKeys(path) ?? (await makeKeys(path));
}

/**
 * The key from a value of CATALOG_JWT_SECRET.
 *
 * @throws CatalogError `key_file` if it is too short.
 */
export function secretKeys(fromEnvironment: string): SigningKeys {
  const bytes = new TextEncoder().encode(fromEnvironment);
  if (bytes.length >= SECRET_BYTES) return [{ kid: 'environment', secret: bytes }];
  throw new CatalogError(
    'key_file',
    `CATALOG_JWT_SECRET has ${bytes.length} bytes, at least ${SECRET_BYTES} are needed; make one with: openssl rand -base64 32`,
  );
}

/**
 * @param read see {@link readPrivate}.
 * @returns null if there is no file.
 * @throws CatalogError `key_file`.
 */
export function readKeys(path: string, read?: () => FileContent | null): SigningKeys | null {
  const content = readPrivate({ path, code: 'key_file' }, read);
  if (content === null) return null;
  const parsed = v.safeParse(keyFile, content.json, FIRST_FAULT);
  if (parsed.success) return parsed.output.keys;
  throw new CatalogError(
    'key_file',
    `${path} is not a key file; restore it from a backup, or remove it to make new keys (all tokens then become invalid)`,
  );
}

/** A new key. @param now milliseconds since the epoch. */
export function makeKey(now: number): SigningKey {
  const kid = randomBytes(6).toString('hex');
  return { kid, secret: randomBytes(SECRET_BYTES), created: wholeSeconds(now) };
}

/** The content of the key file. */
export function encodeKeys(keys: SigningKeys): object {
  return {
    keys: keys.map(({ kid, secret: bytes, created, until }) => ({
      kid,
      secret: Buffer.from(bytes).toString('base64url'),
      ...(created !== undefined && { created: toIso(created) }),
      ...(until !== undefined && { until: toIso(until) }),
    })),
  };
}

/**
 * Creates the file with its first key.
 *
 * @throws CatalogError `key_file`, `durability_unknown`.
 */
export function makeKeys(path: string): Promise<SigningKeys> {
  const made: SigningKeys = [makeKey(Date.now())];
  const file: PrivateFile = { path, code: 'key_file' };
  return createPrivate(file, encodeKeys(made), made, () => readKeys(path));
}
