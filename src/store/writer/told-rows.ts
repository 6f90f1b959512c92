/** Which rows of a draft need not be stated as they were: the audit trail tells it. */
import type { Row } from '../../model/kind.ts';

/**
 * The rows whose former state the audit trail has in the same change set. Yields between entries.
 *
 * @param entries of the trail that the draft holds; null for one that it deletes.
 * @param committed the last id of an entry before the draft. @param last the last id in the draft.
 * @returns `kind id` of each row; none if new entries had to make room for others, since the first
 *   entry of a row may be among them.
 */
export function* toldByTrail(
  entries: ReadonlyMap<number, Row | null> = new Map(),
  committed: number,
  last: number,
): Generator<undefined, ReadonlySet<string>> {
  const told = new Set<string>();
  let added = 0;
  for (const [id, entry] of entries) {
    if (entry === null || id <= committed) continue;
    told.add(`${String(entry['resource'])} ${String(entry['resource_id'])}`);
    added += 1;
    yield;
  }
  return added === last - committed ? told : new Set();
}
