/** The field that searches as one types. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../messages/text.ts';
import type { ListProps } from './list-props.ts';

/** How long a pause in typing lasts before the list is read, in milliseconds. */
const PAUSE_MS = 200;

/** Longest search that the server takes, in code points. */
const MAX_SEARCH = 200;

export function SearchField({ query, show }: ListProps) {
  const typed = useSignal<string | null>(null);
  const latest = useRef(show);
  latest.current = show;
  const text = typed.value;
  useEffect(() => {
    if (text === null) return;
    const timer = setTimeout(() => {
      latest.current({ q: text }, true);
      typed.value = null;
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, typed]);
  return (
    <div class="filter search" role="search">
      <label for="search">{t('list.search')}</label>
      <input
        id="search"
        type="search"
        value={text ?? query.q}
        maxLength={MAX_SEARCH}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </div>
  );
}
