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
 * 3. Numbers of epochs are not used twice: a promotion begins one above all that its directory has
 *    learned of. Two hosts that do not know each other's epoch may still begin the same one; then
 *    their writers differ.
 * 4. The file is replaced atomically and durably: a host that has learned of an epoch does not
 *    forget it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { replaceFile } from '../../disk/durable-file.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError, shellWord } from '../../errors.ts';
import { shapes } from '../files/change-set.ts';
import { DamagedFile, parseShape, verifyChecksum } from '../files/files.ts';
import { withChecksum } from '../../json/checksum.ts';

/** Epochs that are kept; a host that has missed more needs a new base in an empty directory. */
const MAX_EPOCHS = 64;

/** Predecessors that are kept; the oldest is dropped. */
const MAX_PREDECESSORS = 8;

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

/** Addresses of earlier primaries that have not been informed of the current epoch. */
export const predecessorsShape = v.pipe(v.array(v.string()), v.maxLength(MAX_PREDECESSORS));

const recordShape = v.object({
  ...lineageShape.entries,
  /** A `succeeded` host was the primary until another one took its place. */
  role: v.picklist(['primary', 'follower', 'succeeded']),
  /** The host that a follower follows. Earlier versions: also the one that a primary informs. */
  primary: v.nullable(v.string()),
  /** Earlier versions did not write these two. */
  latest: v.optional(v.pipe(v.number(), v.safeInteger())),
  predecessors: v.optional(predecessorsShape, []),
});

export type Epoch = Readonly<v.InferOutput<typeof epoch>>;

export interface Lineage {
  readonly history: string;
  readonly epochs: readonly Epoch[];
}

export interface HostRecord extends Lineage {
  readonly role: 'primary' | 'follower' | 'succeeded';
  /** The host that a follower follows; null in other roles. */
  readonly primary: string | null;
  /** The number of the latest epoch that this host knows of: its own, or one of another host. */
  readonly latest: number;
  /** See {@link predecessorsShape}. A primary informs them; the newest is first. */
  readonly predecessors: readonly string[];
}

/** @returns the record of a directory that begins a history of its own. */
export function firstRecord(): HostRecord {
  const first = { number: 1, writer: randomName(), after: 0 };
  return {
    history: randomName(),
    epochs: [first],
    role: 'primary',
    primary: null,
    latest: first.number,
    predecessors: [],
  };
}

/**
 * The record of a directory that follows a primary.
 *
 * @param primary its address.
 * @param state of the primary, whose predecessors this host informs if it takes its place.
 */
export function followerRecord(
  primary: string,
  state: Lineage & Pick<HostRecord, 'predecessors'>,
): HostRecord {
  const { history, epochs, predecessors } = state;
  const latest = currentEpoch(state).number;
  return { history, epochs, role: 'follower', primary, latest, predecessors };
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
 * @param others addresses of further hosts that are to be informed.
 */
export function promoted(
  record: HostRecord,
  after: number,
  others: readonly string[] = [],
): HostRecord {
  const number = record.latest + 1;
  const { primary } = record;
  const predecessors = [...others, ...(primary === null ? [] : [primary]), ...record.predecessors];
  return {
    history: record.history,
    epochs: [...record.epochs, { number, writer: randomName(), after }].slice(-MAX_EPOCHS),
    role: 'primary',
    primary: null,
    latest: number,
    predecessors: [...new Set(predecessors)].slice(0, MAX_PREDECESSORS),
  };
}

/**
 * @returns null if the directory has none.
 * @throws CatalogError `store_damaged`, `store_unreadable`.
 */
export function readHostRecord(disk: Disk, directory: string): HostRecord | null {
  const path = join(directory, DATA_FILES.host);
  const bytes = readFile(disk, path);
  if (bytes === null) return null;
  const record = parse(path, bytes);
  const { role, primary, predecessors, latest = currentEpoch(record).number } = record;
  if (role === 'follower' || primary === null) return { ...record, latest };
  return { ...record, latest, primary: null, predecessors: [primary, ...predecessors] };
}

function parse(path: string, bytes: Buffer) {
  try {
    return parseShape(path, recordShape, verifyChecksum(path, bytes).value);
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    throw error.advising('no backup contains it: see "Damage" in docs/storage.md');
  }
}

/** Replaces the record, durably. @throws what the disk throws; CatalogError `durability_unknown`. */
export async function writeHostRecord(
  disk: Disk,
  directory: string,
  { history, role, epochs, primary, latest, predecessors }: HostRecord,
): Promise<void> {
  const { bytes } = withChecksum({ history, role, epochs, primary, latest, predecessors });
  await replaceFile(disk, join(directory, DATA_FILES.host), bytes);
}

/**
 * Checks that the directory may be written according to its record.
 *
 * @throws CatalogError `not_primary`, `store_damaged`, `store_unreadable`.
 */
export function requireWritable(disk: Disk, directory: string): void {
  const record = readHostRecord(disk, directory);
  if (record === null || record.role === 'primary') return;
  throw new CatalogError(
    'not_primary',
    record.role === 'follower'
      ? `${directory} follows ${record.primary}: write there, or run: catalog-server promote --data ${shellWord(directory)}`
      : `${directory} belonged to the primary until another host took over in epoch ${record.latest}: run serve --follow with the address of that host, or run: catalog-server promote --data ${shellWord(directory)}, to write here anyway`,
  );
}

function randomName(): string {
  return randomBytes(16).toString('hex');
}
