/** The order of attribute values (spec 4.3): null, false, true, numbers, strings by code point. */
import type { Scalar } from '../../../model/kind.ts';
import type { Direction } from './order.ts';

/** What {@link precedes} compares; it has no other use. */
export type SortKey = string | number;

const ABOVE_SURROGATES = /[\ud800-\uffff]/;

/**
 * The key of a value; the values of one attribute are all of one type, or null.
 *
 * `<` compares UTF-16 code units, in which the surrogates of the supplementary planes are below
 * U+E000 to U+FFFF: swapping the two ranges gives the order of code points.
 */
export function sortKey(value: Scalar): SortKey {
  if (value === null) return -1;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' || !ABOVE_SURROGATES.test(value)) return value;
  let key = '';
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i);
    if (unit < 0xd800) key += value[i];
    else key += String.fromCharCode(unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
  }
  return key;
}

/** Whether one value of an attribute comes before another in ascending order. */
export function precedes(a: SortKey, b: SortKey): boolean {
  // Between a text and null only: `<` would compare them as numbers.
  return typeof a === typeof b ? a < b : typeof a === 'number';
}

/** Sorts rows by their keys. Those that come by ascending id keep it where keys are equal. */
export function sortByKey(rows: { readonly key: SortKey }[], order: Direction): void {
  const sign = order === 'asc' ? 1 : -1;
  rows.sort((a, b) => (a.key === b.key ? 0 : precedes(a.key, b.key) ? -sign : sign));
}
