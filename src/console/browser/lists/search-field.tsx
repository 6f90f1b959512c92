/** The field that searches as one types. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isHeldBack, query as address } from '../location.ts';
import { t } from '../messages/text.ts';
import type { ListProps } from './list-props.ts';

/** How long a pause in typing lasts before the list is read, in milliseconds. */
const PAUSE_MS = 200;

/** Longest search that the server takes, in code points. */
const MAX_SEARCH = 200;

/** What is typed, and the search of the address that it is typed over. */
interface Typing {
  readonly text: string;
  readonly over: string;
}

/** It replaces the address rather than adding one to the history for each pause in typing. */
export function SearchField({ query, show }: ListProps) {
  const typed = useSignal<Typing | null>(null);
  const latest = useRef({ show, q: query.q });
  latest.current = { show, q: query.q };
  const typing = typed.value;
  // Not an effect that ends after the next frame: by then another screen may be shown.
  useLayoutEffect(() => {
    if (typing === null || typing.text.trim() === typing.over) return;
    const { text, over } = typing;
    const timer = setTimeout(() => {
      // Another address may have come first.
      if (latest.current.q !== over) return;
      latest.current.show({ q: text }, true);
      // The user may be asked first, and stay: it is shown when there is nothing to ask any more.
      if ((address.value.get('q') ?? '') !== text.trim()) return;
      // The address has no white space at its ends; the field keeps it for the next word.
      typed.value = { text, over: text.trim() };
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typing, typed, isHeldBack.value]);
  return (
    <div class="filter search" role="search">
      <label for="search">{t('list.search')}</label>
      <input
        id="search"
        type="search"
        value={typing?.over === query.q ? typing.text : query.q}
        maxLength={MAX_SEARCH}
        onInput={({ currentTarget }) => {
          typed.value = { text: currentTarget.value, over: query.q };
        }}
      />
    </div>
  );
}
