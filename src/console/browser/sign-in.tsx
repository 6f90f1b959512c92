/** The form that asks who is there: as the whole page, or over the screen that a user was working on. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ApiError } from './api/client.ts';
import { notEnded, session, SignInError, signIn } from './api/session.ts';
import { LanguageChoice } from './language-choice.tsx';
import { t } from './messages/text.ts';
import { clearNotices, Problem, wordsFor } from './parts/notices.tsx';
import { useTitle } from './parts/title.ts';
import { textOf } from './api/text-of.ts';

function failureText(error: unknown): string {
  if (!(error instanceof SignInError)) return wordsFor(error);
  if (error.status === 401) return t('signIn.refused');
  if (error.status === 429 && error.retryAfter !== null) {
    return t('signIn.throttled', { count: error.retryAfter });
  }
  // A proxy that refuses it may say nothing.
  return wordsFor(new ApiError(error.status, error.message));
}

function SignInForm() {
  const failure = useSignal<string | null>(null);
  const busy = useSignal(false);
  const subject = session.value?.subject ?? '';
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = new FormData(form);
    busy.value = true;
    failure.value = null;
    try {
      await signIn(textOf(entered.get('username')), textOf(entered.get('password')));
    } catch (error) {
      failure.value = failureText(error);
      form.querySelector<HTMLInputElement>('[name=password]')?.select();
    } finally {
      busy.value = false;
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Problem text={failure.value} />
      <div class="field">
        <label for="username">{t('signIn.name')}</label>
        <input
          id="username"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          defaultValue={subject}
          required
          autofocus={subject === ''}
        />
      </div>
      <div class="field">
        <label for="password">{t('signIn.password')}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          autofocus={subject !== ''}
        />
      </div>
      <button type="submit" class="primary" disabled={busy.value}>
        {t('signIn.submit')}
      </button>
    </form>
  );
}

/** The page of a user who is not signed in. */
export function SignInPage() {
  const page = useRef<HTMLElement>(null);
  useTitle(t('signIn.submit'));
  // Browsers obey `autofocus` once, and the page comes again when the user signs out.
  useLayoutEffect(() => page.current?.querySelector('input')?.focus(), []);
  // Not at the sign-out: what it has ended adds messages after it.
  useLayoutEffect(() => clearNotices, []);
  return (
    <main ref={page} class="sign-in">
      <h1>{t('app.name')}</h1>
      <Problem text={notEnded.value ? t('signIn.notEnded') : null} />
      <SignInForm />
      <details>
        <summary>{t('signIn.first')}</summary>
        <p>{t('signIn.firstHelp')}</p>
        <pre>
          <code>catalog-server users add ann --role admin</code>
        </pre>
      </details>
      <LanguageChoice />
    </main>
  );
}

/** The form over a screen whose token was refused. What was typed stays as it is below it. */
export function SignInDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => dialog.current?.showModal();
  useLayoutEffect(() => {
    const element = dialog.current;
    show();
    // Closing it gives the focus back.
    return () => element?.close();
  }, []);
  return (
    // Browsers let a second Escape close it all the same.
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
      onClose={show}
    >
      <h2 id="sign-in-again">{t('signIn.again')}</h2>
      <p>{t('signIn.againHelp')}</p>
      <SignInForm />
    </dialog>
  );
}
