/**
 * JSON objects in files whose last member is `sha256`, the digest of every byte before `,"sha256"`.
 * The digest is over bytes, not over values, so that a person checks it with `head -c` and
 * `sha256sum`.
 */
import { hash } from 'node:crypto';

const CHECKSUM_MEMBER = /^,"sha256":"([0-9a-f]{64})"\}\n$/;

/** A placeholder for a digest that is not known yet. */
const NO_DIGEST = '0'.repeat(64);

export const CHECKSUM_LENGTH = checksumMember(NO_DIGEST).length;

/** @returns the end of a file, given the digest of the bytes before it. */
export function checksumMember(digest: string): string {
  return `,"sha256":"${digest}"}\n`;
}

export interface Checksummed {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/**
 * Encodes a small file. The text before the checksum is padded with spaces to `length`, and each of
 * its levels is indented by `indent` spaces.
 *
 * @param value has at least one member.
 */
export function withChecksum(value: object, { length = 0, indent = 0 } = {}): Checksummed {
  const text = JSON.stringify(value, null, indent).slice(0, -1).padEnd(length);
  // Encoded once: the digest then replaces the zeros.
  const bytes = Buffer.from(text + checksumMember(NO_DIGEST));
  const end = bytes.length - CHECKSUM_LENGTH;
  const digest = hash('sha256', bytes.subarray(0, end), 'hex');
  bytes.write(checksumMember(digest), end, 'latin1');
  return { bytes, digest };
}

/** @returns the digest in the last bytes of a file; undefined if they are not a checksum. */
export function checksumIn(ending: Buffer): string | undefined {
  return CHECKSUM_MEMBER.exec(ending.toString('latin1'))?.[1];
}

/** Separates the content of a file from the checksum at its end, while the bytes arrive. */
export class ChecksumAtEnd {
  #held: Buffer = Buffer.alloc(0);

  /** The last bytes so far: the checksum, if no more come. */
  get bytes(): Buffer {
    return this.#held;
  }

  /**
   * Takes the next bytes, which the caller must not use again.
   *
   * @returns the bytes, in pieces, of which it is now known that they are content.
   */
  take(bytes: Buffer): readonly Buffer[] {
    const isShort = bytes.length < CHECKSUM_LENGTH;
    const content = isShort ? [] : [this.#held];
    const last = isShort ? Buffer.concat([this.#held, bytes]) : bytes;
    const end = Math.max(last.length - CHECKSUM_LENGTH, 0);
    this.#held = last.subarray(end);
    return [...content, last.subarray(0, end)];
  }
}

/** The checksum of a file has another digest than its content. */
export class ChecksumMismatch extends Error {
  constructor() {
    super('its checksum does not match its content');
  }
}

/**
 * Parses a file that may have a checksum. Files of earlier versions have none. If the last bytes are
 * not a checksum, because another program has formatted the file, a member `sha256` means nothing.
 *
 * @returns the value, without a member `sha256`.
 * @throws ChecksumMismatch; SyntaxError if the file is not JSON.
 */
export function parseChecked(bytes: Buffer): unknown {
  const stated = checksumIn(bytes.subarray(-CHECKSUM_LENGTH));
  const content = bytes.subarray(0, -CHECKSUM_LENGTH);
  if (stated !== undefined && stated !== hash('sha256', content, 'hex')) {
    throw new ChecksumMismatch();
  }
  const value: unknown = JSON.parse(bytes.toString());
  if (typeof value === 'object' && value !== null) Reflect.deleteProperty(value, 'sha256');
  return value;
}
