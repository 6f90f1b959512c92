/** What is shown below the form of an SPU: its specifications with their options, and its SKUs. */
import { listAll } from '../../api/items.ts';
import { needCurrency } from '../../api/summary.ts';
import type { Item } from '../../api/types.ts';
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

/** @throws ApiError, TypeError. */
async function readSkus(spu: number): Promise<readonly Item[]> {
  const [skus] = await Promise.all([
    listAll('skus', { spu_id: String(spu) }),
    // Prices are shown and typed in it.
    needCurrency(),
  ]);
  return skus;
}

interface SpuPartsProps {
  readonly spu: Item;
  /** Of the SPU. */
  readonly form: FormState;
}

/** What is here is written at once, apart from the form. */
export function SpuParts({ spu, form }: SpuPartsProps) {
  const { id } = spu;
  const dependencies = [id, catalogVersion.value];
  const specs = useReading((signal) => readSpecs(id, signal), dependencies);
  const skus = useReading(() => readSkus(id), dependencies);
  const failure = specs.failure.value ?? skus.failure.value;
  const reload = () => {
    specs.reload();
    skus.reload();
  };
  const failed = <Failure text={failure} onAgain={reload} />;
  if (specs.found.value === null || skus.found.value === null) {
    return failure === null ? <p class="soft">{t('loading')}</p> : failed;
  }
  const found = { specs: specs.found.value, skus: skus.found.value };
  const given: Parts = { spu, ...found, reload, reloadSpecs: specs.reload };
  return (
    <div class="spu-parts">
      {failed}
      <MoveSkus {...given} from={form.movedFrom.value} />
      <SpecsEditor {...given} />
      <Matrix {...given} />
    </div>
  );
}
