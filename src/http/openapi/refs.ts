/** References to the components of the description. */
import type { JsonObject } from '../operations/content.ts';

/** Components of one section, or members of an object, by their names. */
export type Named = Record<string, JsonObject>;

export type Section = 'schemas' | 'examples' | 'headers' | 'parameters' | 'responses';

/** A reference to a component. */
export function ref(section: Section, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${section}/${name}` };
}
