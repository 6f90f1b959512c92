/** The query of a collection (spec 4.2 to 4.8) as a selection of the store. */
import { CatalogError } from '../errors.ts';
import type { Kind, Scalar } from '../model/kind.ts';
import { perKind } from '../model/per-kind.ts';
import type { Direction } from '../store/memory/sorting.ts';
import type { Selection } from '../store/memory/selection.ts';
import {
  type KnownParameters,
  malformed,
  type Parameters,
  parseParameters,
} from './query/parameters.ts';
import { parseRanges, type RangeParameter, rangeParameters } from './query/ranges.ts';
import { parseSearch } from './query/search-words.ts';
import { scalarAttributes, visibleAttributes } from './representation.ts';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 1000;

/** How the client counts, so that links to other pages count the same way. */
type PagingForm = 'page' | 'offset' | 'all';

export interface CollectionQuery {
  readonly selection: Selection;
  readonly form: PagingForm;
  /** Every parameter that does not page, decoded, in the order sent: links repeat them. */
  readonly others: readonly (readonly [name: string, value: string])[];
}

const PAGE_FORM = ['page', 'per_page'];
const OFFSET_FORM = ['limit', 'offset'];
const PAGING = new Set([...PAGE_FORM, ...OFFSET_FORM]);

/** What the query of a kind may hold, worked out once. */
interface QueryPlan extends KnownParameters {
  /** Attributes by the filter that compares them. */
  readonly filters: ReadonlyMap<string, string>;
  readonly ranges: ReadonlyMap<string, RangeParameter>;
  readonly sortable: ReadonlySet<string>;
}

const PLANS = perKind((kind): QueryPlan => {
  const filters = filterParameters(kind);
  const ranges = rangeParameters(kind);
  return {
    owner: kind.plural,
    names: new Set([...PAGING, 'sortby', 'order', 'q', ...filters.keys(), ...ranges.keys()]),
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
  const { form, offset, limit } = parsePaging(kind, sent);
  const selection = { ...parseSelected(kind, plan, sent), offset, limit };
  return { selection, form, others: [...sent].filter(([name]) => !PAGING.has(name)) };
}

/**
 * The query of an operation on all rows that a list would show, on all of its pages.
 *
 * @param names parameters that the operation takes besides.
 * @throws CatalogError `malformed_query`.
 */
export function parseUnpagedQuery(
  kind: Kind,
  names: readonly string[],
  search: string,
): { readonly selection: Selection; readonly sent: Parameters } {
  const plan = PLANS[kind.name];
  const known = [...plan.names].filter((name) => !PAGING.has(name));
  const sent = parseParameters({ owner: plan.owner, names: new Set([...known, ...names]) }, search);
  const all = { offset: 0, limit: Number.POSITIVE_INFINITY };
  return { selection: { ...parseSelected(kind, plan, sent), ...all }, sent };
}

function parseSelected(
  kind: Kind,
  plan: QueryPlan,
  sent: Parameters,
): Omit<Selection, 'offset' | 'limit'> {
  return {
    filters: parseFilters(kind, plan, sent),
    words: parseSearch(sent.get('q')),
    ranges: parseRanges(plan.ranges, sent),
    sortby: parseSortby(plan, sent),
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
      // spec 4.5: an empty keyword is an absent one.
      found.push([attribute, text]);
    }
  }
  return found;
}

function parseFilter(kind: Kind, parameter: string, attribute: string, text: string): Scalar {
  const declared = kind.attributes[attribute];
  if (declared !== undefined && 'filter' in declared && declared.filter === 'text') {
    if (text !== '') return text;
    throw malformed(parameter, 'must not be empty');
  }
  const nullable = declared?.role === 'input' && declared.default === null;
  if (nullable && text === 'null') return null;
  if (/^\d+$/.test(text)) return Number(text);
  throw malformed(
    parameter,
    nullable ? 'must be an id in digits, or null' : 'must be an id in digits',
  );
}

function parsePaging(
  kind: Kind,
  sent: Parameters,
): { form: PagingForm; offset: number; limit: number } {
  const byPage = PAGE_FORM.some((name) => sent.has(name));
  const byOffset = OFFSET_FORM.some((name) => sent.has(name));
  if (byPage && byOffset) {
    throw new CatalogError(
      'malformed_query',
      'use page and per_page, or limit and offset, not both',
    );
  }
  if (byOffset) {
    const limit = parseCount(sent, 'limit', DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE);
    return { form: 'offset', limit, offset: parseCount(sent, 'offset', 0, 0) };
  }
  if (!byPage && kind.unpaged) return { form: 'all', offset: 0, limit: Number.POSITIVE_INFINITY };
  const limit = parseCount(sent, 'per_page', DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE);
  return { form: 'page', limit, offset: (parseCount(sent, 'page', 1, 1) - 1) * limit };
}

function parseCount(
  sent: Parameters,
  name: string,
  absent: number,
  least: number,
  most = Number.POSITIVE_INFINITY,
): number {
  const text = sent.get(name);
  if (text === undefined) return absent;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range =
    most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`;
  throw malformed(name, `must be a number ${range}, in digits`);
}

function parseSortby({ sortable }: QueryPlan, sent: Parameters): string {
  const sortby = sent.get('sortby') ?? 'id';
  if (sortable.has(sortby)) return sortby;
  throw malformed('sortby', `must be one of ${[...sortable].join(', ')}`);
}

function parseOrder(sent: Parameters): Direction {
  const order = sent.get('order') ?? 'asc';
  if (order === 'asc' || order === 'desc') return order;
  throw malformed('order', 'must be asc or desc');
}
