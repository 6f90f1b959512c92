/** An SPU that has moved to another category: its SKUs stay where they are, until they follow. */
import { collectionOf } from '../../api/collections.ts';
import { mayWrite } from '../../api/session.ts';
import { categories } from '../../api/references.ts';
import type { Change } from '../../lists/bulk/changes.ts';
import { writeUnchanged } from '../../lists/bulk/write-unchanged.ts';
import type { MessageKey } from '../../messages/message.ts';
import { t } from '../../messages/text.ts';
import { useOneAtATime } from '../../one-at-a-time.ts';
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
  const category = categories.value?.get(target)?.path ?? `#${target}`;
  const count = elsewhere.length;
  const move = useOneAtATime(async () => {
    const changes = elsewhere.map((item) => {
      return { item, attribute: 'category_id', before: from, after: target };
    });
    const back = changes.map((each) => ({ ...each, before: target, after: from }));
    const pages = [{ spu_id: String(spu.id), per_page: '1000' }];
    const write = (some: readonly Change[], stale: MessageKey) =>
      writeUnchanged(collectionOf('skus'), some, pages, stale).finally(reload);
    await write(changes, 'spu.moveStale');
    announce(t('spu.moved', { count, category }), {
      label: t('undo'),
      run: async () => {
        await write(back, 'undo.stale');
        announce(t('undo.done', { count }));
      },
    });
  });
  if (count === 0 || !mayWrite.value) return null;
  return (
    <div class="notice-inline">
      <p>{t('spu.elsewhere', { count, category })}</p>
      <button type="button" onClick={() => void move().catch(complain)}>
        {t('spu.move', { count })}
      </button>
    </div>
  );
}
