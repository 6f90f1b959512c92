/** How the description names things, and points at what stands among its components. */
import { isWritable, type Kind } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Components of one section, or members of an object, by their names. */
export type Named = Record<string, JsonObject>;

export type Section = 'schemas' | 'examples' | 'headers' | 'parameters' | 'responses';

/** A pointer to a component. */
export function ref(section: Section, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${section}/${name}` };
}

/** "SkuSpec" for sku_specs: the name of the object of a kind, and of operations on it. */
export function componentName({ name }: Kind): string {
  const singular = name === 'goods' ? 'spu' : name.replace(/ies$/, 'y').replace(/s$/, '');
  return singular.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The kinds that a client can reach. */
export const REACHABLE: readonly Kind[] = ALL_KINDS.filter(
  ({ path, nestings }) => path !== null || nestings.length > 0,
);

/** The kinds of which a client can make objects. */
export const WRITABLE: readonly Kind[] = REACHABLE.filter(
  (kind) => isWritable(kind, null) || kind.nestings.some((nesting) => isWritable(kind, nesting)),
);

/** "an SPU", said by its letters, but "a SKU", said as a word; "a book". */
export function withArticle(label: string): string {
  return `${/^(?:[aeio]|SP)/.test(label) ? 'an' : 'a'} ${label}`;
}

/** The same with a capital letter. */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The object without one of its members. */
export function without(object: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member));
}

/** The body of a failure that the request did not cause. */
export const FAULT = {
  error: 'internal server error',
  request_id: '5f0c9a4e-6a8b-4c61-9d0c-2f6a3b1e7d42',
};
