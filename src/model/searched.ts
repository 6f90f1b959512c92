/** The attributes that a search reads (spec 4.7). */
import type { Attribute, Kind } from './kind.ts';

const known = new WeakMap<Kind, readonly (readonly [string, Attribute])[]>();

/** The attributes of a kind whose texts a search reads, the row's own and joined ones. */
export function searchedAttributes(kind: Kind): readonly (readonly [string, Attribute])[] {
  let found = known.get(kind);
  if (found === undefined) {
    found = Object.entries(kind.attributes).filter(([, declared]) => isSearched(declared));
    known.set(kind, found);
  }
  return found;
}

function isSearched(declared: Attribute): boolean {
  if (declared.role === 'lookup') return true;
  return (declared.role === 'input' || declared.role === 'serverSet') && declared.searched === true;
}
