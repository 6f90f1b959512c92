/** Deletes an item after saying what goes with it and what stands in the way, and offers to undo it. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { COLLECTIONS, type Collection } from '../api/collections.ts';
import { list, load, type Loaded, remove } from '../api/items.ts';
import { Removal } from '../api/removal.ts';
import { lastListAddress } from '../lists/last-address.ts';
import { navigate } from '../location.ts';
import type { MessageKey } from '../messages/message.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { titleOf } from '../parts/attributes.ts';
import { followCategories } from '../parts/category-changes.ts';
import { confirm, dialogsClosed } from '../parts/dialog.tsx';
import { announce, complain } from '../parts/notices.tsx';
import { undoDeletion } from '../parts/undo.ts';
import { catalogVersion } from '../parts/version.ts';
import type { FormState } from './form-state.ts';
import { differs, showNow } from './save.ts';

/** What refers to an item, by collection: `12 SKUs`. @throws ApiError, TypeError. */
async function referring(collection: Collection, id: number): Promise<string[]> {
  const pages = COLLECTIONS[collection.name].dependents.map(async ([name, filter]) => {
    const { total } = await list(name, { [filter]: String(id), per_page: '1' });
    return { name, total };
  });
  const counts = new Map<string, number>();
  for (const { name, total } of await Promise.all(pages)) {
    if (total > 0) counts.set(name, (counts.get(name) ?? 0) + total);
  }
  return [...counts].map(([name, count]) => t(`count.${name}` as MessageKey, { count }));
}

/**
 * Deletes an item as it was read. If another user has changed it, the form shows what it is now,
 * unless that would take what is unsaved.
 *
 * @throws Error if another user has changed it; ApiError, TypeError.
 */
async function removeAsRead(form: FormState, { item, etag }: Loaded): Promise<void> {
  const { collection } = form;
  try {
    await remove(collection.name, item.id, etag);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    const now = await load(collection.name, item.id);
    // Only the name of something that the item refers to has changed.
    if (!differs(form, item, now.item)) return removeAsRead(form, now);
    showNow(form, now);
    const name = titleOf(collection, now.item);
    throw new Error(t('delete.changed', { name }), { cause: error });
  }
}

/** @param form of an item that exists. */
export function DeleteButton({ form }: { readonly form: FormState }) {
  const { collection } = form;
  const button = useRef<HTMLButtonElement>(null);
  const removal = useRef(new Removal());
  const asking = useSignal(false);
  const run = useOneAtATime(async () => {
    const loaded = form.base.value;
    if (loaded === null) return;
    const { item } = loaded;
    const name = titleOf(collection, item);
    asking.value = true;
    const inTheWay = await referring(collection, item.id).finally(() => {
      asking.value = false;
    });
    // While the server was asked, the user may have gone to another screen.
    if (button.current === null) return;
    const agreed = await confirm({
      title: t('delete.title', { name }),
      text: (
        <>
          {inTheWay.length > 0 && (
            <p class="problem">{t('delete.inTheWay', { what: inTheWay.join(', ') })}</p>
          )}
          {collection.name === 'skus' && <p>{t('delete.sku')}</p>}
          {inTheWay.length === 0 && (
            <p>{t(collection.administered ? 'delete.undoable' : 'delete.final')}</p>
          )}
        </>
      ),
      yes: t('form.delete'),
    });
    if (!agreed) return;
    await removal.current.once(() => removeAsRead(form, loaded));
    const undo = {
      label: t('undo'),
      run: () => undoDeletion(collection.name, [item.id]),
    };
    announce(t('delete.done', { name }), collection.administered ? undo : null);
    followCategories(collection.name);
    await dialogsClosed();
    // While it was deleted, the user may have gone to another screen.
    if (button.current === null) {
      catalogVersion.value += 1;
      return;
    }
    form.discard();
    await navigate(lastListAddress(collection.name), { asks: false });
  });
  return (
    <button
      ref={button}
      type="button"
      class="danger"
      // A button that is disabled would lose the focus.
      aria-disabled={asking.value}
      onClick={() => void run().catch(complain)}
    >
      {t('form.delete')}
    </button>
  );
}
