/** Deletes several items, after listing them and what goes with them. */
import { useSignal } from '@preact/signals';
import type { Collection } from '../../api/collections.ts';
import { remove } from '../../api/items.ts';
import { readCategories } from '../../api/references.ts';
import type { Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { titleOf } from '../../parts/attributes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { announce, complain, wordsFor } from '../../parts/notices.tsx';
import { undoDeletion } from '../../parts/undo.ts';
import type { BulkProps } from './bulk-props.ts';

/** Names that are listed. */
const MAX_LISTED = 100;

interface Outcome {
  readonly deleted: readonly number[];
  /** What the server refused, with the name of the item. */
  readonly refused: readonly string[];
}

/** Deletes one item after the other. @param onProgress gets how many are done. */
async function deleteAll(
  collection: Collection,
  items: readonly Item[],
  onProgress: (done: number) => void,
): Promise<Outcome> {
  const deleted: number[] = [];
  const refused: string[] = [];
  for (const [at, item] of items.entries()) {
    onProgress(at);
    try {
      await remove(collection.name, item.id);
      deleted.push(item.id);
    } catch (error) {
      refused.push(`${titleOf(collection, item)}: ${wordsFor(error)}`);
    }
  }
  return { deleted, refused };
}

export function BulkDelete({ collection, selection, onClose, onDone }: BulkProps) {
  const progress = useSignal<number | null>(null);
  const refused = useSignal<readonly string[]>([]);
  const items = [...selection.items.value.values()];
  const { name } = collection;
  const run = async () => {
    const outcome = await deleteAll(collection, items, (done) => {
      progress.value = done;
    });
    progress.value = null;
    await finish(outcome);
  };
  const finish = async ({ deleted, refused: problems }: Outcome) => {
    selection.set(
      items.filter(({ id }) => deleted.includes(id)),
      false,
    );
    if (deleted.length > 0) {
      if (name === 'categories') await readCategories();
      const undo = () => void undoDeletion(name, deleted.toReversed()).catch(complain);
      announce(t('bulk.deleted', { count: deleted.length }), { label: t('undo'), run: undo });
      onDone();
    }
    refused.value = problems;
    if (problems.length === 0) onClose();
  };
  const count = items.length;
  return (
    <Dialog title={t('bulk.deleteTitle', { count })} onClose={onClose} alert>
      <div class="dialog-body">
        <div role="alert">
          {refused.value.length > 0 && (
            <Names
              intro={t('bulk.refused', { count: refused.value.length })}
              names={refused.value}
            />
          )}
        </div>
        {refused.value.length === 0 && (
          <Names
            intro={t(name === 'skus' ? 'bulk.deleteSkus' : 'bulk.deleteOthers')}
            names={items.map((item) => titleOf(collection, item))}
          />
        )}
        {progress.value !== null && (
          <progress max={count} value={progress.value} aria-label={t('bulk.progress')} />
        )}
      </div>
      <footer>
        <button type="button" onClick={onClose}>
          {t(refused.value.length > 0 ? 'dialog.close' : 'dialog.cancel')}
        </button>
        {refused.value.length === 0 && (
          <button
            type="button"
            class="danger"
            disabled={progress.value !== null}
            onClick={() => void run().catch(complain)}
          >
            {t('bulk.deleteAction', { count })}
          </button>
        )}
      </footer>
    </Dialog>
  );
}

function Names({ intro, names }: { readonly intro: string; readonly names: readonly string[] }) {
  const more = names.length - MAX_LISTED;
  return (
    <>
      <p>{intro}</p>
      <ul class="names">
        {names.slice(0, MAX_LISTED).map((name, at) => (
          <li key={`${at} ${name}`}>{name}</li>
        ))}
      </ul>
      {more > 0 && <p class="soft">{t('bulk.more', { count: more })}</p>}
    </>
  );
}
