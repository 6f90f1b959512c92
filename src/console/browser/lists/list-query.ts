/** What a list shows, as its address says it: the parameters of the API by their own names. */
import { referencesOf, type Collection } from '../api/collections.ts';
import type { Query } from '../api/paths.ts';

/** Items on a page, unless the address says otherwise: as the API has it. */
const DEFAULT_PER_PAGE = 20;

/** What the user can choose from. */
export const PAGE_SIZES: readonly number[] = [20, 50, 100, 250];

const MAX_PER_PAGE = 1000;

/** Filters of SKUs besides references. */
export const RANGES = ['price_min', 'price_max', 'stock_min', 'stock_max'] as const;

export interface ListQuery {
  readonly q: string;
  /** The attribute; "" for the order of ids. */
  readonly sortby: string;
  readonly descending: boolean;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  /** Reference filters and ranges that are set. */
  readonly filters: Query;
}

/** The names of the filters of a collection. */
function filterNames(collection: Collection): string[] {
  const references = referencesOf(collection).map(([attribute]) => attribute);
  return collection.name === 'skus' ? [...references, ...RANGES, 'is_launched'] : references;
}

function wholeNumber(text: string | null, fallback: number, max: number): number {
  const value = /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
  return value >= 1 && value <= max ? value : fallback;
}

/** The page that an address names, from 1. */
export function pageOf(search: URLSearchParams): number {
  return wholeNumber(search.get('page'), 1, 999_999_999);
}

/** Reads an address. What it has no use for is left out. */
export function parseListQuery(collection: Collection, search: URLSearchParams): ListQuery {
  const filters: Record<string, string> = {};
  for (const name of filterNames(collection)) {
    const value = search.get(name) ?? (name === 'spu_id' ? search.get('goods_id') : null);
    if (value !== null && value !== '') filters[name] = value;
  }
  const sortby = search.get('sortby') ?? '';
  return {
    q: search.get('q') ?? '',
    sortby: (collection.columns as readonly string[]).includes(sortby) ? sortby : '',
    descending: search.get('order') === 'desc',
    page: pageOf(search),
    perPage: wholeNumber(search.get('per_page'), DEFAULT_PER_PAGE, MAX_PER_PAGE),
    filters,
  };
}

/** The address of a list, below `/console`. */
export function listAddress(collection: Collection, query: ListQuery): string {
  const search = new URLSearchParams(matching(query));
  if (query.page !== 1) search.set('page', String(query.page));
  if (query.perPage !== DEFAULT_PER_PAGE) search.set('per_page', String(query.perPage));
  const text = search.toString();
  return `/${collection.name}${text === '' ? '' : `?${text}`}`;
}

/** Parameters that say which items match, and in which order. */
export function matching({ q, sortby, descending, filters }: ListQuery): Query {
  return {
    ...(q.trim() !== '' && { q: q.trim() }),
    ...filters,
    ...(sortby !== '' && { sortby }),
    ...(descending && { order: 'desc' }),
  };
}

/** Parameters of the page that is shown. */
export function pageParameters(query: ListQuery): Query {
  return { ...matching(query), page: String(query.page), per_page: String(query.perPage) };
}
