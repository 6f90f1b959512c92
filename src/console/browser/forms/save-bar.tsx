/** The buttons of a form: save, discard, delete. */
import { useRef } from 'preact/hooks';
import { t } from '../messages/text.ts';
import { useClearOfNotices } from '../parts/keep-clear.ts';
import { DeleteButton } from './delete-button.tsx';
import type { FormState } from './form-state.ts';

interface SaveBarProps {
  readonly form: FormState;
  readonly busy: boolean;
  readonly discard: () => void;
}

/** The `discard` drops what is typed. */
export function SaveBar({ form, busy, discard }: SaveBarProps) {
  const item = form.base.value?.item ?? null;
  const bar = useRef<HTMLDivElement>(null);
  useClearOfNotices(bar);
  return (
    <div ref={bar} class="save-bar">
      {/* A button that is disabled would lose the focus. */}
      <button type="submit" class="primary" aria-disabled={busy}>
        {t('form.save')}
      </button>
      {form.dirty.value && item !== null && (
        <button
          type="button"
          // A picker keeps the focus: the message of one that is left would move the button.
          onMouseDown={(event) => event.preventDefault()}
          onClick={discard}
        >
          {t('form.discard')}
        </button>
      )}
      <span class="soft" aria-live="off">
        {form.dirty.value ? t('form.unsaved') : ''}
      </span>
      {item !== null && <DeleteButton form={form} />}
    </div>
  );
}
