/** Filters by a range of an attribute's values, by a period, and by true or false (spec 4.8). */
import type { Kind, Scalar } from '../../model/kind.ts';
import type { Range } from '../../store/memory/selection.ts';
import { malformed, type Parameters, parseFlag } from './parameters.ts';
import { visibleAttributes } from '../visible-attributes.ts';
import { parsePeriodEnd, parsePeriodStart, PERIOD_BOUND } from './instants.ts';

/** A parameter that bounds an attribute. */
export interface RangeParameter {
  readonly attribute: string;
  /** Which bound it is; both for an attribute that is true or false. */
  readonly bound: 'min' | 'max' | 'both';
  readonly values: 'number' | 'flag' | 'period';
}

/** The range parameters of a kind by their names: `price_min`, `is_launched`, `since`. */
export function rangeParameters(kind: Kind): ReadonlyMap<string, RangeParameter> {
  const parameters = new Map<string, RangeParameter>();
  for (const [attribute, declared] of visibleAttributes(kind)) {
    if (!('range' in declared)) continue;
    const { range: values } = declared;
    if (values === 'flag') parameters.set(attribute, { attribute, bound: 'both', values });
    else {
      const [min, max] =
        values === 'period' ? ['since', 'until'] : [`${attribute}_min`, `${attribute}_max`];
      parameters.set(min, { attribute, bound: 'min', values });
      parameters.set(max, { attribute, bound: 'max', values });
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
  for (const [name, parameter] of known) {
    const text = sent.get(name);
    if (text === undefined) continue;
    const { attribute, bound } = parameter;
    const range = ranges.get(attribute) ?? { attribute, min: null, max: null };
    const value = parseBound(name, parameter, text);
    ranges.set(
      attribute,
      bound === 'both' ? { attribute, min: value, max: value } : { ...range, [bound]: value },
    );
  }
  return [...ranges.values()];
}

function parseBound(name: string, { bound, values }: RangeParameter, text: string): Scalar {
  switch (values) {
    case 'flag':
      return parseFlag(name, text);
    case 'number':
      return parseNumber(name, text);
    case 'period': {
      const instant = bound === 'min' ? parsePeriodStart(text) : parsePeriodEnd(text);
      if (instant !== null) return instant;
      throw malformed(name, `must be ${PERIOD_BOUND}`);
    }
  }
}

function parseNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw malformed(name, 'must be a number in digits');
}
