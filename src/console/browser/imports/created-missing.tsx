/** The items that an import creates because a name is not found. */
import { t } from '../messages/text.ts';
import { More } from '../parts/data-table.tsx';
import type { Import } from './api.ts';

/** Items that are shown. */
const MAX_SHOWN = 200;

/** Nothing is shown if the import creates no item for a name. */
export function CreatedMissing({ result }: { readonly result: Import }) {
  // Reports of earlier versions have no such list.
  const { created_missing: listed = [], created_missing_count: count = 0 } = result;
  if (count === 0) return null;
  return (
    <>
      <h3>{t('import.createdMissing', { count })}</h3>
      <ul>
        {listed.slice(0, MAX_SHOWN).map(({ row, resource, name }, index) => (
          <li key={index}>
            {t(`collection.${resource}`)}: {name}{' '}
            <span class="soft">
              {t('import.row')} {row}
            </span>
          </li>
        ))}
      </ul>
      <More count={count - MAX_SHOWN} />
    </>
  );
}
