/** Which part of the list is shown, and the links to its neighbours. */
import { href } from '../location.ts';
import { t } from '../messages/text.ts';
import { usePagingFocus } from '../parts/paging-focus.ts';
import { listAddress, PAGE_SIZES } from './list-query.ts';
import type { ListProps } from './list-props.ts';

/** While the next page is read, the text and the total are those of the page that is shown. */
export function Paging({ collection, query, show, shown }: ListProps) {
  const { page, perPage } = query;
  const total = shown.page.value?.total ?? 0;
  const count = shown.page.value?.items.length ?? 0;
  const last = Math.max(1, Math.ceil(total / perPage));
  // What is shown until the next page is there, not what the address asks for.
  const before = ((shown.page.value?.query.page ?? 1) - 1) * (shown.page.value?.query.perPage ?? 0);
  const to = (target: number) => href(listAddress(collection, { ...query, page: target }));
  return (
    <nav {...usePagingFocus(page)} class="paging" aria-label={t('paging.label')}>
      <p aria-live="polite">
        {count > 0
          ? t('paging.range', { first: before + 1, last: before + count, count: total })
          : shown.page.value !== null && t('paging.none')}
      </p>
      <label>
        <span class="soft">{t('paging.size')}</span>
        <select
          value={String(perPage)}
          onChange={({ currentTarget }) => show({ perPage: Number(currentTarget.value) })}
        >
          {[...new Set([...PAGE_SIZES, perPage])].map((size) => (
            <option key={size} value={String(size)}>
              {size}
            </option>
          ))}
        </select>
      </label>
      {page > 1 && (
        <a class="button" rel="prev" href={to(Math.min(page - 1, last))}>
          {t('paging.previous')}
        </a>
      )}
      {page < last && (
        <a class="button" rel="next" href={to(page + 1)}>
          {t('paging.next')}
        </a>
      )}
    </nav>
  );
}
