/** What every part of a list is given. */
import type { Collection } from '../api/collections.ts';
import type { ListQuery } from './list-query.ts';
import type { Selection } from './selection.ts';
import type { ShownPage } from './use-page.ts';

export interface ListProps {
  readonly collection: Collection;
  readonly query: ListQuery;
  /** Shows another part of the list, from its first page on unless a page is named. */
  readonly show: (changes: Partial<ListQuery>, replace?: boolean) => void;
  readonly shown: ShownPage;
  readonly selection: Selection;
}
