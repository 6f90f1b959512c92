/** The query of a collection (spec 4.2 to 4.8) as a selection of the store. */
import type { Kind, Scalar } from '../model/kind.ts';
import { perKind } from '../model/per-kind.ts';
import type { RowSelection, Selection } from '../store/memory/selection.ts';
import {
  type KnownParameters,
  malformed,
  type Parameters,
  parseParameters,
} from './query/parameters.ts';
import {
  type PagedQuery,
  PAGING_NAMES,
  parseOrder,
  parsePaging,
  parseSortby,
} from './query/paging.ts';
import { parseRanges, type RangeParameter, rangeParameters } from './query/ranges.ts';
import { parseSearch } from './query/search-words.ts';
import { scalarAttributes, visibleAttributes } from './visible-attributes.ts';

export interface CollectionQuery extends PagedQuery {
  readonly selection: Selection;
}

/** The parameters that a query of a kind may have, computed once. */
interface QueryPlan extends KnownParameters {
  /** Attributes by the parameter that filters by them. */
  readonly filters: ReadonlyMap<string, string>;
  readonly ranges: ReadonlyMap<string, RangeParameter>;
  readonly sortable: ReadonlySet<string>;
}

const PLANS = perKind((kind): QueryPlan => {
  const filters = filterParameters(kind);
  const ranges = rangeParameters(kind);
  return {
    owner: kind.plural,
    names: new Set([...PAGING_NAMES, 'sortby', 'order', 'q', ...filters.keys(), ...ranges.keys()]),
    filters,
    ranges,
    sortable: new Set(scalarAttributes(kind)),
  };
});

/**
 * @param search what follows `?`, not decoded.
 * @throws CatalogError `malformed_query`.
 */
export function parseQuery(kind: Kind, search: string): CollectionQuery {
  const plan = PLANS[kind.name];
  const sent = parseParameters(plan, search);
  const paged = parsePaging(sent, kind.unpaged);
  return { ...paged, selection: { ...parseSelected(kind, plan, sent), ...paged.selection } };
}

/**
 * Parses the query of an export, which has all pages of a list.
 *
 * @param names further parameters of the export.
 * @throws CatalogError `malformed_query`.
 */
export function parseUnpagedQuery(
  kind: Kind,
  names: readonly string[],
  search: string,
): { readonly selection: RowSelection; readonly sent: Parameters } {
  const plan = PLANS[kind.name];
  const known = [...plan.names].filter((name) => !PAGING_NAMES.has(name));
  const owner = `exports of ${plan.owner}`;
  const sent = parseParameters({ owner, names: new Set([...known, ...names]) }, search);
  return { selection: parseSelected(kind, plan, sent), sent };
}

function parseSelected(kind: Kind, plan: QueryPlan, sent: Parameters): RowSelection {
  return {
    filters: parseFilters(kind, plan, sent),
    words: parseSearch(sent.get('q')),
    ranges: parseRanges(plan.ranges, sent),
    sortby: parseSortby(sent, plan.sortable, 'id'),
    order: parseOrder(sent),
  };
}

/** The filter parameters of a kind and the attributes they compare; aliases included. */
export function filterParameters(kind: Kind): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (kind.keyword !== undefined) parameters.set('keyword', kind.keyword);
  for (const [name, declared] of visibleAttributes(kind)) {
    if ('filter' in declared) parameters.set(name, name);
    if (!name.endsWith('_id') || declared.role !== 'input') continue;
    if (declared.request !== undefined) parameters.set(declared.request, name);
    parameters.set(name, name);
  }
  return parameters;
}

function parseFilters(
  kind: Kind,
  { filters }: QueryPlan,
  sent: Parameters,
): (readonly [string, Scalar])[] {
  const found: (readonly [string, Scalar])[] = [];
  for (const [parameter, attribute] of filters) {
    const text = sent.get(parameter);
    if (text === undefined) continue;
    if (parameter !== 'keyword') {
      found.push([attribute, parseFilter(kind, parameter, attribute, text)]);
    } else if (text !== '') {
      // Spec 4.5: an empty keyword counts as absent.
      found.push([attribute, text]);
    }
  }
  return found;
}

/** What the values of a filter are. */
export function filterValues(kind: Kind, attribute: string): 'text' | 'id' | 'id or null' {
  const declared = kind.attributes[attribute];
  if (declared !== undefined && 'filter' in declared && declared.filter === 'text') return 'text';
  return declared?.role === 'input' && declared.default === null ? 'id or null' : 'id';
}

function parseFilter(kind: Kind, parameter: string, attribute: string, text: string): Scalar {
  const values = filterValues(kind, attribute);
  if (values === 'text') {
    if (text !== '') return text;
    throw malformed(parameter, 'must not be empty');
  }
  const nullable = values === 'id or null';
  if (nullable && text === 'null') return null;
  if (/^\d+$/.test(text)) return Number(text);
  throw malformed(
    parameter,
    nullable ? 'must be an id in digits, or null' : 'must be an id in digits',
  );
}
