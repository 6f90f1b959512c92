/** What is around every screen: who is signed in, the navigation, messages, questions. */
import { useSignal } from '@preact/signals';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from 'preact/hooks';
import { COLLECTION_NAMES } from './api/collections.ts';
import { expired, isAdmin, mayWrite, session, signOut } from './api/session.ts';
import { needCurrency } from './api/summary.ts';
import { focusContent } from './focus-content.ts';
import { LanguageChoice } from './language-choice.tsx';
import { href, navigate, path, screen, visit } from './location.ts';
import type { MessageKey } from './messages/message.ts';
import { t } from './messages/text.ts';
import { Questions } from './parts/dialog.tsx';
import { complain, Notices } from './parts/notices.tsx';
import { whenSaved } from './saving.ts';
import { Screens } from './screens.tsx';
import { SignInDialog, SignInPage } from './sign-in.tsx';

/** The whole page; without a session, only the form to sign in. */
export function Shell() {
  if (session.value === null) return <SignInPage />;
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {t('nav.skip')}
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        <Guarded key={screen.value} />
      </main>
      <Notices />
      <Questions />
      {expired.value && <SignInDialog />}
    </>
  );
}

/** Moves the focus past the navigation. The address names what is shown, so it stays as it is. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** Whether a screen was shown before: the first one begins at the top, as every page does. */
let arrived = false;

/** The screen of the address, or what broke it: the rest of the console stays usable. */
function Guarded() {
  const [error] = useErrorBoundary();
  useEffect(() => {
    if (arrived) focusContent();
    arrived = true;
  }, []);
  // After the effects of the screen, whose own requests come first.
  useLayoutEffect(() => {
    // The first screen reads all of the summary, but its script may come later.
    if (path.value !== '/') needCurrency().catch(complain);
  }, []);
  if (error === undefined) return <Screens />;
  return (
    <div role="alert">
      <h1>{t('error.screen')}</h1>
      {/* A defect of the console. No request fails while a screen is rendered. */}
      <p>{String(error)}</p>
    </div>
  );
}

function Header() {
  // The menu of a narrow window closes when it has done its work: when a link of it was followed.
  const openedAt = useSignal<object | null>(null);
  const isOpen = openedAt.value === visit.value;
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const hidden = !isOpen && openedAt.value !== null;
    if (hidden && menu.current?.contains(document.activeElement)) focusContent();
  }, [isOpen]);
  return (
    <header
      class="top"
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !isOpen) return;
        // Before the menu is hidden, which would move the focus to the content.
        button.current?.focus();
        openedAt.value = null;
      }}
    >
      <a class="home" href={href('/')} aria-current={path.value === '/' ? 'page' : undefined}>
        {t('app.name')}
      </a>
      <button
        ref={button}
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => {
          openedAt.value = openedAt.value === visit.value ? null : visit.value;
        }}
      >
        {t('nav.menu')}
      </button>
      <div ref={menu} id="menu" class={isOpen ? 'menu-content open' : 'menu-content'}>
        <Navigation />
        <Account />
      </div>
    </header>
  );
}

function Navigation() {
  return (
    <nav aria-label={t('nav.label')}>
      <ul>
        {COLLECTION_NAMES.map((name) => (
          <Entry key={name} to={`/${name}`} label={`collection.${name}`} />
        ))}
      </ul>
      <ul>
        {mayWrite.value && <Entry to="/import" label="nav.import" />}
        {isAdmin.value && <Entry to="/audits" label="nav.audits" />}
        {isAdmin.value && <Entry to="/accounts" label="nav.accounts" />}
      </ul>
      <ul>
        <li>
          <a
            href={href('/')}
            onClick={(event) => {
              event.preventDefault();
              void leave();
            }}
          >
            {t('nav.signOut')}
          </a>
        </li>
      </ul>
    </nav>
  );
}

function Entry({ to, label }: { readonly to: string; readonly label: MessageKey }) {
  const current = path.value === to || path.value.startsWith(`${to}/`);
  return (
    <li>
      <a href={href(to)} aria-current={current ? 'page' : undefined}>
        {t(label)}
      </a>
    </li>
  );
}

/** Signs out, unless the user would rather keep what is not saved. */
async function leave(): Promise<void> {
  await navigate('/');
  if (path.value !== '/') return;
  await whenSaved();
  await signOut();
}

function Account() {
  const { subject = '', role = 'viewer' } = session.value ?? {};
  return (
    <div class="account">
      <p>
        <strong>{subject}</strong> <span class="soft">{t(`role.${role}`)}</span>
      </p>
      <LanguageChoice />
    </div>
  );
}
