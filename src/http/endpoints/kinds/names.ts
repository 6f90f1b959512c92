/** How the description and the summaries name kinds. */
import type { Kind } from '../../../model/kind.ts';

/** "SkuSpec" for sku_specs: the name of the object of a kind, and of operations on it. */
export function componentName({ name }: Kind): string {
  const singular = name === 'goods' ? 'spu' : name.replace(/ies$/, 'y').replace(/s$/, '');
  return singular.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** "an SPU", which is spelled out, but "a SKU", which is read as a word; "a book". */
export function withArticle(label: string): string {
  return `${/^(?:[aeio]|SP)/.test(label) ? 'an' : 'a'} ${label}`;
}

/** The words with a capital first letter. */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
