/** Changes several items at once: what is to be done, what it changes, and all or none of it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Collection, responseName } from '../../api/collections.ts';
import { changeMany } from '../../api/items.ts';
import type { Query } from '../../api/paths.ts';
import { needCategories, readCategories } from '../../api/references.ts';
import { schemaOf } from '../../api/schema.ts';
import type { Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { announce, complain, Problem, wordsFor } from '../../parts/notices.tsx';
import { catalogVersion } from '../../parts/version.ts';
import type { BulkProps } from './bulk-props.ts';
import { type Change, changesOf, type Operation } from './changes.ts';
import { ChangeTable } from './change-table.tsx';
import { readAgain } from './fresh.ts';
import { type Offer, offersFor, OperationForm } from './operation-form.tsx';

interface Planned {
  readonly operation: Operation;
  readonly changes: readonly Change[];
}

export function BulkEdit({ collection, selection, onClose, onDone }: BulkProps) {
  const offers = useSignal<readonly Offer[]>([]);
  const planned = useSignal<Planned | null>(null);
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  useEffect(() => {
    Promise.all([schemaOf(collection.name), needCategories()]).then(([schema]) => {
      offers.value = offersFor(collection, schema);
    }, complain);
  }, [collection, offers]);
  const attempt = async (work: () => Promise<void>) => {
    busy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = wordsFor(error);
    } finally {
      busy.value = false;
    }
  };
  const plan = (operation: Operation) =>
    attempt(async () => {
      const ids = [...selection.items.value.keys()];
      const items = await readAgain(collection.name, ids, selection.pages());
      const name = responseName(collection, operation.attribute);
      planned.value = { operation, changes: changesOf(items, operation, name) };
    });
  const apply = ({ changes }: Planned) =>
    attempt(async () => {
      await write(collection, changes, selection.pages());
      selection.clear();
      onClose();
      onDone();
    });
  const count = selection.items.value.size;
  return (
    <Dialog title={t('bulk.title', { count })} onClose={onClose} wide>
      <div class="dialog-body">
        <Problem text={problem.value} />
        {planned.value === null ? (
          <OperationForm
            {...{ collection, offers: offers.value, busy: busy.value }}
            onPlan={plan}
          />
        ) : (
          <ChangeTable collection={collection} changes={planned.value.changes} />
        )}
      </div>
      <PlanFooter planned={planned} busy={busy.value} onApply={apply} />
    </Dialog>
  );
}

interface FooterProps {
  readonly planned: Signal<Planned | null>;
  readonly busy: boolean;
  readonly onApply: (planned: Planned) => Promise<void>;
}

function PlanFooter({ planned, busy, onApply }: FooterProps) {
  const plan = planned.value;
  if (plan === null) return null;
  return (
    <footer>
      <button
        type="button"
        onClick={() => {
          planned.value = null;
        }}
      >
        {t('bulk.back')}
      </button>
      <button
        type="button"
        class="primary"
        disabled={busy || plan.changes.length === 0}
        onClick={() => void onApply(plan)}
      >
        {t('bulk.apply', { count: plan.changes.length })}
      </button>
    </footer>
  );
}

/** Items that a failure names are few; those that have changed since the preview are named. */
async function write(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
): Promise<void> {
  const { name } = collection;
  await requireUnchanged(collection, changes, pages);
  await changeMany(
    name,
    changes.map(({ item, attribute, after }) => ({ id: item.id, [attribute]: after })),
  );
  if (name === 'categories') await readCategories();
  const back = changes.map(({ item, attribute, before }) => ({ id: item.id, [attribute]: before }));
  const undo = async () => {
    await changeMany(name, back);
    if (name === 'categories') await readCategories();
    catalogVersion.value += 1;
    announce(t('undo.done', { count: back.length }));
  };
  announce(t('bulk.done', { count: changes.length }), {
    label: t('undo'),
    run: () => void undo().catch(complain),
  });
}

/**
 * The API has no condition on an array, so it is looked once more whether the preview still holds.
 *
 * @throws Error if somebody has changed one of the values meanwhile; ApiError, TypeError.
 */
async function requireUnchanged(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
): Promise<void> {
  const ids = changes.map(({ item }) => item.id);
  const now = new Map<number, Item>();
  for (const item of await readAgain(collection.name, ids, pages)) now.set(item.id, item);
  const stale = changes.filter(({ item, attribute, before }) => {
    const value = now.get(item.id)?.[responseName(collection, attribute)];
    return (value ?? null) !== before;
  });
  if (stale.length === 0) return;
  throw new Error(t('bulk.stale', { count: stale.length }));
}
