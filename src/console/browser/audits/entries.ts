/** Entries of the audit trail, as the console shows them. */
import type { components } from '../../../../dist/console/api.d.ts';
import { receive } from '../api/client.ts';
import { collectionNamed } from '../api/collections.ts';
import type { MessageKey } from '../messages/message.ts';
import { t } from '../messages/text.ts';

export type AuditEntry = components['schemas']['Audit'];

/**
 * Reads the last entry about an item.
 *
 * @returns undefined if there is none, or none any more.
 * @throws ApiError, TypeError, DOMException.
 */
export async function lastEntry(
  resource: string,
  id: number,
  abort?: AbortSignal,
): Promise<AuditEntry | undefined> {
  const query = `resource=${resource}&resource_id=${id}&order=desc&per_page=1`;
  const [last] = await receive<AuditEntry[]>(`/admin/audits/?${query}`, { signal: abort });
  return last;
}

/** What the entry is about: the name of the item, or its collection and number. */
export function entryTitle({ resource, resource_id: id, before, after }: AuditEntry): string {
  const title = collectionNamed(resource)?.title ?? 'name';
  const row = (after ?? before ?? {}) as Readonly<Record<string, unknown>>;
  const name = row[title];
  return typeof name === 'string' && name !== '' ? name : `${resourceLabel(resource)} ${id}`;
}

/** @returns the collection in the language that is shown; "" if the console has no text for it. */
export function resourceLabel(resource: string): string {
  return t(`collection.${resource}` as MessageKey);
}

export interface Difference {
  readonly attribute: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Attributes that an entry has changed. */
export function differencesOf({ before, after }: AuditEntry): Difference[] {
  const was: Readonly<Record<string, unknown>> = before ?? {};
  const is: Readonly<Record<string, unknown>> = after ?? {};
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
    .map((attribute) => ({ attribute, before: was[attribute], after: is[attribute] }));
}
