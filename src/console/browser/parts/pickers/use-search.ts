/** What is searched in a field for a reference, and what was found for it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isAborted } from '../../api/client.ts';
import { type Choice, type Matches, search, withAllOf } from '../../api/references.ts';
import type { CollectionName } from '../../api/types.ts';
import { complain } from '../notices.tsx';
import { firstMeant, namedFirst } from './meant.ts';
import type { PickerProps } from './picker-props.ts';

/** How long a pause in typing lasts before the server is asked, in milliseconds. */
const PAUSE_MS = 150;

/** How long a search may take before the user is told that it is under way, in milliseconds. */
const LATE_MS = 500;

export interface SearchProps extends Pick<PickerProps, 'value' | 'none'> {
  readonly collection: CollectionName;
}

/** What is typed, what was found for it, and which choice is marked. */
export interface Search {
  /** Null while nothing is searched. */
  readonly typed: Signal<string | null>;
  /** The choices, and the text for which they were found. */
  readonly found: Signal<Found | null>;
  /** The position of the marked offer; -1 if none is. */
  readonly marked: Signal<number>;
  /** Whether the focus has left what is typed. */
  readonly left: Signal<boolean>;
  /** Whether the last input has deleted the whole text. */
  readonly emptied: { current: boolean };
}

export interface Found extends Omit<Matches, 'choices'> {
  readonly text: string;
  /**
   * Null before the first of them are there, and if the search has failed, which is repeated once
   * {@link Search.found} is null.
   */
  readonly choices: readonly Choice[] | null;
  /** Whether the server is asked for them, or for more of them. */
  readonly isReading: boolean;
}

/** Null until the choices belong to what is typed. */
export function choicesOf({ typed, found }: Search): readonly Choice[] | null {
  return found.value !== null && found.value.text === typed.value ? found.value.choices : null;
}

/** Whether the server takes long to find the first choices. */
export function isLate({ typed, found, left }: Search): boolean {
  const { text, choices, isReading = false } = found.value ?? {};
  return text === typed.value && choices === null && isReading && !left.value;
}

/** Forgets what is typed. */
export function endSearch({ typed, found, marked, left, emptied }: Search): void {
  typed.value = null;
  found.value = null;
  marked.value = -1;
  left.value = false;
  emptied.current = false;
}

/** Searches what is typed, after a pause. */
export function useSearch(props: SearchProps): Search {
  const typed = useSignal<string | null>(null);
  const found = useSignal<Found | null>(null);
  const marked = useSignal(-1);
  const left = useSignal(false);
  const emptied = useRef(false);
  const latest = useRef(props);
  latest.current = props;
  const text = typed.value;
  const failed =
    found.value?.text === text && found.value.choices === null && !found.value.isReading;
  useEffect(() => {
    if (text === null || failed) return;
    const abort = new AbortController();
    const nothingYet = { text, choices: null, read: 0, total: 0 };
    const late = setTimeout(() => {
      found.value = { ...nothingYet, isReading: true };
    }, PAUSE_MS + LATE_MS);
    const timer = setTimeout(() => {
      const { collection, value } = latest.current;
      search(collection, text, 0, abort.signal).then(
        (matches) => {
          if (abort.signal.aborted) return;
          clearTimeout(late);
          const choices = namedFirst(text, withAllOf(text, matches.choices));
          found.value = { ...matches, text, choices, isReading: false };
          marked.value = firstMeant(text, choices, value, matches.read >= matches.total);
        },
        (error: unknown) => {
          if (isAborted(error)) return;
          clearTimeout(late);
          found.value = { ...nothingYet, isReading: false };
          complain(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      clearTimeout(late);
      abort.abort();
    };
  }, [text, failed, found, marked]);
  return { typed, found, marked, left, emptied };
}
