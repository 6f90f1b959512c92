/** Whether a SKU is on sale: a switch for those who may write. */
import { mayWrite } from '../../api/session.ts';
import type { Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { complain } from '../../parts/notices.tsx';
import { changeInPlace } from './change-in-place.ts';

interface CellProps {
  readonly item: Item;
  readonly onChange: (item: Item) => void;
}

export function LaunchedCell({ item, onChange }: CellProps) {
  const launched = item['is_launched'] === true;
  if (!mayWrite.value) return <td>{t(launched ? 'yes' : 'no')}</td>;
  return (
    <td>
      <input
        type="checkbox"
        role="switch"
        aria-label={attributeLabel('is_launched')}
        checked={launched}
        onChange={(event) => {
          const { currentTarget } = event;
          changeInPlace(item, 'is_launched', currentTarget.checked, onChange).catch(
            (error: unknown) => {
              currentTarget.checked = launched;
              complain(error);
            },
          );
        }}
      />
    </td>
  );
}
