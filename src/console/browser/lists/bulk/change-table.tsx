/** What a bulk edit changes, before it is done. */
import { type Collection, referencesOf } from '../../api/collections.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel, shownValue, titleOf } from '../../parts/attributes.ts';
import { DataTable, More } from '../../parts/data-table.tsx';
import { TypedText } from '../../forms/typed-text.tsx';
import type { Value } from '../../api/types.ts';
import type { Change } from './changes.ts';

/** Changes that are listed. */
const MAX_LISTED = 200;

interface TableProps {
  readonly collection: Collection;
  readonly changes: readonly Change[];
}

/** @param changes all of the same attribute. */
export function ChangeTable({ collection, changes }: TableProps) {
  const [first] = changes;
  if (first === undefined) return <p>{t('bulk.nothing')}</p>;
  const label = attributeLabel(first.attribute);
  return (
    <>
      <p aria-live="polite">{t('bulk.preview', { count: changes.length })}</p>
      <DataTable
        label={t('bulk.changes')}
        columns={[
          attributeLabel(collection.title),
          t('bulk.before', { label }),
          t('bulk.after', { label }),
        ]}
        class="stacked"
      >
        {changes.slice(0, MAX_LISTED).map(({ item, attribute, before, after }) => (
          <tr key={item.id}>
            <th scope="row">{titleOf(collection, item)}</th>
            <td class="wraps">
              <ValueText {...{ collection, attribute }} value={before} />
            </td>
            <td class="wraps kept">
              <ValueText {...{ collection, attribute }} value={after} />
            </td>
          </tr>
        ))}
      </DataTable>
      <More count={changes.length - MAX_LISTED} />
    </>
  );
}

interface ValueProps {
  readonly collection: Collection;
  readonly attribute: string;
  readonly value: Value;
}

function ValueText({ collection, attribute, value }: ValueProps) {
  const isReference = referencesOf(collection).some(([name]) => name === attribute);
  if (!isReference) return <>{shownValue(attribute, value) || '–'}</>;
  const schema = { type: 'integer', required: true };
  return (
    <TypedText
      collection={collection.name}
      field={{ attribute, kind: 'reference', schema }}
      typed={value}
    />
  );
}
