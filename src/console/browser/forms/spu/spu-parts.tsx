/** What is shown below the form of an SPU: its specifications with their options, and its SKUs. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { listAll } from '../../api/items.ts';
import { needCurrency } from '../../api/summary.ts';
import { t } from '../../messages/text.ts';
import { Failure, wordsFor } from '../../parts/notices.tsx';
import { catalogVersion, useVersion } from '../../parts/version.ts';
import type { FormState } from '../form-state.ts';
import { Matrix } from './matrix.tsx';
import { MoveSkus } from './move-skus.tsx';
import type { Parts } from './parts.ts';
import { readSpecs } from './specs.ts';
import { SpecsEditor } from './specs-editor.tsx';

/** @param form of an SPU that exists. What is here is written at once, apart from the form. */
export function SpuParts({ form }: { readonly form: FormState }) {
  const parts = useSignal<Pick<Parts, 'specs' | 'skus'> | null>(null);
  const failure = useSignal<string | null>(null);
  const [version, reload] = useVersion();
  const spu = form.base.value?.item;
  const id = spu?.id;
  const wanted = version + catalogVersion.value;
  useEffect(() => {
    void wanted;
    if (id === undefined) return;
    const abort = new AbortController();
    Promise.all([
      readSpecs(id, abort.signal),
      listAll('skus', { spu_id: String(id) }),
      // Prices are shown and typed in it.
      needCurrency(),
    ]).then(
      ([specs, skus]) => {
        // The responses to later requests may have come first.
        if (abort.signal.aborted) return;
        parts.value = { specs, skus };
        failure.value = null;
      },
      (error: unknown) => {
        if (!abort.signal.aborted) failure.value = wordsFor(error);
      },
    );
    return () => abort.abort();
  }, [id, wanted, parts, failure]);
  const failed = <Failure text={failure.value} onAgain={reload} />;
  if (spu === undefined || parts.value === null) {
    return failure.value === null ? <p class="soft">{t('loading')}</p> : failed;
  }
  const given: Parts = { spu, ...parts.value, reload };
  return (
    <div class="spu-parts">
      {failed}
      <MoveSkus {...given} from={form.movedFrom.value} />
      <SpecsEditor {...given} />
      <Matrix {...given} />
    </div>
  );
}
