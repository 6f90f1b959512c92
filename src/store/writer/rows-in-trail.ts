/** The rows whose former state a change set need not repeat, because the audit trail has it. */
import type { Row } from '../../model/kind.ts';

/**
 * Finds the rows whose former state the audit trail has in the same change set. Yields between
 * entries.
 *
 * @param entries of the trail that the draft holds; null for one that it deletes.
 * @param committed the last id of an entry before the draft. @param last the last id in the draft.
 * @returns the ids of the rows by their collection; none if new entries were deleted to make room
 *   for others, since the first entry of a row may be among them.
 */
export function* rowsInTrail(
  entries: Iterable<readonly [id: number, entry: Row | null]>,
  committed: number,
  last: number,
): Generator<undefined, ReadonlyMap<string, ReadonlySet<number>>> {
  const inTrail = new Map<string, Set<number>>();
  let added = 0;
  for (const [id, entry] of entries) {
    if (entry === null || id <= committed) continue;
    const [resource, row] = [String(entry['resource']), Number(entry['resource_id'])];
    const ids = inTrail.get(resource);
    if (ids === undefined) inTrail.set(resource, new Set([row]));
    else ids.add(row);
    added += 1;
    yield;
  }
  return added === last - committed ? inTrail : new Map();
}
