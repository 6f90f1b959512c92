/**
 * `head.json`: names the last change set that was answered. Without it, a loss of the last change
 * sets would go unnoticed, since no later one would show the gap.
 *
 * Invariant: the change set that it names is durable. It is overwritten in place, after the change
 * set is durable and before the answer. It is not synced: power loss may leave an older head, never
 * one that is newer than the history. It is smaller than a sector, which a device writes whole, and
 * its length is always the same: a file system may record a new length without the bytes that
 * belong to it.
 */
import * as v from 'valibot';
import type { Disk } from '../../disk/disk.ts';
import { readFile } from '../../disk/read-file.ts';
import type { LogPosition } from '../change-log.ts';
import { shapes } from './change-set.ts';
import { parseShape, verifyChecksum } from './files.ts';
import { withChecksum } from '../../json/checksum.ts';

/** How often a reader reads a head that is being overwritten. */
const MAX_READ_ATTEMPTS = 10;

const headShape = v.object({ sequence: shapes.count, digest: shapes.digest });

/** Characters before the checksum, whatever the sequence. */
const LENGTH = JSON.stringify({ sequence: Number.MAX_SAFE_INTEGER, digest: 'f'.repeat(64) }).length;

/**
 * @returns bytes whose length does not depend on the head, so that it can be overwritten in place.
 */
export function encodeHead({ sequence, digest }: LogPosition): Uint8Array {
  return withChecksum({ sequence, digest }, { length: LENGTH }).bytes;
}

/**
 * @returns null if there is none.
 * @throws CatalogError `store_damaged`, `store_unreadable`.
 */
export function readHead(disk: Disk, path: string): LogPosition | null {
  for (let attempt = 1; ; attempt += 1) {
    const bytes = readFile(disk, path);
    if (bytes === null) return null;
    try {
      return parseShape(path, headShape, verifyChecksum(path, bytes).value);
    } catch (error) {
      if (attempt === MAX_READ_ATTEMPTS) throw error;
    }
  }
}
