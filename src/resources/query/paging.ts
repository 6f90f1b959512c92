/** Paging and order (spec 4.2 and 4.3), as all lists accept them. */
import { CatalogError } from '../../errors.ts';
import type { Direction } from '../../store/memory/orders/order.ts';
import { malformed, type Parameters } from './parameters.ts';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 1000;

/** Which parameters the client uses, so that links to other pages use the same. */
type PagingForm = 'page' | 'offset' | 'all';

export interface PagedQuery {
  readonly selection: { readonly offset: number; readonly limit: number };
  readonly form: PagingForm;
  /** Every parameter that does not page, decoded, in the order sent: links repeat them. */
  readonly others: readonly (readonly [name: string, value: string])[];
}

const PAGE_FORM = ['page', 'per_page'];
const OFFSET_FORM = ['limit', 'offset'];

/** The names of the parameters that page. */
export const PAGING_NAMES: ReadonlySet<string> = new Set([...PAGE_FORM, ...OFFSET_FORM]);

/**
 * The page that a query asks for.
 *
 * @param unpaged whether all objects are listed if no paging parameter is sent.
 * @throws CatalogError `malformed_query`.
 */
export function parsePaging(sent: Parameters, unpaged = false): PagedQuery {
  const others = [...sent].filter(([name]) => !PAGING_NAMES.has(name));
  const { form, ...selection } = parsePage(sent, unpaged);
  return { form, selection, others };
}

function parsePage(
  sent: Parameters,
  unpaged: boolean,
): { readonly form: PagingForm; readonly offset: number; readonly limit: number } {
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
  if (!byPage && unpaged) return { form: 'all', offset: 0, limit: Number.POSITIVE_INFINITY };
  const limit = parseCount(sent, 'per_page', DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE);
  return { form: 'page', limit, offset: (parseCount(sent, 'page', 1, 1) - 1) * limit };
}

/**
 * A number in digits.
 *
 * @param absent the value if the parameter is not sent.
 * @throws CatalogError `malformed_query` unless it is from `least` to `most`.
 */
export function parseCount(
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

/** @throws CatalogError `malformed_query`. */
export function parseSortby(
  sent: Parameters,
  sortable: ReadonlySet<string>,
  absent: string,
): string {
  const sortby = sent.get('sortby') ?? absent;
  if (sortable.has(sortby)) return sortby;
  throw malformed('sortby', `must be one of ${[...sortable].join(', ')}`);
}

/** @throws CatalogError `malformed_query`. */
export function parseOrder(sent: Parameters): Direction {
  const order = sent.get('order') ?? 'asc';
  if (order === 'asc' || order === 'desc') return order;
  throw malformed('order', 'must be asc or desc');
}
