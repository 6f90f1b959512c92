/** What pages need of a store. */
import type { KindName } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import type { Sought } from '../../model/relations.ts';
import { referencesOf } from '../../model/rules.ts';
import type { Page, Selection } from '../../store/memory/selection.ts';
import type { ReadableStore } from '../../store/readable-store.ts';

export type Catalog = Pick<
  ReadableStore,
  | 'get'
  | 'peek'
  | 'has'
  | 'matching'
  | 'select'
  | 'rank'
  | 'firstId'
  | 'count'
  | 'lastId'
  | 'sequence'
  | 'digest'
>;

/** What every page except the sitemap is made of. */
export interface ShownRows extends Pick<Catalog, 'get' | 'peek'> {
  /** The ids of a page of rows. */
  select(kind: KindName, selection: Selection): Pick<Page, 'ids'>;
}

/** The lookups that pages need: by every reference of every kind. */
export const SOUGHT_BY_PAGES: readonly Sought[] = ALL_KINDS.flatMap((kind) =>
  referencesOf(kind).map(({ attribute }) => ({ kind: kind.name, attribute })),
);

/** Every id of a kind, ascending; rows may change between two of them. */
export function* idsIn(catalog: Pick<Catalog, 'firstId'>, kind: KindName): Generator<number> {
  let id = catalog.firstId(kind, 1);
  for (; id !== undefined; id = catalog.firstId(kind, id + 1)) yield id;
}
