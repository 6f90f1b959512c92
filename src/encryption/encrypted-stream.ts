/**
 * Authenticated encryption of streams of any length in constant memory: AES-256-GCM in chunks, in
 * the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption and
 * its Nonce-Reuse Misuse-Resistance, 2015).
 *
 *     "catalog-encrypted 1\n"   20 bytes
 *     salt                      32 bytes
 *     chunks                    64 KiB of content each, less in the last one if need be, and a tag
 *                               of 16 bytes
 *
 * The key of a stream is HKDF-SHA256 of the given key with the salt, and the first 20 bytes of the
 * stream as info. The nonce of a chunk is its number, from 0, in 11 bytes, and a byte that is 1 for
 * the last chunk and 0 for all others.
 *
 * Invariants:
 * 1. No two chunks are encrypted with the same key and nonce: every stream has a random salt.
 * 2. A chunk is passed on only after its tag was verified. The tag detects a changed chunk. A moved
 *    or missing chunk, or a stream that is cut off, fails because the nonce of a chunk differs.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { CatalogError } from '../errors.ts';

const MAGIC = Buffer.from('catalog-encrypted 1\n');
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
const ALGORITHM = 'aes-256-gcm';

/** Bytes of a key. */
export const KEY_BYTES = 32;

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * @param key of 32 bytes.
 * @param content in pieces of any length. A piece is used up before the next one is requested.
 * @returns the encrypted bytes, a chunk at a time.
 */
export async function* encrypted(key: Uint8Array, content: Pieces): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(SALT_BYTES);
  const chunks = new Chunks(streamKey(key, salt));
  yield Buffer.concat([MAGIC, salt]);
  for await (const chunk of rechunked(content, CHUNK_BYTES)) {
    yield chunks.seal(chunk.bytes, chunk.isLast);
  }
}

/**
 * @param name of the stream, for messages.
 * @param stream encrypted bytes in pieces of any length.
 * @returns the content, a chunk at a time. It is complete only if the generator ends without error.
 * @throws CatalogError `encryption` if the stream was not encrypted with this key, is damaged, or
 *   ends early.
 */
export async function* decrypted(
  key: Uint8Array,
  name: string,
  stream: Pieces,
): AsyncGenerator<Uint8Array> {
  let chunks: Chunks | null = null;
  const header = MAGIC.length + SALT_BYTES;
  for await (const { bytes, isLast } of rechunked(stream, CHUNK_BYTES + TAG_BYTES, header)) {
    if (chunks !== null) {
      yield chunks.open(name, bytes, isLast);
      continue;
    }
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC) || isLast) {
      throw new CatalogError('encryption', `${name} is not encrypted, or it is cut off`);
    }
    chunks = new Chunks(streamKey(key, bytes.subarray(MAGIC.length)));
  }
}

/** @param start the first bytes of a stream, at least one. */
export function isEncrypted(start: Uint8Array): boolean {
  return (
    start.length > 0 && MAGIC.subarray(0, start.length).equals(start.subarray(0, MAGIC.length))
  );
}

/** @returns the key of one stream (RFC 5869). */
function streamKey(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, MAGIC, KEY_BYTES));
}

/** The chunks of one stream, in order. */
class Chunks {
  readonly #key: Uint8Array;
  #number = 0n;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(chunk: Uint8Array, isLast: boolean): Buffer {
    const cipher = createCipheriv(ALGORITHM, this.#key, this.#nonce(isLast));
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }

  open(name: string, sealed: Buffer, isLast: boolean): Buffer {
    const end = Math.max(sealed.length - TAG_BYTES, 0);
    const cipher = createDecipheriv(ALGORITHM, this.#key, this.#nonce(isLast), {
      authTagLength: TAG_BYTES,
    });
    try {
      cipher.setAuthTag(sealed.subarray(end));
      return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
    } catch (cause) {
      throw new CatalogError(
        'encryption',
        `${name} cannot be decrypted: it is damaged or cut off, or was encrypted with another key`,
        { cause },
      );
    }
  }

  #nonce(isLast: boolean): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(this.#number, 3);
    nonce[11] = isLast ? 1 : 0;
    this.#number += 1n;
    return nonce;
  }
}

/**
 * @param first bytes of the first chunk, if they differ from `size`.
 * @returns chunks of `size` bytes. The last one may be shorter, and may be empty if it is the only
 *   one.
 */
async function* rechunked(
  pieces: Pieces,
  size: number,
  first = size,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }> {
  let wanted = first;
  let held: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    // A copy, because the owner of the piece may reuse its memory.
    held.push(Buffer.from(piece));
    length += piece.length;
    // One byte beyond a chunk shows that it is not the last one.
    if (length <= wanted) continue;
    const all = Buffer.concat(held);
    let start = 0;
    while (length - start > wanted) {
      yield { bytes: all.subarray(start, start + wanted), isLast: false };
      start += wanted;
      wanted = size;
    }
    held = [all.subarray(start)];
    length -= start;
  }
  yield { bytes: Buffer.concat(held), isLast: true };
}
