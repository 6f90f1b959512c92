/** An SPU that has moved to another category: its SKUs stay where they are, until they follow. */
import { changeMany } from '../../api/items.ts';
import { mayWrite } from '../../api/session.ts';
import { categories } from '../../api/references.ts';
import { t } from '../../messages/text.ts';
import { announce, complain } from '../../parts/notices.tsx';
import type { Parts } from './parts.ts';

interface MoveProps extends Parts {
  /** The category in which the SPU was before; null if it has not moved. */
  readonly from: number | null;
}

/** Nothing if no SKU is in the former category, and nothing for those who may not write. */
export function MoveSkus({ spu, skus, from, reload }: MoveProps) {
  const target = spu['category3_id'] as number;
  const elsewhere = from === target ? [] : skus.filter((sku) => sku['category_id'] === from);
  if (elsewhere.length === 0 || !mayWrite.value) return null;
  const category = categories.value?.get(target)?.path ?? `#${target}`;
  const count = elsewhere.length;
  const move = async () => {
    const before = elsewhere.map((sku) => ({
      id: sku.id,
      category_id: sku['category_id'] as number,
    }));
    await changeMany(
      'skus',
      elsewhere.map(({ id }) => ({ id, category_id: target })),
    );
    announce(t('spu.moved', { count, category }), {
      label: t('undo'),
      run: () => changeMany('skus', before).then(reload),
    });
    reload();
  };
  return (
    <div class="notice-inline">
      <p>{t('spu.elsewhere', { count, category })}</p>
      <button type="button" onClick={() => void move().catch(complain)}>
        {t('spu.move', { count })}
      </button>
    </div>
  );
}
