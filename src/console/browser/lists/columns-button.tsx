/** The choice of columns. */
import { useSignal } from '@preact/signals';
import type { Collection } from '../api/collections.ts';
import { t } from '../messages/text.ts';
import { attributeLabel } from '../parts/attributes.ts';
import { Dialog } from '../parts/dialog.tsx';
import { chooseColumns, shownColumns } from './columns.ts';

/** A click in the dialog counts at once. The column of the title cannot be left out. */
export function ColumnsButton({ collection }: { readonly collection: Collection }) {
  const open = useSignal(false);
  const close = () => {
    open.value = false;
  };
  const shown = shownColumns(collection);
  return (
    <>
      <button
        type="button"
        onClick={() => {
          open.value = true;
        }}
      >
        {t('columns.title')}
      </button>
      {open.value && (
        <Dialog title={t('columns.title')} onClose={close}>
          <div class="dialog-body checks">
            {collection.columns.map((column: string) => (
              <label key={column}>
                <input
                  type="checkbox"
                  checked={shown.includes(column)}
                  disabled={column === collection.title}
                  onChange={({ currentTarget }) => {
                    const others = shown.filter((each) => each !== column);
                    chooseColumns(collection, currentTarget.checked ? [...others, column] : others);
                  }}
                />
                {attributeLabel(column)}
              </label>
            ))}
          </div>
          <footer>
            <button type="button" onClick={() => chooseColumns(collection, null)}>
              {t('columns.reset')}
            </button>
            <button type="button" class="primary" onClick={close}>
              {t('dialog.done')}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}
