/** Digests of pages and of what they are made from. */
import { createHash } from 'node:crypto';

/** Bytes: enough that finding two inputs with the same digest is not feasible. */
export const DIGEST_LENGTH = 16;

/** The first {@link DIGEST_LENGTH} bytes of SHA-256. */
export function shortDigest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, DIGEST_LENGTH);
}
