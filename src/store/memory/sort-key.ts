/** The order of attribute values (spec 4.3): null, false, true, numbers, strings by code point. */
import type { Scalar } from '../../model/kind.ts';

const ABOVE_SURROGATES = /[\ud800-\uffff]/;

/**
 * A value that `<` orders as the attribute is to be ordered.
 *
 * `<` compares UTF-16 code units, where the surrogates of the supplementary planes stand below
 * U+E000 to U+FFFF: exchanging the two ranges gives the order of code points. The exchanged string
 * is for comparing alone.
 */
export function sortKey(value: Scalar): string | number {
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
