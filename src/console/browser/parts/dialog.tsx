/** A modal dialog of the browser: focus stays in it, and Escape closes it. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { t } from '../messages/text.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** A question that must be answered. */
  readonly alert?: boolean;
}

export function Dialog({ title, onClose, children, wide = false, alert = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useId();
  // Before the effects of what it shows, which may measure themselves.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // While it is open, nothing outside of it takes the focus.
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : ''}
      aria-labelledby={label}
      {...(alert && { role: 'alertdialog' })}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={label}>{title}</h2>
        <button type="button" class="icon" aria-label={t('dialog.close')} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** The buttons below the form of a dialog. @param action what it does when it is sent. */
export function DialogFooter({
  onClose,
  action,
}: {
  readonly onClose: () => void;
  readonly action: string;
}) {
  return (
    <footer>
      <button type="button" onClick={onClose}>
        {t('dialog.cancel')}
      </button>
      <button type="submit" class="primary">
        {action}
      </button>
    </footer>
  );
}

interface Confirmation {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly yes: string;
  readonly no?: string;
  readonly danger?: boolean;
}

const asked = signal<(Confirmation & { readonly answer: (yes: boolean) => void }) | null>(null);

/** Asks a question. @returns whether the user agrees; closing the dialog is no. */
export function confirm(question: Confirmation): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer(yes) {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** The question that is asked now. It stands once, at the end of the page. */
export function Questions() {
  const question = asked.value;
  if (question === null) return null;
  const { title, text, yes, no = t('dialog.cancel'), danger = false, answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)} alert>
      <div class="dialog-body">{text}</div>
      <footer>
        <button type="button" onClick={() => answer(false)}>
          {no}
        </button>
        <button type="button" class={danger ? 'danger' : 'primary'} onClick={() => answer(true)}>
          {yes}
        </button>
      </footer>
    </Dialog>
  );
}
