/** Digests of pages and of what they are made from. */
import { createHash, type Hash } from 'node:crypto';

/** Bytes: enough that finding two inputs with the same digest is not feasible. */
export const DIGEST_LENGTH = 16;

/** The first {@link DIGEST_LENGTH} bytes of SHA-256. */
export function shortDigest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = fullDigest();
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, DIGEST_LENGTH);
}

/** SHA-256, for a caller that has its input in parts. */
export function fullDigest(): Hash {
  return createHash('sha256');
}
