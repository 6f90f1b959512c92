/** Filters by a range of an attribute's values, and by true or false (spec 4.8). */
import type { Kind } from '../../model/kind.ts';
import type { Range } from '../../store/memory/selection.ts';
import { malformed, type Parameters } from './parameters.ts';
import { visibleAttributes } from '../representation.ts';

/** A parameter that bounds an attribute. */
export interface RangeParameter {
  readonly attribute: string;
  /** Which bound it is; both for an attribute that is true or false. */
  readonly bound: 'min' | 'max' | 'both';
}

/** The range parameters of a kind by their names: `price_min`, `price_max`, `is_launched`. */
export function rangeParameters(kind: Kind): ReadonlyMap<string, RangeParameter> {
  const parameters = new Map<string, RangeParameter>();
  for (const [attribute, declared] of visibleAttributes(kind)) {
    if (declared.role !== 'input' || declared.range === undefined) continue;
    if (declared.range === 'flag') parameters.set(attribute, { attribute, bound: 'both' });
    else {
      parameters.set(`${attribute}_min`, { attribute, bound: 'min' });
      parameters.set(`${attribute}_max`, { attribute, bound: 'max' });
    }
  }
  return parameters;
}

/**
 * @returns a range for each attribute that is bounded.
 * @throws CatalogError `malformed_query`.
 */
export function parseRanges(
  known: ReadonlyMap<string, RangeParameter>,
  sent: Parameters,
): readonly Range[] {
  const ranges = new Map<string, Range>();
  for (const [name, { attribute, bound }] of known) {
    const text = sent.get(name);
    if (text === undefined) continue;
    const range = ranges.get(attribute) ?? { attribute, min: null, max: null };
    const value = bound === 'both' ? parseFlag(name, text) : parseNumber(name, text);
    ranges.set(
      attribute,
      bound === 'both' ? { attribute, min: value, max: value } : { ...range, [bound]: value },
    );
  }
  return [...ranges.values()];
}

function parseFlag(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw malformed(name, 'must be true or false');
}

function parseNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw malformed(name, 'must be a number in digits');
}
