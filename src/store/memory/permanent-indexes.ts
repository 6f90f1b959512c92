/** The indexes that every table has. */
import type { Kind } from '../../model/kind.ts';
import { perKind } from '../../model/per-kind.ts';
import { referencesOf } from '../../model/rules.ts';

const permanent = perKind((kind): readonly string[] => {
  const attributes = referencesOf(kind).map(({ attribute }) => attribute);
  for (const [name, declared] of Object.entries(kind.attributes)) {
    if ('unique' in declared) attributes.push(name);
  }
  return [...attributes, ...[kind.keyword, kind.shelf].filter((name) => name !== undefined)];
});

/**
 * The attributes of a kind whose index always exists, because writes and representations look rows
 * up by them: references, unique values, the keyword, the shelf. The other attributes that can be
 * looked up are only filters of clients. To keep the three of the audit trail would cost a write
 * about as much as its entries do.
 */
export function permanentIndexes({ name }: Kind): readonly string[] {
  return permanent[name];
}
