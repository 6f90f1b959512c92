/**
 * `host.json`: the role of a directory among those that hold the same history, and which host may
 * write to it. A directory that has no followers and follows no other has no such file, and may be
 * written.
 *
 * Invariants:
 * 1. Every directory of one history names it by the same random value, which a follower receives
 *    with its base. A restored backup is another history.
 * 2. An epoch has one writer. The next one begins after the last change set that its writer had
 *    when it was made the primary: change sets that other hosts have beyond that are not part of
 *    the history.
 * 3. The file is replaced atomically and durably: a host that has learned of an epoch does not
 *    forget it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Disk } from '../../disk/disk.ts';
import { withOpen, writeDurably } from '../../disk/durable-file.ts';
import { CatalogError, shellWord } from '../../errors.ts';
import { shapes } from '../files/change-set.ts';
import { parseShape, readFile, verifyChecksum, withChecksum } from '../files/files.ts';

const HOST = 'host.json';

/** Epochs that are kept; a host that has missed more needs a new base in an empty directory. */
const MAX_EPOCHS = 64;

const name = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));

const epoch = v.object({
  /** Ascending from 1. */
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** The name of the one host that writes in it. */
  writer: name,
  /** The last change set before it. */
  after: shapes.count,
});

/** The history of a directory, as hosts send it to each other. */
export const lineageShape = v.object({
  history: name,
  /** The oldest first. The last one is the current one. */
  epochs: v.pipe(v.array(epoch), v.minLength(1), v.maxLength(MAX_EPOCHS)),
});

const recordShape = v.object({
  ...lineageShape.entries,
  /** A `succeeded` host was the primary until another one took its place. */
  role: v.picklist(['primary', 'follower', 'succeeded']),
  /** The host that a follower follows, or that a primary has to notify of its epoch. */
  primary: v.nullable(v.string()),
});

export type Epoch = Readonly<v.InferOutput<typeof epoch>>;

export interface Lineage {
  readonly history: string;
  readonly epochs: readonly Epoch[];
}

export interface HostRecord extends Lineage {
  readonly role: 'primary' | 'follower' | 'succeeded';
  readonly primary: string | null;
}

/** @returns the record of a directory that begins a history of its own. */
export function firstRecord(): HostRecord {
  const first = { number: 1, writer: randomName(), after: 0 };
  return { history: randomName(), epochs: [first], role: 'primary', primary: null };
}

/** The current epoch. */
export function currentEpoch({ epochs }: Lineage): Epoch {
  const last = epochs.at(-1);
  if (last === undefined) throw new Error('a lineage has an epoch');
  return last;
}

/**
 * The record of a directory that is made the primary.
 *
 * @param after its last change set.
 */
export function promoted(record: HostRecord, after: number): HostRecord {
  const next = { number: currentEpoch(record).number + 1, writer: randomName(), after };
  return { ...record, role: 'primary', epochs: [...record.epochs, next].slice(-MAX_EPOCHS) };
}

/**
 * @returns null if the directory has none.
 * @throws CatalogError `store_damaged`, `store_unreadable`.
 */
export function readHostRecord(disk: Disk, directory: string): HostRecord | null {
  const path = join(directory, HOST);
  const bytes = readFile(disk, path);
  return bytes === null ? null : parseShape(path, recordShape, verifyChecksum(path, bytes).value);
}

/** Replaces the record, durably. @throws what the disk throws; CatalogError `durability_unknown`. */
export async function writeHostRecord(
  disk: Disk,
  directory: string,
  { history, role, epochs, primary }: HostRecord,
): Promise<void> {
  const { bytes } = withChecksum({ history, role, epochs, primary });
  await withOpen(disk, directory, (fd) => writeDurably(disk, join(directory, HOST), bytes, fd));
}

/**
 * Checks that the directory may be written according to its record.
 *
 * @throws CatalogError `not_primary`, `store_damaged`, `store_unreadable`.
 */
export function requireWritable(disk: Disk, directory: string): void {
  const record = readHostRecord(disk, directory);
  if (record === null || record.role === 'primary') return;
  const { number } = currentEpoch(record);
  throw new CatalogError(
    'not_primary',
    record.role === 'follower'
      ? `${directory} follows ${record.primary}: write there, or run: catalog-server promote --data ${shellWord(directory)}`
      : `${directory} was the primary's until another host took over in epoch ${number}: run serve --follow with the address of that host, or run: catalog-server promote --data ${shellWord(directory)}, to write here anyway`,
  );
}

function randomName(): string {
  return randomBytes(16).toString('hex');
}
