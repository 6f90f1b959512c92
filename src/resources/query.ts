/** The query of a collection (spec 4.2 to 4.6) as a selection of the store. */
import { CatalogError } from '../errors.ts';
import type { Kind, Scalar } from '../model/kind.ts';
import type { Direction } from '../store/memory/sorting.ts';
import type { Selection } from '../store/memory/selection.ts';
import { scalarAttributes, visibleAttributes } from './representation.ts';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 1000;

/** How the client counts, so that links to other pages count the same way. */
type PagingForm = 'page' | 'offset' | 'all';

export interface CollectionQuery {
  readonly selection: Selection;
  readonly form: PagingForm;
  /** Every parameter that does not page, decoded, in the order sent. */
  readonly others: readonly (readonly [name: string, value: string])[];
}

const PAGE_FORM = ['page', 'per_page'];
const OFFSET_FORM = ['limit', 'offset'];
const PAGING = new Set([...PAGE_FORM, ...OFFSET_FORM]);

/** Known parameters by name: what was sent, at most once. */
type Sent = ReadonlyMap<string, string>;

/**
 * @param search what follows `?`, not decoded.
 * @throws CatalogError `malformed_query`.
 */
export function parseQuery(kind: Kind, search: string): CollectionQuery {
  const filterable = filterParameters(kind);
  const known = new Set([...PAGING, 'sortby', 'order', ...filterable.keys()]);
  const sent = new Map<string, string>();
  const others: (readonly [string, string])[] = [];
  for (const [name, value] of pairs(search)) {
    if (known.has(name) || name.endsWith('_id')) {
      if (!known.has(name)) throw unknownParameter(kind, name, [...filterable.keys()]);
      if (value === null) throw malformed(name, 'is not percent-encoded UTF-8');
      if (sent.has(name)) throw malformed(name, 'is given twice');
      sent.set(name, value);
    }
    if (!PAGING.has(name) && value !== null) others.push([name, value]);
  }
  const { form, offset, limit } = parsePaging(kind, sent);
  const selection: Selection = {
    filters: parseFilters(kind, filterable, sent),
    sortby: parseSortby(kind, sent),
    order: parseOrder(sent),
    offset,
    limit,
  };
  return { selection, form, others };
}

/** The filter parameters of a kind and the attributes they compare; aliases included. */
export function filterParameters(kind: Kind): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (kind.keyword !== undefined) parameters.set('keyword', kind.keyword);
  for (const [name, declared] of visibleAttributes(kind)) {
    if (declared.role === 'serverSet' && declared.filter) parameters.set(name, name);
    if (!name.endsWith('_id') || declared.role !== 'input') continue;
    if (declared.request !== undefined) parameters.set(declared.request, name);
    parameters.set(name, name);
  }
  return parameters;
}

function parseFilters(
  kind: Kind,
  filterable: ReadonlyMap<string, string>,
  sent: Sent,
): (readonly [string, Scalar])[] {
  const filters: (readonly [string, Scalar])[] = [];
  for (const [parameter, attribute] of filterable) {
    const text = sent.get(parameter);
    if (text === undefined) continue;
    if (parameter === 'keyword') {
      // spec 4.5: an empty keyword is an absent one.
      if (text !== '') filters.push([attribute, text]);
    } else {
      filters.push([attribute, parseFilter(kind, parameter, attribute, text)]);
    }
  }
  return filters;
}

function parseFilter(kind: Kind, parameter: string, attribute: string, text: string): Scalar {
  const declared = kind.attributes[attribute];
  if (declared?.role === 'serverSet' && typeof declared.initial === 'string') {
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

function parsePaging(kind: Kind, sent: Sent): { form: PagingForm; offset: number; limit: number } {
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
  sent: Sent,
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

function parseSortby(kind: Kind, sent: Sent): string {
  const sortby = sent.get('sortby') ?? 'id';
  const sortable = scalarAttributes(kind);
  if (sortable.includes(sortby)) return sortby;
  throw malformed('sortby', `must be one of ${sortable.join(', ')}`);
}

function parseOrder(sent: Sent): Direction {
  const order = sent.get('order') ?? 'asc';
  if (order === 'asc' || order === 'desc') return order;
  throw malformed('order', 'must be asc or desc');
}

/** Names and values, decoded; a value that cannot be decoded is null. */
function* pairs(search: string): Generator<readonly [string, string | null]> {
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    yield [decode(name) ?? name, decode(value)];
  }
}

/** application/x-www-form-urlencoded, but for malformed UTF-8, which is refused and not replaced. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function malformed(parameter: string, what: string): CatalogError {
  return new CatalogError('malformed_query', `query parameter ${parameter} ${what}`);
}

function unknownParameter(kind: Kind, name: string, filters: readonly string[]): CatalogError {
  const known = filters.filter((filter) => filter.endsWith('_id'));
  const offer = known.length === 0 ? 'there is none' : `there is ${known.join(', ')}`;
  return new CatalogError(
    'malformed_query',
    `${kind.plural} have no filter ${JSON.stringify(name)}; ${offer}`,
  );
}
