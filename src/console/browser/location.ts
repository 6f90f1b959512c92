/**
 * The address of what is shown. What is not saved may hold the user back: it registers a question
 * that is asked before the address changes.
 */
import { computed, effect, signal } from '@preact/signals';
import { CONSOLE_PATH } from './base.ts';

const address = signal({ ...here(), screen: 0 });

/** The path below `/console` in small letters, with its slash at the beginning and none at the end. */
export const path = computed(() => address.value.path);

/** Another number for each screen that is shown, also if it was shown before. */
export const screen = computed(() => address.value.screen);

/** Another object for each address that is shown, also if it was shown before. */
export const visit = computed(() => ({ address: address.value }));

export const query = computed(() => new URLSearchParams(address.value.search));

/** What may have something to lose when the address changes, or the page is left. */
interface Unsaved {
  readonly isUnsaved: () => boolean;
  /** Resolves to whether the user really wants to leave. */
  readonly ask: () => Promise<boolean>;
  /** Whether another address of the same screen would lose it, too. */
  readonly within?: boolean;
}

const held = signal<readonly Unsaved[]>([]);

/** Whether the user may be asked before the address changes. */
export const isHeldBack = computed(() => held.value.length > 0);

function here(): { path: string; search: string } {
  const { pathname, search } = location;
  let below = pathname.slice(CONSOLE_PATH.length);
  while (below.endsWith('/')) below = below.slice(0, -1);
  return { path: below === '' ? '/' : below.toLowerCase(), search };
}

/** Asks before something is lost. @returns what ends that. */
export function holdBack(unsaved: Unsaved): () => void {
  held.value = [...held.value, unsaved];
  return () => {
    held.value = held.value.filter((each) => each !== unsaved);
  };
}

/** The first that would be lost: a screen asks for the dialog over it, too. */
function unsavedNow(): Unsaved | undefined {
  return held.value.find(({ isUnsaved }) => isUnsaved());
}

function warn(event: BeforeUnloadEvent): void {
  if (unsavedNow() !== undefined) event.preventDefault();
}

effect(() => {
  // Browsers keep no page for "back" that always listens.
  if (isHeldBack.value) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
});

/** Where a link of the console leads. @param to a path below `/console`, with its query. */
export function href(to: string): string {
  return `${CONSOLE_PATH}${to}`;
}

let scrolled = 0;

let stopScrolling = () => {};

/**
 * Scrolls to where the user has left the screen that "back" leads to. The browser does it too soon:
 * a screen is short until the server has answered. Parts of it may come later still, however slow the
 * network is.
 */
export function scrollBack(): void {
  const to = scrolled;
  scrolled = 0;
  if (to === 0) return;
  let reached = 0;
  const follow = () => {
    scrollTo(0, to);
    reached = scrollY;
    if (Math.abs(reached - to) < 1) stop();
  };
  const growth = new ResizeObserver(follow);
  const inputs = ['wheel', 'touchmove', 'keydown', 'pointerdown', 'resize'];
  // A scroll bar that is dragged is no other input. It reports where follow() scrolls to, too.
  const look = () => {
    if (scrollY !== reached) stop();
  };
  const stop = () => {
    growth.disconnect();
    for (const input of inputs) removeEventListener(input, stop);
    removeEventListener('scroll', look);
  };
  stopScrolling = stop;
  // The user has the last word.
  for (const input of inputs) addEventListener(input, stop);
  addEventListener('scroll', look);
  growth.observe(document.body);
  follow();
}

/**
 * Shows another address.
 *
 * @param replace whether "back" is to skip the one that is shown now.
 * @param asks whether the user is asked before something is lost.
 * @param continues whether the screen stays, and only has another address from now on.
 */
export async function navigate(
  to: string,
  { replace = false, asks = true, continues = false } = {},
): Promise<void> {
  const within = sameScreen(to);
  const lost = asks
    ? held.value.find((each) => (!within || each.within) && each.isUnsaved())
    : undefined;
  if (lost !== undefined && !(await lost.ask())) return;
  scrolled = 0;
  // As with every link of the web, the address that is shown is not in the history twice.
  const same = new URL(href(to), location.origin).href === location.href;
  if (replace || same) history.replaceState(null, '', href(to));
  else {
    // The browser would scroll as well, and may do so last, to a position that it noted before.
    history.scrollRestoration = 'manual';
    history.replaceState({ scrolled: scrollY }, '');
    history.pushState(null, '', href(to));
    history.scrollRestoration = 'auto';
  }
  settle(continues);
  if (!replace) scrollTo(0, 0);
}

function sameScreen(to: string): boolean {
  return new URL(href(to), location.origin).pathname === location.pathname;
}

let settledUrl = location.href;

function settle(continues = false): void {
  stopScrolling();
  settledUrl = location.href;
  const { path: before, screen: shown } = address.value;
  const now = here();
  const isShown = continues || now.path === before;
  address.value = { ...now, screen: isShown ? shown : shown + 1 };
}

/** Follows the buttons of the browser, and links of the console. */
export function followLocation(): void {
  let leaving = false;
  addEventListener('popstate', ({ state }: PopStateEvent) => {
    const lost = unsavedNow();
    if (lost === undefined || leaving) {
      leaving = false;
      scrolled = (state as { scrolled?: number } | null)?.scrolled ?? 0;
      settle();
      return;
    }
    // The browser has gone there already: it is sent back until the user has answered.
    history.pushState(null, '', settledUrl);
    void lost.ask().then((leaves) => {
      if (!leaves) return;
      // The address asked for is the one before: written here, it would be in the history twice.
      leaving = true;
      history.back();
    });
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || !isPlain(event)) return;
    if (link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(`${CONSOLE_PATH}/`)) return;
    event.preventDefault();
    void navigate(link.pathname.slice(CONSOLE_PATH.length) + link.search);
  });
}

function isPlain({ button, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}
