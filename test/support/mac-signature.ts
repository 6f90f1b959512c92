/** Verifies the signature of an executable for macOS, page by page (Apple: kern/cs_blobs.h). */
import { createHash } from 'node:crypto';

const LC_CODE_SIGNATURE = 0x1d;
const CODE_DIRECTORY = 0xfade0c02;
const HASH_BYTES = 32;

export interface VerifiedPages {
  readonly pages: number;
  /** The first page whose digest is not that of the signature; null if there is none. */
  readonly wrong: number | null;
}

/** @throws Error if there is no signature. */
export function verifyPages(file: Buffer): VerifiedPages {
  let command = 32;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    if (file.readUInt32LE(command) === LC_CODE_SIGNATURE) break;
    command += file.readUInt32LE(command + 4);
  }
  const signature = file.readUInt32LE(command + 8);
  const start = signature + file.readUInt32BE(signature + 16);
  if (file.readUInt32BE(start) !== CODE_DIRECTORY) throw new Error('there is no signature');
  const hashes = start + file.readUInt32BE(start + 16);
  const pages = file.readUInt32BE(start + 28);
  const limit = file.readUInt32BE(start + 32);
  const bytes = 2 ** (file[start + 39] ?? 0);
  for (let page = 0; page < pages; page++) {
    const content = file.subarray(page * bytes, Math.min((page + 1) * bytes, limit));
    const at = hashes + page * HASH_BYTES;
    const digest = createHash('sha256').update(content).digest();
    if (!digest.equals(file.subarray(at, at + HASH_BYTES))) return { pages, wrong: page };
  }
  return { pages, wrong: null };
}
