/** Where an archiver begins: it compares histories, claims the archive, and finds where to go on. */
import { randomUUID } from 'node:crypto';
import { CatalogError, hasCode } from '../errors.ts';
import type { LogPosition } from '../store/change-log.ts';
import type { Store } from '../store/store.ts';
import type { ArchiveObjects, Manifest } from './archive-objects.ts';
import { anotherHistory, readBatch } from './batch.ts';
import type { ArchivedBase } from './names.ts';
import type { ArchiveRecord } from './record.ts';

/** Where archiving goes on. */
export interface Resumption {
  /**
   * The change set after which it does: the last one in the archive, or the one before missing ones
   * that the store still keeps; null if the archive needs a base first.
   */
  readonly position: LogPosition | null;
  /** The newest base; null if there is none. */
  readonly base: ArchivedBase | null;
  /** The change set after which a new gap begins; null if there is none. */
  readonly lostAfter: number | null;
}

/** The part of a store that an archive is compared with. */
type History = Pick<Store, 'sequence' | 'digest' | 'oldest' | 'encodedSince'>;

/**
 * Creates or claims the archive.
 *
 * @param writer id of the server that archives from now on.
 * @throws CatalogError `archive_refused` if the archive has another history, or is ahead of the
 *   store; `archive_failed`, `encryption`, `write_refused`.
 */
export async function attach(
  objects: ArchiveObjects,
  store: History,
  record: ArchiveRecord,
  writer: string,
): Promise<void> {
  const recorded = record.read();
  const manifest = (await objects.manifest()) ?? (await begin(objects, recorded));
  const last = (await endsOf(objects, await objects.bases())).at(-1);
  if (last !== undefined && !(await follows(store, last, objects)) && recorded !== manifest.id) {
    throw unprovable(objects, last);
  }
  await objects.claim(writer);
  if (recorded !== manifest.id) await record.write(manifest.id);
}

/**
 * Finds where archiving goes on in an archive of this store, and notes as gaps the change sets at
 * its end that are neither archived nor kept.
 *
 * @throws CatalogError `archive_refused` if the archive has another history; `archive_failed`.
 */
export async function resume(objects: ArchiveObjects, store: History): Promise<Resumption> {
  const bases = await objects.bases();
  const base = bases.at(-1) ?? null;
  const ends = await endsOf(objects, bases);
  const last = ends.at(-1);
  const known = await objects.gaps();
  let position: LogPosition | null = null;
  if (last !== undefined && (await follows(store, last, objects))) {
    position = (await beforeMissing(objects, bases, store.oldest, known)) ?? last;
  }
  const next = position?.sequence ?? Number.POSITIVE_INFINITY;
  const lost = ends.filter(({ sequence }) => sequence < next && !known.has(sequence));
  for (const { sequence } of lost) await objects.putGap(sequence);
  return { position, base, lostAfter: lost[0]?.sequence ?? null };
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

/**
 * @param bases by ascending sequence.
 * @returns the last archived change set and each base after it. Between two of them, and after the
 *   last, no change set is archived.
 */
async function endsOf(
  objects: ArchiveObjects,
  bases: readonly ArchivedBase[],
): Promise<LogPosition[]> {
  for (const [index, base] of [...bases.entries()].toReversed()) {
    let last: LogPosition | null = null;
    for await (const changes of objects.changesAfter(base.sequence - 1)) {
      if (last === null || changes.last > last.sequence) {
        last = { sequence: changes.last, digest: changes.digest };
      }
    }
    if (last !== null) return [last, ...bases.slice(index + 1)];
  }
  return [...bases];
}

/**
 * Finds change sets that are missing in the archive although it has a later base or later change
 * sets: a server died after the base was uploaded and before the change sets were, or an object was
 * damaged and moved away.
 *
 * @param bases by ascending sequence.
 * @param oldest the change set after which the store keeps all.
 * @param known the change sets after which gaps are noted.
 * @returns the change set before the first of them that the store keeps; null if there is none.
 */
async function beforeMissing(
  objects: ArchiveObjects,
  bases: readonly ArchivedBase[],
  oldest: number,
  known: ReadonlySet<number>,
): Promise<LogPosition | null> {
  const kept = Math.max(
    bases.findLastIndex(({ sequence }) => sequence <= oldest),
    0,
  );
  const [first, ...later] = bases.slice(kept);
  if (first === undefined) return null;
  const others = later.values();
  /** The last change set that is there, without a gap since the last base before it. */
  let end: LogPosition = first;
  const isKept = () => end.sequence >= oldest && !known.has(end.sequence);
  const isMissingBefore = ({ sequence }: ArchivedBase) => end.sequence < sequence && isKept();
  for await (const changes of objects.changesAfter(first.sequence)) {
    while (changes.first > end.sequence + 1) {
      const { value: base } = others.next();
      if (base === undefined) return isKept() ? end : null;
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
  store: History,
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
