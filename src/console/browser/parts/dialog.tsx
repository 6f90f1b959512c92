/** A modal dialog of the browser: focus stays in it, and Escape closes it. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { effect, signal, useSignal } from '@preact/signals';
import { holdBack } from '../location.ts';
import { t } from '../messages/text.ts';
import { isSaving } from '../saving.ts';
import { throttled } from '../throttled.ts';
import { useShown } from './change-in-place.ts';
import { complain } from './notices.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** A question that must be answered. */
  readonly alert?: boolean;
  /** Whether it asks before anything but its other buttons drops what was typed. */
  readonly asks?: boolean;
}

/** What has the focus first: a field, or the button of a question that changes nothing. */
const FIRST = ':is(input, select, textarea, footer button):enabled';

/** The cross is the first button: Enter on it would close the dialog. What it shows may come later. */
function useFirstFocus(dialog: { readonly current: HTMLElement | null }): void {
  const focused = useRef(false);
  useLayoutEffect(() => {
    if (focused.current) return;
    const first = dialog.current?.querySelector<HTMLElement>(FIRST);
    first?.focus();
    focused.current = first instanceof HTMLElement;
  });
}

/** Asks before the user, or the browser, drops what was typed. @returns what counts as typed. */
function useClosing(asks: boolean, onClose: () => void) {
  const typed = useRef(false);
  const isThere = useSignal(true);
  const isUnsaved = () => isThere.value && asks && typed.current;
  const close = async () => {
    const closes = !isUnsaved() || (await confirmLeaving(isUnsaved));
    // It was saved meanwhile. What it was opened from may have something to lose now.
    if (!isThere.value) return false;
    if (closes) onClose();
    return closes;
  };
  useLayoutEffect(() => {
    const release = holdBack({ isUnsaved, ask: close });
    return () => {
      isThere.value = false;
      release();
    };
  }, []);
  return { typed, close };
}

let open = 0;

const waiting: (() => void)[] = [];

/**
 * Resolves when no dialog is open. A screen that is replaced takes its dialog with it, and what is
 * typed there.
 */
export function dialogsClosed(): Promise<void> {
  if (open === 0) return Promise.resolve();
  return new Promise<void>((resolve) => waiting.push(resolve)).then(dialogsClosed);
}

/** It is open as long as it is there. The focus then returns to where it was before. */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, wide = false, alert = false, asks = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useId();
  const isShown = useShown();
  const { typed, close } = useClosing(asks, onClose);
  // Before the effects of what it shows, which may measure themselves.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    open += 1;
    return () => {
      open -= 1;
      for (const resolve of waiting.splice(0)) resolve();
      // While it is open, nothing outside of it takes the focus.
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useFirstFocus(dialog);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : ''}
      aria-labelledby={label}
      {...(alert && { role: 'alertdialog' })}
      // What is clicked in it and takes no focus gives it to the dialog, which so gets its keys.
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Browsers would close a dialog after a second Escape whatever the page says, and two of
        // them that were opened by keys with one.
        event.preventDefault();
        event.stopPropagation();
        void close();
      }}
      onInput={() => {
        typed.current = true;
      }}
      onCancel={(event) => {
        event.preventDefault();
        void close();
      }}
      onClose={() => {
        // A gesture may close it without having asked.
        if (!isShown()) return;
        dialog.current?.showModal();
        void close();
      }}
    >
      {/* Outside of the content, it would be announced as that of the page; so would the footer. */}
      <header role="none">
        <h2 id={label}>{title}</h2>
        <button
          type="button"
          class="icon"
          aria-label={t('dialog.close')}
          onClick={() => void close()}
        >
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {children}
    </dialog>
  );
}

/**
 * Messages of the page are behind a dialog, which so says itself what failed. But it may be left
 * while it is being saved.
 *
 * @param say shows a failure in the dialog.
 * @returns shows it there, or on the page if the dialog is gone.
 */
export function useComplaint(say: (error: unknown) => void): (error: unknown) => void {
  const isShown = useShown();
  return (error) => (isShown() ? say(error) : complain(error));
}

interface StatusProps {
  /** What the dialog does now; false for nothing. */
  readonly text?: string | false;
}

/**
 * Says beside the buttons of a dialog what it does, or that a request waits: messages of the page
 * are behind it. It is always there: text in a region that is new is often not announced.
 */
export function DialogStatus({ text = false }: StatusProps) {
  const waits = throttled.value > 0;
  return (
    <p class={waits ? 'soft waits' : 'soft'} role="status">
      {waits ? t('throttled') : text}
    </p>
  );
}

/** Says in the footer of a dialog that it is being saved. */
export function DialogSaving() {
  return <DialogStatus text={isSaving.value && t('saving')} />;
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
      <DialogSaving />
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
}

const asked = signal<(Confirmation & { readonly answer: (yes: boolean) => void }) | null>(null);

/**
 * Asks before something is lost.
 *
 * @param isOpen reads signals: once it is false, there is nothing left to ask.
 * @returns whether the user agrees; closing the dialog is no, and so is a question that is dropped.
 */
export async function confirm(question: Confirmation, isOpen = () => true): Promise<boolean> {
  asked.value?.answer(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (yes: boolean) => {
    asked.value = null;
    resolve(yes);
  };
  asked.value = { ...question, answer };
  const stop = effect(() => {
    if (!isOpen()) answer(false);
  });
  return promise.finally(stop);
}

/**
 * Asks whether to leave what is not saved, unless a save that is under way ends before the answer.
 *
 * @param isUnsaved reads signals.
 * @returns whether nothing holds the user back.
 */
export async function confirmLeaving(isUnsaved: () => boolean): Promise<boolean> {
  const question = {
    title: t('leave.title'),
    text: t('leave.text'),
    yes: t('leave.yes'),
    no: t('leave.no'),
  };
  return (await confirm(question, isUnsaved)) || !isUnsaved();
}

/** The question that is asked now. It stands once, at the end of the page. */
export function Questions() {
  const question = asked.value;
  if (question === null) return null;
  const { title, text, yes, no = t('dialog.cancel'), answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)} alert>
      <div class="dialog-body">{text}</div>
      <footer role="none">
        <button type="button" onClick={() => answer(false)}>
          {no}
        </button>
        <button type="button" class="danger" onClick={() => answer(true)}>
          {yes}
        </button>
      </footer>
    </Dialog>
  );
}
