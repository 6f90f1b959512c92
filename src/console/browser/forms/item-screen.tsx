/** The screen of one item, or of a new one. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ApiError, isAborted } from '../api/client.ts';
import type { Collection } from '../api/collections.ts';
import { load } from '../api/items.ts';
import { needCategories } from '../api/references.ts';
import { schemaOf } from '../api/schema.ts';
import { needCurrency } from '../api/summary.ts';
import { lastListAddress } from '../lists/last-address.ts';
import { href, query } from '../location.ts';
import { t } from '../messages/text.ts';
import { wordsFor } from '../parts/notices.tsx';
import { useTitle } from '../parts/title.ts';
import { catalogVersion, useVersion } from '../parts/version.ts';
import { FormState } from './form-state.ts';
import { ItemForm } from './item-form.tsx';
import { showNow } from './save.ts';
import type { TypedFields } from './values.ts';

interface ScreenProps {
  readonly collection: Collection;
  /** Null for a new item. */
  readonly id: number | null;
}

/** What a new item starts with: references that the address names. */
function initialFields(): TypedFields {
  const entries = [...query.value].filter(
    ([name, value]) => name.endsWith('_id') && /^\d{1,15}$/.test(value),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
}

async function openForm({ collection, id }: ScreenProps, signal: AbortSignal): Promise<FormState> {
  const [schema, base] = await Promise.all([
    schemaOf(collection.name),
    id === null ? null : load(collection.name, id, signal),
    Object.values(collection.references).includes('categories') ? needCategories() : null,
    // Prices are shown and typed in it.
    collection.name === 'skus' ? needCurrency() : null,
  ]);
  const form = new FormState(collection, schema, base, id === null ? initialFields() : {});
  form.restore();
  return form;
}

/** Reads the item of a form again. A failure is left to the next save. */
async function refresh(form: FormState, signal: AbortSignal): Promise<void> {
  const base = form.base.value;
  if (base === null) return;
  const now = await load(form.collection.name, base.item.id, signal).catch(() => null);
  // The response to a save may have come first.
  if (now !== null && form.base.value === base) showNow(form, now);
}

/** Another item needs another screen, except one that the form has created. */
export function ItemScreen({ collection, id }: ScreenProps) {
  const form = useSignal<FormState | null>(null);
  const failure = useSignal<unknown>(null);
  const [version, reload] = useVersion();
  const wanted = version + catalogVersion.value;
  // Before the first paint, so that the server works meanwhile.
  useLayoutEffect(() => {
    void wanted;
    failure.value = null;
    const abort = new AbortController();
    const shown = form.value;
    if (shown !== null) {
      void refresh(shown, abort.signal);
      return () => abort.abort();
    }
    openForm({ collection, id }, abort.signal).then(
      (opened) => {
        if (!abort.signal.aborted) form.value = opened;
      },
      (error: unknown) => {
        if (!isAborted(error)) failure.value = error;
      },
    );
    return () => abort.abort();
  }, [collection, form, failure, wanted]);
  return (
    <>
      <nav class="crumbs" aria-label={t('crumbs')}>
        <a href={href(lastListAddress(collection.name))}>← {t('crumbs.back')}</a>
      </nav>
      {failure.value !== null && <Missing error={failure.value} onAgain={reload} />}
      {failure.value === null && form.value === null && <p class="soft">{t('loading')}</p>}
      {form.value !== null && <ItemForm form={form.value} />}
    </>
  );
}

interface MissingProps {
  readonly error: unknown;
  readonly onAgain: () => void;
}

function Missing({ error, onAgain }: MissingProps) {
  const gone = error instanceof ApiError && error.status === 410;
  const unknown = error instanceof ApiError && error.status === 404;
  const title = t(gone ? 'item.gone' : unknown ? 'item.unknown' : 'error.screen');
  useTitle(title);
  return (
    <div role="alert">
      <div class="heading">
        <h1>{title}</h1>
      </div>
      {!gone && !unknown && <p>{wordsFor(error)}</p>}
      {!gone && !unknown && (
        <button type="button" onClick={onAgain}>
          {t('list.again')}
        </button>
      )}
    </div>
  );
}
