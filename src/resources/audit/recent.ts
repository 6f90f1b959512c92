/** The latest audit entries in short: who changed what. */
import { type RowOf } from '../../model/rows.ts';
import type { Store } from '../../store/store.ts';

/** An entry without the values of its row. */
export interface RecentChange
  extends Pick<RowOf<'audits'>, 'id' | 'time' | 'subject' | 'action' | 'resource' | 'resource_id'> {
  /** The name of the row, or the value of an option; null if it has none. */
  readonly label: string | null;
}

/** UTF-16 units of a row's text in which its name is searched; it follows the id. */
const SEARCHED_LENGTH = 4096;

/** Matches the first name in the JSON of a row; within a string, its quotes would be escaped. */
const LABEL = /"(?:name|value)":("(?:[^"\\]|\\.)*")/;

/** @param most entries, at most. @returns the newest first. */
export function recentChanges(store: Pick<Store, 'get' | 'lastId'>, most: number): RecentChange[] {
  const found: RecentChange[] = [];
  for (let entry = store.lastId('audits'); found.length < most; entry -= 1) {
    const row = store.get('audits', entry);
    if (row === undefined) break;
    const { id, time, subject, action, resource, resource_id, before, after } = row;
    const label = labelIn(after ?? before ?? '');
    found.push({ id, time, subject, action, resource, resource_id, label });
  }
  return found;
}

function labelIn(text: string): string | null {
  const [, label] = LABEL.exec(text.slice(0, SEARCHED_LENGTH)) ?? [];
  return label === undefined ? null : (JSON.parse(label) as string);
}
