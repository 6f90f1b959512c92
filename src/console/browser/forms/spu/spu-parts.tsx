/** What is shown below the form of an SPU: its specifications with their options, and its SKUs. */
import { listAll } from '../../api/items.ts';
import { needCurrency } from '../../api/summary.ts';
import { t } from '../../messages/text.ts';
import { Failure } from '../../parts/notices.tsx';
import { useReading } from '../../parts/use-reading.ts';
import { catalogVersion } from '../../parts/version.ts';
import type { FormState } from '../form-state.ts';
import { Matrix } from './matrix.tsx';
import { MoveSkus } from './move-skus.tsx';
import type { Parts } from './parts.ts';
import { readSpecs } from './specs.ts';
import { SpecsEditor } from './specs-editor.tsx';

type ReadParts = Pick<Parts, 'specs' | 'skus'>;

/** @param id undefined if the SPU does not exist yet. @throws ApiError, TypeError. */
async function readParts(id: number | undefined, signal: AbortSignal): Promise<ReadParts | null> {
  if (id === undefined) return null;
  const [specs, skus] = await Promise.all([
    readSpecs(id, signal),
    listAll('skus', { spu_id: String(id) }),
    // Prices are shown and typed in it.
    needCurrency(),
  ]);
  return { specs, skus };
}

/** @param form of an SPU that exists. What is here is written at once, apart from the form. */
export function SpuParts({ form }: { readonly form: FormState }) {
  const spu = form.base.value?.item;
  const id = spu?.id;
  const {
    found: parts,
    failure,
    reload,
  } = useReading((signal) => readParts(id, signal), [id, catalogVersion.value]);
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
