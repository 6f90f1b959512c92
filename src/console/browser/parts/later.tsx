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
