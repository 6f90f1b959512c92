/** Removes old objects from an archive. */
import type { ArchiveObjects } from './archive-objects.ts';
import { newestUntil } from './times.ts';

/**
 * Removes the bases and change sets that no restore to a time within `keep` needs: those before the
 * newest base that is not later than its beginning.
 *
 * Bases are removed first. If that is interrupted, change sets without a base remain. No restore
 * uses them, and the next call removes them.
 *
 * @param keep milliseconds.
 * @param now milliseconds since the epoch.
 * @throws CatalogError `archive_failed`.
 */
export async function prune(objects: ArchiveObjects, keep: number, now: number): Promise<void> {
  const bases = await objects.bases();
  const since = new Date(Math.max(now - keep, 0)).toISOString();
  const end = new Date(now).toISOString();
  // A clock that was ahead for a while may have made bases of the future: they would all stay.
  const past = bases.filter(({ time }) => time === null || time <= end);
  const first = newestUntil(past, since);
  if (first === undefined) return;
  for (const base of bases) {
    if (base.sequence >= first.sequence) break;
    await objects.removeBase(base);
  }
  // From the beginning of the folder: its names sort by place.
  for await (const changes of objects.changesAfter(0)) {
    if (changes.last > first.sequence) return;
    await objects.removeChanges(changes);
  }
}
