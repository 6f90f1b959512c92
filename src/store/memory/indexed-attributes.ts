/** The attributes by which rows are looked up; each has an index. */
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

const indexed = perKind((kind): readonly string[] => {
  const filters = Object.entries(kind.attributes).filter(([, declared]) => 'filter' in declared);
  return [...new Set([...permanent[kind.name], ...filters.map(([name]) => name)])];
});

/** Attributes by which rows are looked up: references, filters, the keyword, the shelf. */
export function indexedAttributes({ name }: Kind): readonly string[] {
  return indexed[name];
}

/**
 * Those whose index always exists, because writes and representations need it. The others are only
 * filters of clients. To keep the three of the audit trail would cost a write about as much as its
 * entries do.
 */
export function permanentIndexes({ name }: Kind): readonly string[] {
  return permanent[name];
}
