/** The address of an archive: `s3://bucket/prefix`, or `file:///a/directory`. */
import { fileURLToPath } from 'node:url';
import { CatalogError } from '../../errors.ts';
import { directoryStore } from './directory-store.ts';
import type { ObjectStore } from './object-store.ts';
import { type S3Place, s3Store } from './s3-store.ts';

export type ArchiveAddress =
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3' } & S3Place);

type Environment = Readonly<Record<string, string | undefined>>;

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** A slash or a null byte in the name of a file. */
const IMPOSSIBLE = /%(?:2f|00)/i;

/** Credentials have visible characters only; those in a file often end with a line feed. */
const CREDENTIAL = /^[\x21-\x7e]+$/;

/** What the names of the variables of a bucket begin with; the first one takes precedence. */
const PREFIXES: readonly string[] = ['S3', 'AWS'];

/** @returns null if the text is not the address of an archive. */
export function parseArchiveAddress(text: string): ArchiveAddress | null {
  const url = URL.parse(text);
  if (url === null) return null;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return null;
  if (url.protocol === 'file:') {
    if (url.host !== '' || IMPOSSIBLE.test(url.pathname)) return null;
    const path = fileURLToPath(url);
    // The runtime makes nothing of escapes that are not UTF-8, such as `%ff`.
    return path === '' ? null : { kind: 'directory', path };
  }
  if (url.protocol !== 's3:' || !BUCKET.test(url.host)) return null;
  const path = url.pathname.replace(/^\//, '');
  if (path.includes('//') || path.includes('%')) return null;
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  return { kind: 's3', bucket: url.host, prefix };
}

/**
 * @param env with the credentials of a bucket: `S3_ACCESS_KEY_ID`, `S3_SECRET_ACCESS_KEY`,
 *   `S3_SESSION_TOKEN`, `S3_REGION`, `S3_ENDPOINT`, or the same names with `AWS_`. A session token
 *   has the prefix of the access key.
 * @throws CatalogError `usage` if the credentials of a bucket are missing or have white space, or its
 *   region or endpoint is not one.
 */
export function openObjectStore(address: ArchiveAddress, env: Environment): ObjectStore {
  if (address.kind === 'directory') return directoryStore(address.path);
  const setting = (name: string, prefixes = PREFIXES) =>
    prefixes.map((prefix) => env[`${prefix}_${name}`]).find(Boolean);
  const credential = (name: string, prefixes = PREFIXES) => {
    const value = setting(name, prefixes);
    if (value === undefined || CREDENTIAL.test(value)) return value;
    throw new CatalogError(
      'usage',
      `AWS_${name} or S3_${name} has a space, a line feed or another character that no credential has; remove it`,
    );
  };
  const accessKeyId = credential('ACCESS_KEY_ID');
  const secretAccessKey = credential('SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new CatalogError(
      'usage',
      'the archive is in a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION or AWS_ENDPOINT',
    );
  }
  // A store refuses a token that was not issued with the access key.
  const issuers = setting('ACCESS_KEY_ID', ['S3']) === undefined ? PREFIXES : ['S3'];
  return s3Store(address, {
    accessKeyId,
    secretAccessKey,
    sessionToken: credential('SESSION_TOKEN', issuers),
    region: setting('REGION'),
    endpoint: setting('ENDPOINT'),
  });
}
