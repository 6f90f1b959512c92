/** The specifications of an SPU and their options: add, rename, remove. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isGone } from '../../api/client.ts';
import { collectionOf } from '../../api/collections.ts';
import { remove } from '../../api/items.ts';
import { Removal } from '../../api/removal.ts';
import { mayWrite } from '../../api/session.ts';
import { textOf } from '../../api/text-of.ts';
import type { CollectionName, Item } from '../../api/types.ts';
import { href } from '../../location.ts';
import { t } from '../../messages/text.ts';
import { useOneAtATime } from '../../one-at-a-time.ts';
import {
  changeInPlace,
  complainOf,
  useSavedWhenRemoved,
  useSeen,
} from '../../parts/change-in-place.ts';
import { announce, complain, wordsFor } from '../../parts/notices.tsx';
import { undoDeletion } from '../../parts/undo.ts';
import { isRefusal } from '../save.ts';
import { AddText } from './add-text.tsx';
import type { SpecChoices } from './specs.ts';
import type { Parts } from './parts.ts';

/** Each change is written at once, apart from the form of the SPU. */
export function SpecsEditor({ spu, specs, reloadSpecs: reload }: Parts) {
  const added = useSignal<number | null>(null);
  return (
    <section aria-labelledby="spu-specs">
      <h2 id="spu-specs" tabIndex={-1}>
        {t('attribute.specs')}
      </h2>
      {specs.length === 0 && <p class="soft">{t('spu.noSpecs')}</p>}
      <ul class="spec-list">
        {specs.map((spec) => (
          <Spec key={spec.id} spec={spec} isNew={spec.id === added.value} reload={reload} />
        ))}
      </ul>
      {mayWrite.value && (
        <AddText
          label={t('spu.newSpec')}
          action={t('spu.addSpec')}
          collection="specs"
          parent={['goods', spu.id]}
          existing={specs.map(({ name }) => name)}
          contentOf={(name) => ({ name, spu_id: spu.id })}
          onAdded={({ id }) => {
            added.value = id;
            reload();
          }}
          onGone={reload}
        />
      )}
    </section>
  );
}

/**
 * What has the focus after a row of a list is removed: the button of the next row, else of the one
 * before, else the heading of the list.
 */
function neighbourOf(button: HTMLElement): HTMLElement | null {
  const row = button.closest('li');
  const other = row?.nextElementSibling ?? row?.previousElementSibling;
  if (other !== null && other !== undefined) return other.querySelector<HTMLElement>('.icon');
  const above = row?.parentElement?.closest('li');
  return above?.querySelector<HTMLElement>('a') ?? document.getElementById('spu-specs');
}

interface RemoveProps {
  readonly collection: CollectionName;
  readonly named: { readonly id: number; readonly name: string };
  readonly reload: () => void;
}

/** Removes a row of a list, and itself with it. Nothing for those who may not write. */
function RemoveButton({ collection, named, reload }: RemoveProps) {
  const { id, name } = named;
  const removed = useRef(false);
  const removal = useRef(new Removal());
  const run = useOneAtATime(async (button: HTMLElement) => {
    // The row stays until the list is read again.
    if (removed.current) return;
    try {
      await removal.current.once(() => remove(collection, id));
    } catch (error) {
      if (isGone(error)) reload();
      if (!isRefusal(error)) throw error;
      // The server names it by its id, which is not shown here. The row stays in sight, so the
      // message may end with the next write.
      complain(new Error(`${name}: ${wordsFor(error)}`, { cause: error }), 'asked again');
      return;
    }
    removed.current = true;
    // The user may have gone on while the server was asked.
    if (document.activeElement === button) neighbourOf(button)?.focus();
    announce(t('delete.done', { name }), {
      label: t('undo'),
      run: async () => {
        await undoDeletion(collection, [id]);
        removed.current = false;
      },
    });
    reload();
  });
  if (!mayWrite.value) return null;
  return (
    <button
      type="button"
      class="icon"
      aria-label={t('spu.remove', { name })}
      onKeyDown={(event) => {
        // A key that is held would go on with the neighbour, which has the focus then.
        if (event.key === 'Enter' && event.repeat) event.preventDefault();
      }}
      onClick={({ currentTarget }) => void run(currentTarget).catch(complain)}
    >
      <span aria-hidden="true">×</span>
    </button>
  );
}

/** Whether the user waits where a specification was added, and has not begun or entered another. */
function isWaiting(): boolean {
  const { activeElement: field } = document;
  return (
    field instanceof HTMLInputElement &&
    field.ariaLabel === t('spu.newSpec') &&
    field.dataset['unchosen'] === 'false'
  );
}

interface SpecProps {
  readonly spec: SpecChoices;
  /** Whether it was added here: what follows are its options. */
  readonly isNew: boolean;
  readonly reload: () => void;
}

function Spec({ spec, isNew, reload }: SpecProps) {
  const { id, name, options } = spec;
  return (
    <li>
      <div class="spec-name">
        <a href={href(`/specs/${id}`)}>{name}</a>
        <RemoveButton collection="specs" named={spec} reload={reload} />
      </div>
      <ul class="chips">
        {options.map((option) => (
          <li key={option.id}>
            <OptionName option={option} reload={reload} />
            <RemoveButton
              collection="options"
              named={{ id: option.id, name: option.value }}
              reload={reload}
            />
          </li>
        ))}
      </ul>
      {mayWrite.value && (
        <AddText
          label={t('specs.newOption', { name })}
          focused={isNew && isWaiting()}
          action={t('specs.add')}
          collection="options"
          parent={['specs', id]}
          existing={options.map(({ value }) => value)}
          contentOf={(value) => ({ value, spec_id: id })}
          onAdded={reload}
          onGone={reload}
        />
      )}
    </li>
  );
}

interface OptionNameProps {
  readonly option: SpecChoices['options'][number];
  readonly reload: () => void;
}

/** The value of an option; a click makes it a field. */
function OptionName({ option, reload }: OptionNameProps) {
  const editing = useSignal(false);
  /** What the server has said of this state of the option since it was read. */
  const written = useSignal({ option, value: option.value });
  const button = useRef<HTMLButtonElement>(null);
  const refocuses = useRef(false);
  // Not in the next frame, before which the user may go on.
  useLayoutEffect(() => {
    if (refocuses.current) button.current?.focus();
    refocuses.current = false;
  }, [editing.value]);
  const value = written.value.option === option ? written.value.value : option.value;
  if (!mayWrite.value) return <bdi>{value}</bdi>;
  const end = (refocus: boolean) => {
    refocuses.current = refocus;
    editing.value = false;
  };
  const onChange = (item: Item) => {
    written.value = { option, value: textOf(item['value']) };
    reload();
  };
  if (editing.value) {
    return <OptionField id={option.id} value={value} onChange={onChange} onEnd={end} />;
  }
  return (
    <button
      ref={button}
      type="button"
      class="value"
      title={t('list.edit')}
      onClick={() => {
        editing.value = true;
      }}
    >
      <bdi>{value}</bdi>
    </button>
  );
}

interface OptionFieldProps {
  readonly id: number;
  /** As it is shown. */
  readonly value: string;
  readonly onChange: (item: Item) => void;
  /** @param refocus whether the field had the focus. */
  readonly onEnd: (refocus: boolean) => void;
}

/** The text that a field shows of a value: it has no line breaks. */
function inField(value: string): string {
  return value.replace(/[\r\n]/g, '');
}

function OptionField({ id, value, onChange, onEnd }: OptionFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const seen = useSeen({ id, value }, onChange);
  const before = textOf(seen.shown['value']);
  const refused = useSignal(false);
  const saving = useSignal(false);
  // The field that is removed loses the focus as well.
  const done = useRef(false);
  useLayoutEffect(() => input.current?.select(), []);
  const end = () => {
    done.current = true;
    onEnd(document.activeElement === input.current);
  };
  const rename = async () => {
    const text = input.current?.value ?? '';
    const next = text.trim();
    if (done.current) return;
    const isAsBefore = text === inField(before) || next === before;
    if (next === '' || (isAsBefore && seen.isKnown())) {
      seen.drop();
      end();
      return;
    }
    done.current = true;
    saving.value = true;
    const place = { collection: collectionOf('options'), attribute: 'value', ...seen };
    try {
      await changeInPlace(place, next);
      end();
    } catch (error) {
      // What is typed stays, so that it can be sent again.
      done.current = false;
      saving.value = false;
      refused.value = true;
      complainOf(place, next, error);
    }
  };
  useSavedWhenRemoved(rename, input, () => refused.value);
  return (
    <input
      ref={input}
      // What is typed now would not be sent.
      readOnly={saving.value}
      aria-busy={saving.value}
      aria-label={t('attribute.value')}
      aria-invalid={refused.value}
      data-unchosen={refused.value}
      defaultValue={before}
      onBlur={() => void rename()}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          // It would press the button that takes the place of the field, which opens it again.
          event.preventDefault();
          void rename();
        }
        if (event.key !== 'Escape' || saving.value) return;
        seen.drop();
        end();
      }}
    />
  );
}
