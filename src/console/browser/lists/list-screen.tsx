/** The list of a collection: search, filters, table, pages, and what is done with several items. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Collection } from '../api/collections.ts';
import { needCategories } from '../api/references.ts';
import type { Item } from '../api/types.ts';
import { mayWrite } from '../api/session.ts';
import { href, navigate, query as address, scrollBack } from '../location.ts';
import { t } from '../messages/text.ts';
import { loadAhead } from '../load-screens.ts';
import { complain, Failure } from '../parts/notices.tsx';
import { useTitle } from '../parts/title.ts';
import { ExportButton } from './export-button.tsx';
import { Filters } from './filters.tsx';
import { ColumnsButton } from './columns-button.tsx';
import { keepListAddress } from './last-address.ts';
import { listAddress, parseListQuery } from './list-query.ts';
import type { ListProps } from './list-props.ts';
import { Paging } from './paging.tsx';
import { SearchField } from './search-field.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useSelection } from './selection.ts';
import { ItemTable } from './table.tsx';
import { usePage } from './use-page.ts';

/** The address holds all that is chosen, so that a link and the history show the same list. */
export function ListScreen({ collection }: { readonly collection: Collection }) {
  const query = parseListQuery(collection, address.value);
  const shown = usePage(collection, query);
  const selection = useSelection();
  useTitle(t(`collection.${collection.name}`));
  useCategoryNames(collection, shown.page.value?.items ?? NONE);
  const here = listAddress(collection, query);
  // At once: the screen may be left before the next frame.
  useLayoutEffect(() => keepListAddress(collection.name, here), [collection, here]);
  const there = shown.page.value !== null;
  useEffect(() => {
    if (there) loadAhead();
  }, [there]);
  useEffect(() => {
    if (shown.page.value !== null) scrollBack();
  }, [shown.page.value]);
  const show: ListProps['show'] = (changes, replace = false) => {
    const to = listAddress(collection, { ...query, page: 1, ...changes });
    void navigate(to, { replace });
  };
  useLastPage(shown, show);
  const props: ListProps = { collection, query, show, shown, selection };
  usePagingKeys(props);
  return (
    <div class="list">
      <Heading {...props} />
      <div class="toolbar">
        <SearchField {...props} />
        <Filters {...props} />
      </div>
      <SelectionBar {...props} />
      <Failure text={shown.failure.value} onAgain={shown.reload} />
      <ItemTable {...props} />
      <Paging {...props} />
    </div>
  );
}

/** Shows the last page instead of one beyond it: others, or the user, may have deleted items. */
function useLastPage({ page }: ListProps['shown'], show: ListProps['show']): void {
  const found = page.value;
  useEffect(() => {
    if (found === null || found.items.length > 0 || found.total === 0) return;
    show({ page: Math.ceil(found.total / found.query.perPage) }, true);
  }, [found]);
}

const NONE: readonly Item[] = [];

/** Reads the names of the categories that rows have as ids. */
function useCategoryNames({ name }: Collection, items: readonly Item[]): void {
  useEffect(() => {
    if (name !== 'categories' && name !== 'goods') return;
    const ids = items.map((item) => item[name === 'goods' ? 'category3_id' : 'parent_id']);
    needCategories(ids.filter((id) => typeof id === 'number')).catch(complain);
  }, [name, items]);
}

function Heading({ collection, query }: ListProps) {
  const { name } = collection;
  return (
    <div class="heading">
      <h1>{t(`collection.${name}`)}</h1>
      <div class="actions">
        <ColumnsButton collection={collection} />
        <ExportButton collection={collection} query={query} />
        {mayWrite.value && (
          <a class="button primary" href={href(`/${name}/new`)}>
            {t('list.new')}
          </a>
        )}
      </div>
    </div>
  );
}

/**
 * Alt with Page Down and Page Up turns pages, so that hands may stay on the keys. The focus need not
 * be in the list: it is on the whole content after the user has come from another screen.
 */
function usePagingKeys({ shown, query, show }: ListProps): void {
  const turn = (by: number) => {
    const last = Math.ceil((shown.page.value?.total ?? 0) / query.perPage);
    const page = query.page + by;
    if (page >= 1 && page <= last) show({ page });
  };
  const latest = useRef(turn);
  latest.current = turn;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!event.altKey || (event.key !== 'PageDown' && event.key !== 'PageUp')) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') !== null) return;
      latest.current(event.key === 'PageDown' ? 1 : -1);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
