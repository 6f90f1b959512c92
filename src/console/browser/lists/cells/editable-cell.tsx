/** A price or a stock that is changed in the list itself. */
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Collection } from '../../api/collections.ts';
import { isPrice } from '../../api/schema.ts';
import { mayWrite } from '../../api/session.ts';
import type { Item } from '../../api/types.ts';
import {
  currency,
  numberProblem,
  parsePrice,
  parseWhole,
  priceInput,
  t,
} from '../../messages/text.ts';
import { attributeLabel, shownValue } from '../../parts/attributes.ts';
import {
  changeInPlace,
  complainOf,
  useSavedWhenRemoved,
  useSeen,
} from '../../parts/change-in-place.ts';
import { useUnsavedCell } from './unsaved-cells.ts';

const EDITABLE = new Set(['price', 'cost_price', 'market_price', 'stock']);

/** @param column an attribute. False for users who may not write. */
export function isEditable({ name }: Collection, column: string): boolean {
  // Until the currency is known, nobody can tell what a typed price means.
  if (isPrice(column) && currency.value.code === '') return false;
  return name === 'skus' && EDITABLE.has(column) && mayWrite.value;
}

interface CellProps {
  readonly collection: Collection;
  readonly column: string;
  readonly item: Item;
  readonly onChange: (item: Item) => void;
}

/** A column for which {@link isEditable} is true; a button until it is pressed. */
export function EditableCell(props: CellProps) {
  const { column, item } = props;
  const editing = useSignal(false);
  const cell = useRef<HTMLTableCellElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const refocus = useRef(false);
  const end = () => {
    // While the response was on its way, the user may have gone on to another field.
    refocus.current = cell.current?.contains(document.activeElement) === true;
    editing.value = false;
  };
  // Not in the next frame, before which the user may go on.
  useLayoutEffect(() => {
    if (refocus.current) button.current?.focus();
    refocus.current = false;
  }, [editing.value]);
  return (
    <td ref={cell} class="number editable">
      {editing.value ? (
        <Editor {...props} onEnd={end} />
      ) : (
        <button
          ref={button}
          type="button"
          class="value"
          title={t('list.edit')}
          onClick={() => {
            editing.value = true;
          }}
        >
          {shownValue(column, item[column])}
        </button>
      )}
    </td>
  );
}

interface EditorProps extends CellProps {
  readonly onEnd: () => void;
}

function Editor({ collection, column, item, onChange, onEnd }: EditorProps) {
  const input = useRef<HTMLInputElement>(null);
  const problem = useSignal<string | null>(null);
  const unsaved = useUnsavedCell();
  const saving = useSignal(false);
  const done = useRef(false);
  const help = useId();
  const place = { collection, attribute: column, ...useSeen(item, onChange) };
  const value = Number(place.shown[column]);
  // Before the next key, which is to replace what is selected.
  useLayoutEffect(() => {
    input.current?.select();
    // It is wider than the value, which may be at the edge of a table that scrolls sideways.
    input.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, []);
  const save = async () => {
    if (done.current) return;
    const text = input.current?.value.trim() ?? '';
    const next = isPrice(column) ? parsePrice(text) : parseWhole(text);
    problem.value = next === null ? numberProblem(isPrice(column)) : null;
    if (next === null) return unsaved.mark();
    done.current = true;
    saving.value = true;
    try {
      if (next !== value || !place.isKnown()) await changeInPlace(place, next);
      onEnd();
    } catch (error) {
      // What is typed stays, so that it can be sent again.
      done.current = false;
      saving.value = false;
      unsaved.mark();
      complainOf(place, next, error);
    }
  };
  useSavedWhenRemoved(save, input, unsaved.isMarked);
  return (
    <>
      <input
        ref={input}
        autofocus
        inputMode="decimal"
        autocomplete="off"
        // What is typed now would not be sent.
        readOnly={saving.value}
        aria-busy={saving.value}
        aria-label={attributeLabel(column)}
        aria-invalid={problem.value !== null}
        aria-describedby={problem.value === null ? undefined : help}
        defaultValue={isPrice(column) ? priceInput(value) : String(value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            // It would press the button that takes the place of the field, which opens it again.
            event.preventDefault();
            void save();
          }
          if (event.key !== 'Escape' || saving.value) return;
          done.current = true;
          place.drop();
          onEnd();
        }}
        onBlur={() => void save()}
      />
      {problem.value !== null && (
        <p id={help} role="alert" class="problem">
          {problem.value}
        </p>
      )}
    </>
  );
}
