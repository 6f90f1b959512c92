/** Deletes several items, after listing them and what goes with them. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { Collection } from '../../api/collections.ts';
import { isGone, isLost } from '../../api/client.ts';
import { remove } from '../../api/items.ts';
import type { CollectionName, Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { titleOf } from '../../parts/attributes.ts';
import { useOneAtATime } from '../../one-at-a-time.ts';
import { followCategories } from '../../parts/category-changes.ts';
import { More } from '../../parts/data-table.tsx';
import { Dialog, DialogStatus } from '../../parts/dialog.tsx';
import { announce, complain, mayPass, wordsFor } from '../../parts/notices.tsx';
import { undoDeletion } from '../../parts/undo.ts';
import type { BulkProps } from './bulk-props.ts';

/** Names that are listed. */
const MAX_LISTED = 100;

interface Outcome {
  readonly deleted: readonly Item[];
  /** Items that another user had deleted. */
  readonly gone: readonly Item[];
  /** What ended it before the last item: the name of an item, and why it was refused. */
  readonly refusal: string | null;
  /** This item if the response of the server is lost; it may be deleted. */
  readonly unknown: Item | null;
}

interface Deletion {
  /** Items that are deleted; null before it begins. */
  readonly progress: Signal<number | null>;
  /** Set to end it after the item that is being deleted. */
  readonly cancelled: Signal<boolean>;
}

/** The API deletes one item at a time: the first that is refused ends it, unless it is gone. */
async function deleteAll(
  collection: Collection,
  items: readonly Item[],
  { progress, cancelled }: Deletion,
): Promise<Outcome> {
  const deleted: Item[] = [];
  const gone: Item[] = [];
  for (const item of items) {
    if (cancelled.value) break;
    progress.value = deleted.length + gone.length;
    try {
      await remove(collection.name, item.id);
      deleted.push(item);
    } catch (error) {
      if (!isGone(error)) {
        const refusal = `${titleOf(collection, item)}: ${wordsFor(error)}`;
        return { deleted, gone, refusal, unknown: isLost(error) ? item : null };
      }
      gone.push(item);
    }
  }
  return { deleted, gone, refusal: null, unknown: null };
}

/** @throws ApiError, TypeError. */
function restore(name: CollectionName, deleted: readonly Item[]): Promise<void> {
  return undoDeletion(name, deleted.map(({ id }) => id).toReversed());
}

function offerToRestore(name: CollectionName, outcome: Outcome): void {
  const items = restorable(outcome);
  const count = items.length;
  const undo = { label: t('undo'), run: () => restore(name, items) };
  const text = outcome.unknown === null ? 'bulk.deleted' : 'bulk.maybeDeleted';
  announce(t(text, { count }), count === 0 ? null : undo);
}

/** To restore an item that is not deleted changes nothing. */
function restorable({ deleted, unknown }: Outcome): readonly Item[] {
  return unknown === null ? deleted : [...deleted, unknown];
}

/** Back takes the dialog with the list: nobody would learn of a refusal then. */
function useCancelledWhenRemoved(cancelled: Signal<boolean>): void {
  useLayoutEffect(
    () => () => {
      cancelled.value = true;
    },
    [cancelled],
  );
}

/** It can be stopped, or be refused, in between: what was deleted until then can be undone. */
export function BulkDelete({ collection, selection, onClose, onDone }: BulkProps) {
  const deletion = { progress: useSignal<number | null>(null), cancelled: useSignal(false) };
  const stopped = useSignal<Outcome | null>(null);
  const { progress, cancelled } = deletion;
  useCancelledWhenRemoved(cancelled);
  const items = [...selection.items.value.values()];
  const { name } = collection;
  const run = useOneAtATime(async () => {
    const outcome = await deleteAll(collection, items, deletion);
    const { deleted, gone, refusal, unknown } = outcome;
    selection.set([...deleted, ...gone], false);
    const mayBeLess = deleted.length + gone.length > 0 || unknown !== null;
    if (mayBeLess) {
      // If one was refused, the dialog offers it, unless it was closed before.
      if (refusal === null || cancelled.value) offerToRestore(name, outcome);
      onDone();
    }
    if (refusal === null) onClose();
    else stopped.value = outcome;
    progress.value = null;
    if (mayBeLess) followCategories(name);
  });
  const close = () => {
    cancelled.value = true;
    onClose();
  };
  if (stopped.value !== null) return <Stopped {...{ name, onClose }} outcome={stopped.value} />;
  const count = items.length;
  return (
    <Dialog title={t('bulk.deleteTitle', { count })} onClose={close} alert>
      <div class="dialog-body">
        <p>{t('bulk.deleteOneByOne')}</p>
        <Names
          intro={t(name === 'skus' ? 'bulk.deleteSkus' : 'bulk.deleteOthers')}
          names={items.map((item) => titleOf(collection, item))}
        />
        {progress.value !== null && (
          <progress max={count} value={progress.value} aria-label={t('bulk.progress')} />
        )}
      </div>
      <footer>
        <DialogStatus />
        <button type="button" onClick={close}>
          {t('dialog.cancel')}
        </button>
        <button
          type="button"
          class="danger"
          // A button that is disabled would lose the focus.
          aria-disabled={progress.value !== null}
          onClick={() => void run().catch(complain)}
        >
          {t('bulk.deleteAction', { count })}
        </button>
      </footer>
    </Dialog>
  );
}

interface StoppedProps {
  readonly name: CollectionName;
  readonly outcome: Outcome;
  readonly onClose: () => void;
}

/** One item was refused: what is gone already, and the offer to bring it back. */
function Stopped({ name, outcome, onClose }: StoppedProps) {
  const { deleted, refusal, unknown } = outcome;
  const items = restorable(outcome);
  const count = items.length;
  const leave = () => {
    onClose();
    if (count > 0) offerToRestore(name, outcome);
  };
  return (
    <Dialog title={t('bulk.stopped')} onClose={leave} alert>
      <div class="dialog-body">
        <div role="alert">
          <p class="problem">{refusal}</p>
          {unknown !== null && <p>{t('bulk.unknown')}</p>}
          <p>
            {deleted.length === 0
              ? t(unknown === null ? 'bulk.noneDeleted' : 'bulk.noOther')
              : t('bulk.deletedBefore', { count: deleted.length })}
          </p>
        </div>
      </div>
      <footer>
        {count > 0 && (
          <button
            type="button"
            onClick={() => {
              onClose();
              restore(name, items).catch((error: unknown) => {
                complain(error);
                if (mayPass(error)) offerToRestore(name, outcome);
              });
            }}
          >
            {t('bulk.bringBack', { count })}
          </button>
        )}
        <button type="button" class="primary" onClick={leave}>
          {t(count > 0 ? 'bulk.leave' : 'dialog.done')}
        </button>
      </footer>
    </Dialog>
  );
}

function Names({ intro, names }: { readonly intro: string; readonly names: readonly string[] }) {
  return (
    <>
      <p>{intro}</p>
      <ul class="names">
        {names.slice(0, MAX_LISTED).map((name, at) => (
          <li key={`${at} ${name}`}>{name}</li>
        ))}
      </ul>
      <More count={names.length - MAX_LISTED} />
    </>
  );
}
