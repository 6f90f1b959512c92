/** The signing keys: from the environment, or from a file that only its owner may read. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { machineDisk } from '../disk/disk.ts';
import { writeOnce } from '../disk/durable-file.ts';
import { CatalogError, messageOf } from '../errors.ts';

/** HS256 wants a key as long as its hash, 256 bits (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;

const KEYS = 'keys.json';

export interface SigningKey {
  readonly kid: string;
  readonly secret: Uint8Array;
}

/** The first key signs; each of them verifies. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

const secret = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]+$/),
  v.transform((text) => new Uint8Array(Buffer.from(text, 'base64url'))),
  v.check((bytes) => bytes.length >= SECRET_BYTES),
);
const key = v.object({ kid: v.pipe(v.string(), v.minLength(1)), secret });
const keyFile = v.object({ keys: v.tupleWithRest([key], key) });

/**
 * The keys of a data directory, made where there are none yet.
 *
 * @param fromEnvironment the value of CATALOG_JWT_SECRET, which takes the place of the file.
 * @throws CatalogError `key_file`.
 */
export async function loadKeys(
  directory: string,
  fromEnvironment: string | undefined,
): Promise<SigningKeys> {
  if (fromEnvironment !== undefined) {
    const bytes = new TextEncoder().encode(fromEnvironment);
    if (bytes.length >= SECRET_BYTES) return [{ kid: 'environment', secret: bytes }];
    throw new CatalogError(
      'key_file',
      `CATALOG_JWT_SECRET has ${bytes.length} bytes, at least ${SECRET_BYTES} are needed; make one with: openssl rand -base64 32`,
    );
  }
  const path = join(directory, KEYS);
  return readKeys(path) ?? (await makeKeys(path));
}

/**
 * Judges the key file of a data directory, where there is one.
 *
 * @throws CatalogError `key_file`.
 */
export function checkKeys(directory: string): void {
  readKeys(join(directory, KEYS));
}

function readKeys(path: string): SigningKeys | null {
  let bytes: Buffer | null;
  try {
    bytes = machineDisk.read(path);
  } catch (cause) {
    throw new CatalogError(
      'key_file',
      `${path} cannot be read (${messageOf(cause)}); make it readable for the user that runs catalog-server`,
      { cause },
    );
  }
  if (bytes === null) return null;
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new CatalogError('key_file', `${path} may be read by others; run: chmod 600 ${path}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(bytes.toString());
  } catch {
    content = null;
  }
  const parsed = v.safeParse(keyFile, content);
  if (parsed.success) return parsed.output.keys;
  throw new CatalogError(
    'key_file',
    `${path} is not a key file; restore it from a backup, or remove it to make new keys (every token then ends)`,
  );
}

async function makeKeys(path: string): Promise<SigningKeys> {
  const made = { kid: randomBytes(6).toString('hex'), secret: randomBytes(SECRET_BYTES) };
  const text = JSON.stringify({
    keys: [{ kid: made.kid, secret: made.secret.toString('base64url') }],
  });
  try {
    machineDisk.mkdir(dirname(path));
    // Another process may make them at the same moment: whoever is first wins, both use the same.
    if (await writeOnce(machineDisk, path, Buffer.from(`${text}\n`))) return [made];
  } catch (cause) {
    throw new CatalogError('key_file', `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
  const others = readKeys(path);
  if (others !== null) return others;
  throw new CatalogError('key_file', `${path} was removed while it was being made; try again`);
}
