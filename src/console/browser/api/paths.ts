/** Addresses of the API below the base path, with their queries. */
import type { paths } from '../../../../dist/console/api.d.ts';
import { collectionOf } from './collections.ts';
import type { CollectionName } from './types.ts';

export type Query = Readonly<Record<string, string>>;

/** What the whole catalog is at a glance, and the currency of its prices. */
export const SUMMARY_PATH = '/admin/summary/' satisfies keyof paths;

/** The part of a collection that matches a query. */
export function listPath(name: CollectionName, query: Query): string {
  return `${collectionOf(name).path}?${new URLSearchParams(query).toString()}`;
}
