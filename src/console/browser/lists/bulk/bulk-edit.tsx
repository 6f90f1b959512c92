/** Changes several items at once: what is to be done, what it changes, and all or none of it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Collection, responseName } from '../../api/collections.ts';
import { isLost } from '../../api/client.ts';
import { MAX_ELEMENTS } from '../../api/items.ts';
import type { Query } from '../../api/paths.ts';
import { needCategories } from '../../api/references.ts';
import { schemaOf } from '../../api/schema.ts';
import { needCurrency } from '../../api/summary.ts';
import { t } from '../../messages/text.ts';
import { Dialog, DialogSaving, useComplaint } from '../../parts/dialog.tsx';
import { announce, Problem, wordsFor } from '../../parts/notices.tsx';
import { catalogVersion } from '../../parts/version.ts';
import type { BulkProps } from './bulk-props.ts';
import { type Change, changesOf, type Operation } from './changes.ts';
import { ChangeTable } from './change-table.tsx';
import { readAgain } from './fresh.ts';
import { NOTHING_ENTERED, type Offer, offersFor, OperationForm } from './operation-form.tsx';
import { writeUnchanged } from './write-unchanged.ts';

interface Planned {
  readonly operation: Operation;
  readonly changes: readonly Change[];
}

/** @throws ApiError, TypeError. */
async function readOffers(collection: Collection): Promise<readonly Offer[]> {
  const [schema] = await Promise.all([
    schemaOf(collection.name),
    needCategories(),
    // Prices are shown and typed in it.
    collection.name === 'skus' ? needCurrency() : null,
  ]);
  return offersFor(collection, schema);
}

/** Items are read again before the plan, since the selection may hold them as they were. */
export function BulkEdit({ collection, selection, onClose, onDone }: BulkProps) {
  const offers = useSignal<readonly Offer[]>([]);
  const planned = useSignal<Planned | null>(null);
  const entered = useSignal(NOTHING_ENTERED);
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const show = (error: unknown) => {
    problem.value = wordsFor(error);
  };
  useEffect(() => {
    readOffers(collection).then((found) => {
      offers.value = found;
    }, show);
  }, [collection, offers]);
  const complainOf = useComplaint(show);
  const attempt = async (work: () => Promise<void>, fail: (error: unknown) => void) => {
    if (busy.value) return;
    busy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      fail(error);
    } finally {
      busy.value = false;
    }
  };
  const plan = (operation: Operation) =>
    attempt(async () => {
      const ids = [...selection.items.value.keys()];
      const items = await readAgain(collection.name, ids, selection.pages());
      const name = responseName(collection, operation.attribute);
      const changes = changesOf(items, operation, name);
      if (changes.length > MAX_ELEMENTS) {
        throw new Error(t('bulk.tooMany', { most: MAX_ELEMENTS, count: changes.length }));
      }
      planned.value = { operation, changes };
    }, show);
  const fail = (error: unknown) => {
    // It may be written, and the user may leave it at that.
    if (isLost(error)) onDone();
    complainOf(error);
  };
  const apply = ({ changes }: Planned) =>
    attempt(async () => {
      await write(collection, changes, selection.pages());
      selection.clear();
      onClose();
      onDone();
    }, fail);
  const count = selection.items.value.size;
  const isOffering = offers.value.length > 0 || problem.value === null;
  return (
    <Dialog title={t('bulk.title', { count })} onClose={onClose} wide asks>
      <div class="dialog-body">
        <Problem text={problem.value} />
        {planned.value === null && isOffering && (
          <OperationForm
            {...{ collection, offers: offers.value, entered, busy: busy.value }}
            onPlan={plan}
          />
        )}
        {planned.value !== null && (
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
      <DialogSaving />
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
        disabled={plan.changes.length === 0}
        // A button that is disabled would lose the focus.
        aria-disabled={busy}
        onClick={() => void onApply(plan)}
      >
        {t('bulk.apply', { count: plan.changes.length })}
      </button>
    </footer>
  );
}

/** Writes the changes, and offers to undo them. */
async function write(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
): Promise<void> {
  await writeUnchanged(collection, changes, pages, 'bulk.stale');
  const back = changes.map((each) => ({ ...each, before: each.after, after: each.before }));
  const undo = async () => {
    await writeUnchanged(collection, back, pages, 'undo.stale');
    catalogVersion.value += 1;
    announce(t('undo.done', { count: back.length }));
  };
  announce(t('bulk.done', { count: changes.length }), {
    label: t('undo'),
    run: undo,
  });
}
