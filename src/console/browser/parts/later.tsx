/** Parts of the console that are loaded when they are first shown. */
import type { ComponentType, FunctionComponent } from 'preact';
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { t } from '../messages/text.ts';
import { complain } from './notices.tsx';

/** @param load imports the component; it is imported once. */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
): FunctionComponent<P> {
  let known: ComponentType<P> | null = null;
  return function Later(props: P) {
    const loaded = useSignal<{ Component: ComponentType<P> } | null>(
      known === null ? null : { Component: known },
    );
    useLayoutEffect(() => {
      if (loaded.value !== null) return;
      load().then((Component) => {
        known = Component;
        loaded.value = { Component };
      }, complain);
    }, [loaded]);
    if (loaded.value === null) return <p class="soft">{t('loading')}</p>;
    const { Component } = loaded.value;
    return <Component {...props} />;
  };
}

type MoreScreens = typeof import('../more-screens.ts');

let screens: Promise<MoreScreens> | null = null;

/** The file of the screens that are no lists. @throws TypeError if it cannot be loaded. */
export function moreScreens(): Promise<MoreScreens> {
  screens ??= import('../more-screens.ts').catch((error: unknown) => {
    screens = null;
    throw error;
  });
  return screens;
}

/** How long a browser may put off what is loaded ahead, in milliseconds. */
const IDLE_MS = 2000;

/** Loads the other screens ahead, when the browser has nothing else to do. */
export function loadAhead(): void {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(tryAhead, { timeout: IDLE_MS });
  else setTimeout(tryAhead, IDLE_MS);
}

function tryAhead(): void {
  void moreScreens().catch(() => {
    // Whoever needs them tries again, and says what failed.
  });
}
