/**
 * The outline of a base: how many rows and bytes each chunk of each table has, and their CRC-32.
 * With it, a start knows where the rows are without searching for them, and need not compute the
 * SHA-256 of the base, which takes ten times as long; without it, a start finds them line by line.
 *
 * Invariants:
 * 1. An outline is valid only for the base whose digest it names. So it describes bytes that the
 *    program itself has written: a base that a person has changed has another digest.
 * 2. Only the duration of a start depends on it: a damaged one is treated as a missing one.
 */
import * as v from 'valibot';
import { join } from 'node:path';
import { DATA_FILES } from '../../../data-files.ts';
import type { Disk } from '../../../disk/disk.ts';
import { writeVolatile } from '../../../disk/durable-file.ts';
import { readFile } from '../../../disk/read-file.ts';
import { CatalogError } from '../../../errors.ts';
import { KIND_NAMES, type KindName } from '../../../model/kind.ts';
import { shapes } from '../change-set.ts';
import { parseShape, verifyChecksum } from '../files.ts';
import { withChecksum } from '../../../json/checksum.ts';

/**
 * The number of a chunk (ids divided by `CHUNK_SIZE`, rounded down), its rows, its bytes and their
 * CRC-32.
 */
export type ChunkOutline = readonly [number: number, rows: number, bytes: number, crc32: number];

export interface Outline {
  /** The digest of the base. */
  readonly base: string;
  /** The CRC-32 of its first line, without the line feed. */
  readonly head: number;
  /** The chunks of each table in order. Their bytes include separators within the chunk. */
  readonly tables: Readonly<Record<KindName, readonly ChunkOutline[]>>;
}

/** One schema for all chunks: a schema for each number would double the time of a start's checks. */
const chunks = v.custom<readonly ChunkOutline[]>(
  (value) => Array.isArray(value) && value.every(isChunkOutline),
);

const shape = v.object({
  base: shapes.digest,
  head: v.custom<number>(isChecksum),
  tables: v.object(v.entriesFromList(KIND_NAMES, chunks)),
});

function isChunkOutline(value: unknown): value is ChunkOutline {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [number, rows, bytes, crc32] = value as unknown[];
  return isAtLeast(number, 0) && isAtLeast(rows, 1) && isAtLeast(bytes, 1) && isChecksum(crc32);
}

function isChecksum(value: unknown): value is number {
  return isAtLeast(value, 0) && (value as number) <= 0xffffffff;
}

function isAtLeast(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** Writes an outline, without a sync: a start does not need it. @throws what the disk throws. */
export function writeOutline(disk: Disk, directory: string, outline: Outline): Promise<void> {
  return writeVolatile(disk, join(directory, DATA_FILES.outline), withChecksum(outline).bytes);
}

/** @returns null if there is none that can be used. */
export function readOutline(disk: Disk, directory: string): Outline | null {
  const path = join(directory, DATA_FILES.outline);
  try {
    const bytes = readFile(disk, path);
    return bytes === null ? null : parseShape(path, shape, verifyChecksum(path, bytes).value);
  } catch (error) {
    // The base can be read without it, and the next checkpoint writes another one.
    if (error instanceof CatalogError) return null;
    throw error;
  }
}
