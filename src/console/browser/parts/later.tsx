/** Parts of the console that are loaded when they are first shown. */
import type { ComponentType, FunctionComponent } from 'preact';
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ConsoleUpdated } from '../load-chunk.ts';
import { t } from '../messages/text.ts';
import { Failure, reload, wordsFor } from './notices.tsx';

/** @param load imports the component; it is imported once. */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
): FunctionComponent<P> {
  let known: ComponentType<P> | null = null;
  return function Later(props: P) {
    const loaded = useSignal<{ Component: ComponentType<P> } | null>(
      known === null ? null : { Component: known },
    );
    const failure = useSignal<unknown>(null);
    const start = () => {
      failure.value = null;
      load().then(
        (Component) => {
          known = Component;
          loaded.value = { Component };
        },
        (error: unknown) => {
          failure.value = error;
        },
      );
    };
    useLayoutEffect(() => {
      if (loaded.value === null) start();
    }, [loaded]);
    const error = failure.value;
    if (error instanceof ConsoleUpdated) {
      return <Failure text={wordsFor(error)} onAgain={reload} action={t('error.reload')} />;
    }
    if (error !== null) return <Failure text={wordsFor(error)} onAgain={start} />;
    if (loaded.value === null) return <p class="soft">{t('loading')}</p>;
    const { Component } = loaded.value;
    return <Component {...props} />;
  };
}
