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

/**
 * Selects everything that the list shows, on all of its pages.
 *
 * @returns what begins it, which does nothing while it is under way, and whether it is. It ends early
 *   when the user unselects something.
 */
function useSelectAll({ collection, selection, shown }: ListProps) {
  // How often items had been unselected when it began.
  const begun = useSignal<number | null>(null);
  const isSelecting = begun.value === selection.removals();
  const selectAll = async () => {
    const page = shown.page.value;
    const removals = selection.removals();
    if (page === null || begun.value === removals) return;
    begun.value = removals;
    try {
      await select(selection, listPages(collection.name, matching(page.query)));
    } catch (error) {
      complain(error);
    } finally {
      if (begun.value === removals) begun.value = null;
    }
  };
  return { isSelecting, selectAll };
}

/** Nothing while no item is selected, and nothing for those who may not write. */
export function SelectionBar(props: ListProps) {
  const { collection, selection, shown } = props;
  const open = useSignal<'edit' | 'delete' | null>(null);
  const { isSelecting, selectAll } = useSelectAll(props);
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
  // A change of what is selected so far would look like one of everything.
  const offer = (dialog: 'edit' | 'delete') => {
    if (!isSelecting) open.value = dialog;
  };
  const given = { collection, selection, onClose: close, onDone: shown.reload };
  return (
    <div ref={bar} class="selection" role="group" aria-label={t('select.label')}>
      <p aria-live="polite">
        {t('select.count', { count })} {isSelecting && <span class="soft">{t('loading')}</span>}
      </p>
      {!isAll && (
        <button
          type="button"
          class="plain"
          // A button that is disabled would lose the focus.
          aria-disabled={isSelecting}
          onClick={() => {
            asked.current = true;
            void selectAll();
          }}
        >
          {total > most
            ? t('select.first', { count: most, total })
            : t('select.all', { count: most })}
        </button>
      )}
      <button type="button" aria-disabled={isSelecting} onClick={() => offer('edit')}>
        {t('bulk.edit')}
      </button>
      <button
        type="button"
        class="danger"
        aria-disabled={isSelecting}
        onClick={() => offer('delete')}
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
