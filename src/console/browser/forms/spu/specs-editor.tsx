/** The specifications of an SPU and their options: add, rename, remove. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { change, create, remove } from '../../api/items.ts';
import { mayWrite } from '../../api/session.ts';
import type { CollectionName } from '../../api/types.ts';
import { href } from '../../location.ts';
import { t } from '../../messages/text.ts';
import { announce, complain } from '../../parts/notices.tsx';
import { undoDeletion } from '../../parts/undo.ts';
import { AddText } from './add-text.tsx';
import type { SpecChoices } from './specs.ts';
import type { Parts } from './parts.ts';

export function SpecsEditor({ spu, specs, reload }: Parts) {
  return (
    <section aria-labelledby="spu-specs">
      <h2 id="spu-specs" tabIndex={-1}>
        {t('attribute.specs')}
      </h2>
      {specs.length === 0 && <p class="soft">{t('spu.noSpecs')}</p>}
      <ul class="spec-list">
        {specs.map((spec) => (
          <Spec key={spec.id} spec={spec} reload={reload} />
        ))}
      </ul>
      {mayWrite.value && (
        <AddText
          label={t('spu.newSpec')}
          action={t('spu.addSpec')}
          onAdd={async (name, key) => {
            await create('specs', { name, spu_id: spu.id }, key);
            reload();
          }}
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

/** @param button that was clicked, and is removed with its row. */
async function removeNamed(
  collection: CollectionName,
  { id, name }: { readonly id: number; readonly name: string },
  button: HTMLElement,
  reload: () => void,
): Promise<void> {
  await remove(collection, id);
  // The user may have gone on while the server was asked.
  if (document.activeElement === button) neighbourOf(button)?.focus();
  announce(t('delete.done', { name }), {
    label: t('undo'),
    run: () => undoDeletion(collection, [id]).then(reload),
  });
  reload();
}

function Spec({ spec, reload }: { readonly spec: SpecChoices; readonly reload: () => void }) {
  const { id, name, options } = spec;
  return (
    <li>
      <div class="spec-name">
        <a href={href(`/specs/${id}`)}>{name}</a>
        {mayWrite.value && (
          <button
            type="button"
            class="icon"
            aria-label={t('spu.remove', { name })}
            onClick={({ currentTarget }) =>
              void removeNamed('specs', spec, currentTarget, reload).catch(complain)
            }
          >
            <span aria-hidden="true">×</span>
          </button>
        )}
      </div>
      <ul class="chips">
        {options.map((option) => (
          <li key={option.id}>
            <OptionName option={option} reload={reload} />
            {mayWrite.value && (
              <button
                type="button"
                class="icon"
                aria-label={t('spu.remove', { name: option.value })}
                onClick={({ currentTarget }) => {
                  const named = { id: option.id, name: option.value };
                  void removeNamed('options', named, currentTarget, reload).catch(complain);
                }}
              >
                <span aria-hidden="true">×</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayWrite.value && (
        <AddText
          label={t('specs.newOption', { name })}
          action={t('specs.add')}
          onAdd={async (value, key) => {
            await create('options', { value, spec_id: id }, key);
            reload();
          }}
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
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (editing.value) input.current?.select();
  }, [editing.value]);
  const end = (refocus: boolean) => {
    editing.value = false;
    if (refocus) requestAnimationFrame(() => button.current?.focus());
  };
  const rename = async (value: string, refocus: boolean) => {
    // The field that is removed loses the focus as well.
    if (!editing.value) return;
    end(refocus);
    if (value === '' || value === option.value) return;
    await change('options', option.id, { value }, null);
    reload();
  };
  if (!mayWrite.value) return <>{option.value}</>;
  if (!editing.value) {
    return (
      <button
        ref={button}
        type="button"
        class="value"
        onClick={() => {
          editing.value = true;
        }}
      >
        {option.value}
      </button>
    );
  }
  return (
    <input
      ref={input}
      aria-label={t('attribute.value')}
      defaultValue={option.value}
      onBlur={({ currentTarget: { value } }) => void rename(value.trim(), false).catch(complain)}
      onKeyDown={({ key, currentTarget: { value } }) => {
        if (key === 'Enter') rename(value.trim(), true).catch(complain);
        if (key === 'Escape') end(true);
      }}
    />
  );
}
