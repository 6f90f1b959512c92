/** What can be done with the selected items. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ListedPage, listPages, MAX_ELEMENTS } from '../api/items.ts';
import { mayWrite } from '../api/session.ts';
import { t } from '../messages/text.ts';
import { later } from '../parts/later.tsx';
import { moreScreens } from '../load-screens.ts';
import { complain } from '../parts/notices.tsx';
import { matching } from './list-query.ts';
import type { ListProps } from './list-props.ts';
import type { Selection } from './selection.ts';

const BulkDelete = later(async () => (await moreScreens()).BulkDelete);
const BulkEdit = later(async () => (await moreScreens()).BulkEdit);

/** Selects items until the user unselects one: what was unselected does not come back. */
async function select(selection: Selection, pages: AsyncIterable<ListedPage>): Promise<void> {
  const removals = selection.removals();
  for await (const { items, query } of pages) {
    if (selection.removals() !== removals) return;
    selection.set(items, true, query);
  }
}

/** Nothing while no item is selected, and nothing for those who may not write. */
export function SelectionBar(props: ListProps) {
  const { collection, selection, shown } = props;
  const open = useSignal<'edit' | 'delete' | null>(null);
  const count = selection.items.value.size;
  const page = shown.page.value;
  const total = page?.total ?? 0;
  const most = Math.min(total, MAX_ELEMENTS);
  const isAll = count >= most;
  const bar = useRef<HTMLDivElement>(null);
  const asked = useRef(false);
  useLayoutEffect(() => {
    // The button is removed when it has done its work, and what it has selected is to be changed.
    const lost = asked.current && document.activeElement === document.body;
    if (lost) bar.current?.querySelector('button')?.focus();
    asked.current = false;
  }, [isAll]);
  // A dialog stays if another user signs in: it says what was done until then.
  if (count === 0 || (!mayWrite.value && open.value === null)) return null;
  const opened = open.value;
  // A dialog that was left, and ends later, does not close the next one.
  const close = () => {
    if (open.value === opened) open.value = null;
  };
  const selectAll = async () => {
    if (page === null) return;
    asked.current = true;
    await select(selection, listPages(collection.name, matching(page.query)));
  };
  const given = { collection, selection, onClose: close, onDone: shown.reload };
  return (
    <div ref={bar} class="selection" role="group" aria-label={t('select.label')}>
      <p aria-live="polite">{t('select.count', { count })}</p>
      {!isAll && (
        <button type="button" class="plain" onClick={() => void selectAll().catch(complain)}>
          {total > most
            ? t('select.first', { count: most, total })
            : t('select.all', { count: most })}
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          open.value = 'edit';
        }}
      >
        {t('bulk.edit')}
      </button>
      <button
        type="button"
        class="danger"
        onClick={() => {
          open.value = 'delete';
        }}
      >
        {t('bulk.delete')}
      </button>
      <button type="button" class="plain" onClick={selection.clear}>
        {t('select.none')}
      </button>
      {open.value === 'edit' && <BulkEdit {...given} />}
      {open.value === 'delete' && <BulkDelete {...given} />}
    </div>
  );
}
