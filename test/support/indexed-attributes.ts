/** The attributes by which the rows of a kind can be looked up. */
import type { Kind } from '../../src/model/kind.ts';
import { permanentIndexes } from '../../src/store/memory/permanent-indexes.ts';

/** Those with a permanent index, and the filters of clients. */
export function indexedAttributes(kind: Kind): readonly string[] {
  const filters = Object.entries(kind.attributes).filter(([, declared]) => 'filter' in declared);
  return [...new Set([...permanentIndexes(kind), ...filters.map(([name]) => name)])];
}
