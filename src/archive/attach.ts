/** The first step of an archiver: whose history the archive has, how far it is, and the claim. */
import { randomUUID } from 'node:crypto';
import { CatalogError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { ArchiveObjects, Manifest } from './archive-objects.ts';
import { anotherHistory, type Position, readBatch } from './batch.ts';
import type { ArchivedBase } from './names.ts';
import type { ArchiveRecord } from './record.ts';

export interface Attached {
  /** The last change set in the archive; null if it needs a base first. */
  readonly position: Position | null;
  /** The newest base; null if there is none. */
  readonly base: ArchivedBase | null;
  /** The change set after which the store does not keep the next ones; null if nothing is lost. */
  readonly lostAfter: number | null;
}

/**
 * @param writer id of the server that archives from now on.
 * @throws CatalogError `archive_refused` if the archive has another history, or one that is ahead;
 *   `archive_failed`, `encryption`, `write_refused`.
 */
export async function attach(
  objects: ArchiveObjects,
  store: Pick<Store, 'sequence' | 'digest' | 'oldest' | 'encodedSince'>,
  record: ArchiveRecord,
  writer: string,
): Promise<Attached> {
  const recorded = record.read();
  const manifest = (await objects.manifest()) ?? (await begin(objects, recorded));
  const base = (await objects.bases()).at(-1) ?? null;
  const position = base && (await lastPosition(objects, base));
  const isFollowed = position === null || (await follows(store, position, objects));
  if (!isFollowed && recorded !== manifest.id) throw unprovable(objects, position);
  await objects.claim(writer);
  if (recorded !== manifest.id) await record.write(manifest.id);
  if (isFollowed) return { position, base, lostAfter: null };
  return { position: null, base, lostAfter: position.sequence };
}

/** Begins an archive where there is none. */
async function begin(objects: ArchiveObjects, recorded: string | null): Promise<Manifest> {
  if (recorded !== null && (await objects.bases()).length === 0) {
    // An empty place may be a mount that is missing, or another bucket.
    throw new CatalogError(
      'archive_failed',
      `${objects.url} is empty, and this store was archived before: see that the right place is there; to begin a new archive, remove archive.json from the data directory`,
    );
  }
  await objects.createManifest(randomUUID());
  const manifest = await objects.manifest();
  if (manifest === null) {
    throw new CatalogError('archive_failed', `${objects.url} does not keep what is written to it`);
  }
  return manifest;
}

/** @returns the last change set of the archive. */
async function lastPosition(objects: ArchiveObjects, base: ArchivedBase): Promise<Position> {
  let position: Position = base;
  for await (const { last, digest } of objects.changesAfter(base.sequence)) {
    if (last > position.sequence) position = { sequence: last, digest };
  }
  return position;
}

/**
 * @returns whether the change set at the position is one of the store; false if that cannot be known,
 *   because the store does not keep it.
 * @throws CatalogError `archive_refused` if it is not.
 */
async function follows(
  store: Pick<Store, 'sequence' | 'digest' | 'oldest' | 'encodedSince'>,
  position: Position,
  objects: ArchiveObjects,
): Promise<boolean> {
  const { sequence } = position;
  if (sequence > store.sequence) {
    throw new CatalogError(
      'archive_refused',
      `${objects.url} ends with change set ${sequence}, and the store with ${store.sequence}: the store is another, or was restored from an earlier time; name an empty prefix or directory with --archive`,
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
    if (error instanceof CatalogError && error.code === 'history_gone') return false;
    throw error;
  }
}

function unprovable(objects: ArchiveObjects, { sequence }: Position): CatalogError {
  return new CatalogError(
    'archive_refused',
    `${objects.url} ends with change set ${sequence}, which the store does not keep any more, so nothing shows that both have one history; name an empty prefix or directory with --archive`,
  );
}
