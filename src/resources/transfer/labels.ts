/** Names of rows as people read them in a cell: paths and specifications (spec 12.4). */

/** What a backslash stands before, besides a space at either end. */
const SPECIAL = /[\\;=>]/g;

/** A name within a path or a list of specifications. */
export function escapeName(name: string): string {
  const escaped = name.replace(SPECIAL, String.raw`\$&`);
  const begun = escaped.startsWith(' ') ? `\\${escaped}` : escaped;
  // A name is not a space alone, so that this is another one.
  return begun.endsWith(' ') ? `${begun.slice(0, -1)}\\ ` : begun;
}

/** `Electronics > Phones`. @param names from the first level. */
export function pathText(names: readonly string[]): string {
  return names.map(escapeName).join(' > ');
}

/** `Colour=Silver; Storage=128 GB`. @param pairs a specification and its option. */
export function pairsText(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map((pair) => pair.map(escapeName).join('=')).join('; ');
}
