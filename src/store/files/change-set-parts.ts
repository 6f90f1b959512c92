/**
 * Decoding a large change set in steps: that of a bulk write or an import may have tens of
 * megabytes, and is read while requests are served.
 */
import { createHash } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import { CHECKSUM_LENGTH } from '../../json/checksum.ts';
import { PiecewiseParser } from '../../json/piecewise-parser.ts';
import { inSlices } from '../../slices.ts';
import { piecesOf } from '../../streams.ts';
import type { ChangeSet } from '../change-set.ts';
import { decodeNext, judgeInParts, requireNext } from './change-set.ts';
import { damaged, requireDigest, statedDigest } from './files.ts';

/** Bytes that are hashed, or scanned and parsed, in one step. */
const STEP_BYTES = 64 * 1024;

/** A longer change set is decoded in slices: a millisecond decodes about 100 KiB. */
const MAX_BYTES_AT_ONCE = 256 * 1024;

/**
 * As {@link decodeNext}, but yields to the event loop while it decodes a large change set.
 *
 * @throws CatalogError `store_damaged`.
 */
export async function decodeNextBeside(
  path: string,
  bytes: Buffer,
  sequence: number,
  previous: string | null,
): Promise<ChangeSet> {
  return bytes.length > MAX_BYTES_AT_ONCE
    ? inSlices(decodeNextInParts(path, bytes, sequence, previous))
    : decodeNext(path, bytes, sequence, previous);
}

/**
 * As {@link decodeNext}, in steps.
 *
 * @throws CatalogError `store_damaged`.
 */
export function* decodeNextInParts(
  path: string,
  bytes: Buffer,
  sequence: number,
  previous: string | null,
): Generator<undefined, ChangeSet> {
  const end = Math.max(bytes.length - CHECKSUM_LENGTH, 0);
  const digest = yield* digestOf(bytes.subarray(0, end));
  requireDigest(path, digest, statedDigest(path, bytes.subarray(end)));
  const value = yield* parsed(path, bytes.subarray(0, end));
  return requireNext(path, yield* judgeInParts(path, value, digest), sequence, previous);
}

function* digestOf(bytes: Buffer): Generator<undefined, string> {
  const hash = createHash('sha256');
  for (const piece of piecesOf(bytes, STEP_BYTES)) {
    hash.update(piece);
    yield;
  }
  return hash.digest('hex');
}

/** @param bytes of the change set before its checksum, which is the last member. */
function* parsed(path: string, bytes: Buffer): Generator<undefined, unknown> {
  const parser = new PiecewiseParser(STEP_BYTES);
  try {
    for (const piece of piecesOf(bytes, STEP_BYTES)) {
      parser.take(piece);
      yield;
    }
    parser.take(Buffer.from('}'));
    return parser.end();
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
}
