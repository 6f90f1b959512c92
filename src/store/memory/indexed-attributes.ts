/** The attributes by which rows are looked up; each has an index. */
import type { Kind } from '../../model/kind.ts';
import { perKind } from '../../model/per-kind.ts';
import { referencesOf } from '../../model/rules.ts';

const indexed = perKind((kind): readonly string[] => {
  const attributes = referencesOf(kind).map(({ attribute }) => attribute);
  for (const [name, declared] of Object.entries(kind.attributes)) {
    if ('filter' in declared || 'unique' in declared) attributes.push(name);
  }
  return [...attributes, ...[kind.keyword, kind.shelf].filter((name) => name !== undefined)];
});

/** Attributes by which rows are looked up: references, filters, the keyword, the shelf. */
export function indexedAttributes({ name }: Kind): readonly string[] {
  return indexed[name];
}
