/** Whether a SKU is on sale: a switch for those who may write. */
import { useSignal } from '@preact/signals';
import { isLost } from '../../api/client.ts';
import type { Collection } from '../../api/collections.ts';
import { mayWrite } from '../../api/session.ts';
import type { Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { changeInPlace, complainOf, showNow, useShown } from '../../parts/change-in-place.ts';

interface CellProps {
  readonly collection: Collection;
  readonly item: Item;
  readonly onChange: (item: Item) => void;
}

/** A click writes at once; further clicks do nothing until the list shows the result. */
export function LaunchedCell({ collection, item, onChange }: CellProps) {
  const launched = item['is_launched'] === true;
  /** What is being written; null if nothing is. */
  const wanted = useSignal<boolean | null>(null);
  const isShown = useShown();
  if (!mayWrite.value) return <td>{t(launched ? 'yes' : 'no')}</td>;
  return (
    <td>
      <input
        type="checkbox"
        role="switch"
        aria-label={attributeLabel('is_launched')}
        checked={wanted.value ?? launched}
        aria-busy={wanted.value !== null}
        onChange={(event) => {
          const { currentTarget } = event;
          if (wanted.value !== null) {
            // The list still shows what was before, so another click cannot be compared with it.
            currentTarget.checked = wanted.value;
            return;
          }
          const next = currentTarget.checked;
          wanted.value = next;
          const place = { collection, shown: item, attribute: 'is_launched', onChange, isShown };
          changeInPlace(place, next)
            .catch(async (error: unknown) => {
              // Not after the complaint, which the next response of the server would close.
              if (isLost(error)) await showNow(place);
              complainOf(place, next, error);
            })
            .finally(() => {
              wanted.value = null;
            });
        }}
      />
    </td>
  );
}
