/** Removes old objects from an archive. */
import type { ArchiveObjects } from './archive-objects.ts';

/**
 * Removes the bases and change sets that no restore to a time from `since` on needs: those before
 * the newest base that is not later than `since`.
 *
 * Bases are removed first. If that is interrupted, change sets without a base remain. No restore
 * uses them, and the next call removes them.
 *
 * @param since milliseconds since the epoch.
 * @throws CatalogError `archive_failed`.
 */
export async function prune(objects: ArchiveObjects, since: number): Promise<void> {
  const bases = await objects.bases();
  const first = bases.findLast(({ time }) => time === null || Date.parse(time) <= since);
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
