/** The first step of an archiver: checks the history of the archive, and claims the archive. */
import { randomUUID } from 'node:crypto';
import { CatalogError, hasCode } from '../errors.ts';
import type { LogPosition } from '../store/change-log.ts';
import type { Store } from '../store/store.ts';
import type { ArchiveObjects, Manifest } from './archive-objects.ts';
import { anotherHistory, readBatch } from './batch.ts';
import type { ArchivedBase } from './names.ts';
import type { ArchiveRecord } from './record.ts';

export interface Attached {
  /**
   * The change set after which archiving continues: the last one in the archive, or the one before
   * missing ones that the store still keeps; null if the archive needs a base first.
   */
  readonly position: LogPosition | null;
  /** The newest base; null if there is none. */
  readonly base: ArchivedBase | null;
  /** The change set after which some are neither archived nor kept; null if nothing is lost. */
  readonly lostAfter: number | null;
}

/**
 * @param writer id of the server that archives from now on.
 * @throws CatalogError `archive_refused` if the archive has another history, or is ahead of the
 *   store; `archive_failed`, `encryption`, `write_refused`.
 */
export async function attach(
  objects: ArchiveObjects,
  store: Pick<Store, 'sequence' | 'digest' | 'oldest' | 'encodedSince'>,
  record: ArchiveRecord,
  writer: string,
): Promise<Attached> {
  const recorded = record.read();
  const manifest = (await objects.manifest()) ?? (await begin(objects, recorded));
  const bases = await objects.bases();
  const base = bases.at(-1) ?? null;
  const last = base && (await lastPosition(objects, base));
  const isFollowed = last === null || (await follows(store, last, objects));
  if (!isFollowed && recorded !== manifest.id) throw unprovable(objects, last);
  await objects.claim(writer);
  if (recorded !== manifest.id) await record.write(manifest.id);
  if (!isFollowed) return { position: null, base, lostAfter: last.sequence };
  const missing = await beforeMissing(objects, bases, store.oldest);
  return { position: missing ?? last, base, lostAfter: null };
}

/** Creates an archive. @throws CatalogError `archive_failed`. */
async function begin(objects: ArchiveObjects, recorded: string | null): Promise<Manifest> {
  if (recorded !== null && (await objects.bases()).length === 0) {
    // An empty place may be a mount that is missing, or another bucket.
    throw new CatalogError(
      'archive_failed',
      `${objects.url} is empty, but this store was archived before: check that it is the right bucket or directory, and that its volume is mounted; to begin a new archive, remove archive.json from the data directory`,
    );
  }
  await objects.createManifest(randomUUID());
  const manifest = await objects.manifest();
  if (manifest === null) {
    throw new CatalogError('archive_failed', `${objects.url} does not keep what is written to it`);
  }
  return manifest;
}

/** @param base the newest one. @returns the last change set of the archive. */
export async function lastPosition(
  objects: ArchiveObjects,
  base: ArchivedBase,
): Promise<LogPosition> {
  let position: LogPosition = base;
  for await (const { last, digest } of objects.changesAfter(base.sequence)) {
    if (last > position.sequence) position = { sequence: last, digest };
  }
  return position;
}

/**
 * Finds change sets that are missing in the archive although it has a later base: a server died
 * after the base was uploaded and before the change sets were.
 *
 * @param bases by ascending sequence.
 * @param oldest the change set after which the store keeps all.
 * @returns the change set before the first of them that the store keeps; null if there is none.
 */
async function beforeMissing(
  objects: ArchiveObjects,
  bases: readonly ArchivedBase[],
  oldest: number,
): Promise<LogPosition | null> {
  const kept = Math.max(
    bases.findLastIndex(({ sequence }) => sequence <= oldest),
    0,
  );
  const [first, ...later] = bases.slice(kept);
  if (first === undefined) return null;
  const known = await objects.gaps();
  const others = later.values();
  /** The last change set that is there, without a gap since the last base before it. */
  let end: LogPosition = first;
  const isMissingBefore = ({ sequence }: ArchivedBase) =>
    end.sequence < sequence && end.sequence >= oldest && !known.has(end.sequence);
  for await (const changes of objects.changesAfter(first.sequence)) {
    while (changes.first > end.sequence + 1) {
      const { value: base } = others.next();
      if (base === undefined) return null;
      if (isMissingBefore(base)) return end;
      if (base.sequence > end.sequence) end = base;
    }
    if (changes.last > end.sequence) end = { sequence: changes.last, digest: changes.digest };
  }
  for (const base of others) {
    if (isMissingBefore(base)) return end;
    if (base.sequence > end.sequence) end = base;
  }
  return null;
}

/**
 * @returns whether the change set at the position is one of the store; false if that is unknown,
 *   because the store does not keep it any more.
 * @throws CatalogError `archive_refused` if it is not.
 */
async function follows(
  store: Pick<Store, 'sequence' | 'digest' | 'oldest' | 'encodedSince'>,
  position: LogPosition,
  objects: ArchiveObjects,
): Promise<boolean> {
  const { sequence } = position;
  if (sequence > store.sequence) {
    throw new CatalogError(
      'archive_refused',
      `${objects.url} ends with change set ${sequence}, and the store with ${store.sequence}: the archive belongs to another store, or this store was restored from an earlier time; name an empty prefix or directory with --archive`,
    );
  }
  if (sequence === store.sequence) {
    if (position.digest !== store.digest) throw anotherHistory(position);
    return true;
  }
  if (sequence < store.oldest) return false;
  try {
    await readBatch(store, position, 1);
    return true;
  } catch (error) {
    if (hasCode(error, 'history_gone')) return false;
    throw error;
  }
}

function unprovable(objects: ArchiveObjects, { sequence }: LogPosition): CatalogError {
  return new CatalogError(
    'archive_refused',
    `${objects.url} ends with change set ${sequence}, which the store no longer keeps, so it cannot be verified that both have the same history; name an empty prefix or directory with --archive`,
  );
}
