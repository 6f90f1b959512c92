/** A field for a reference: type to search, choose with the arrow keys, create what is missing. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { isAborted } from '../../api/client.ts';
import { type Choice, labelOf, search } from '../../api/references.ts';
import type { CollectionName } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { complain } from '../notices.tsx';
import { useInWindow } from './in-window.ts';
import { meantBy } from './meant.ts';
import type { PickerProps } from './picker-props.ts';
import { describing, Unchosen, useMeant } from './unchosen.tsx';

/** How long a pause in typing lasts before the server is asked, in milliseconds. */
const PAUSE_MS = 150;

export interface ComboboxProps extends PickerProps {
  readonly collection: CollectionName;
  readonly onChange: (value: number | null, label: string) => void;
  /** Filters that every choice must match. */
  readonly fixed?: Readonly<Record<string, string>>;
}

/** The name of the value: what is known, else what the server says. */
function useLabel({ collection, value, label }: ComboboxProps): string {
  const asked = useSignal('');
  useEffect(() => {
    asked.value = '';
    if (value === null || label !== undefined) return;
    const abort = new AbortController();
    labelOf(collection, value, abort.signal).then(
      (name) => {
        asked.value = name;
      },
      () => {
        // An item that cannot be read is shown by its number.
        asked.value = `#${value}`;
      },
    );
    return () => abort.abort();
  }, [asked, collection, value, label]);
  return value === null ? '' : (label ?? asked.value);
}

/** What is typed, what was found for it, and which choice is marked. */
interface Search {
  /** Null while nothing is searched. */
  readonly typed: Signal<string | null>;
  /** The choices, and the text for which they were found. */
  readonly found: Signal<Found | null>;
  /** The position of the marked offer; -1 if none is. */
  readonly marked: Signal<number>;
  /** Whether the focus has left what is typed. */
  readonly left: Signal<boolean>;
}

interface Found {
  readonly text: string;
  /** Null if the search has failed, which is repeated once {@link Search.found} is null. */
  readonly choices: readonly Choice[] | null;
}

/** Null until the choices belong to what is typed. */
function choicesOf({ typed, found }: Search): readonly Choice[] | null {
  return found.value !== null && found.value.text === typed.value ? found.value.choices : null;
}

function useSearch(props: ComboboxProps): Search {
  const typed = useSignal<string | null>(null);
  const found = useSignal<Found | null>(null);
  const marked = useSignal(-1);
  const left = useSignal(false);
  const latest = useRef(props);
  latest.current = props;
  const text = typed.value;
  const failed = found.value?.text === text && found.value?.choices === null;
  useEffect(() => {
    if (text === null || failed) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const { collection, fixed = {} } = latest.current;
      search(collection, text, fixed, abort.signal).then(
        (choices) => {
          if (abort.signal.aborted) return;
          found.value = { text, choices };
          // Enter chooses what has this name rather than the first that contains it.
          const meant = meantBy(text, choices, latest.current.value);
          const first = meant === undefined ? 0 : choices.indexOf(meant);
          marked.value = choices.length > 0 && text !== '' ? first : -1;
        },
        (error: unknown) => {
          if (isAborted(error)) return;
          found.value = { text, choices: null };
          complain(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, failed, found, marked]);
  return { typed, found, marked, left };
}

interface Offer {
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly chosen: boolean;
  readonly choose: () => void;
}

/** What the list offers for what is typed. @param close ends the search. */
function offersOf(
  { value, none, onChange, onCreate }: ComboboxProps,
  state: Search,
  close: () => void,
): Offer[] {
  const choices = choicesOf(state);
  const text = state.typed.value ?? '';
  const offer = (key: string, label: string, hint: string, chosen: boolean, run: () => void) => ({
    key,
    label,
    hint,
    chosen,
    choose() {
      close();
      run();
    },
  });
  const empty =
    none !== undefined && text === ''
      ? [offer('none', none, '', value === null, () => onChange(null, ''))]
      : [];
  const found = (choices ?? []).map(({ id, label, hint }) =>
    offer(String(id), label, hint, id === value, () => onChange(id, label)),
  );
  const name = text.trim();
  const missing =
    onCreate !== undefined && name !== '' && choices !== null
      ? [offer('create', t('combobox.create', { name }), '', false, () => onCreate(name))]
      : [];
  return [...empty, ...found, ...missing];
}

function endSearch({ typed, found, marked, left }: Search): void {
  typed.value = null;
  found.value = null;
  marked.value = -1;
  left.value = false;
}

/** What the keys and the pointer do to the field. */
function useCombobox(props: ComboboxProps) {
  const { value, onChange, required = false, readOnly = false } = props;
  const state = useSearch(props);
  const { typed, found, marked, left } = state;
  const emptied = useRef(false);
  const close = () => endSearch(state);
  const choices = choicesOf(state);
  const meant = choices === null ? null : meantBy(typed.value ?? '', choices, value);
  const kept = useMeant(left.value, meant, ({ id, label }) => {
    close();
    onChange(id, label);
  });
  useEffect(() => {
    if (left.value) close();
  }, [value]);
  const offers = offersOf(props, state, close);
  const open = choices !== null && !left.value && !readOnly;
  const move = (by: number) => {
    if (choices === null) found.value = null;
    if (typed.value === null) typed.value = '';
    else if (left.value) left.value = false;
    else if (offers.length > 0) {
      const from = marked.value === -1 && by === -1 ? 0 : marked.value;
      marked.value = (from + by + offers.length) % offers.length;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (readOnly) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      move(event.key === 'ArrowDown' ? 1 : -1);
    // Before the response is there, Enter chooses nothing; nor does it send the form.
    else if (event.key === 'Enter' && typed.value !== null) {
      if (open) offers[marked.value]?.choose();
    } else if (event.key === 'Escape' && typed.value !== null) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const handlers = {
    onKeyDown,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      typed.value = currentTarget.value;
      found.value = null;
      left.value = false;
      emptied.current = currentTarget.value === '';
    },
    onClick: () => {
      left.value = false;
      if (!readOnly && typed.value === null) typed.value = '';
    },
    onFocus: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      currentTarget.select();
      if (choices !== null) return;
      // What the text means is not known yet, and the user is here again to decide.
      found.value = null;
      left.value = false;
    },
    onBlur: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      // The window has lost the focus, and gives it back to the field.
      if (document.activeElement === currentTarget) return;
      // Deleting the text of an optional field empties it.
      if (emptied.current && typed.value === '' && value !== null && !required) onChange(null, '');
      emptied.current = false;
      if ((typed.value ?? '').trim() === '') close();
      else left.value = true;
    },
  };
  return { text: typed.value, kept, open, offers, marked: marked.value, handlers };
}

/** Text that names no item is not a value: it stays in the field and is marked as unchosen. */
export function Combobox(props: ComboboxProps) {
  const { id, required = false, readOnly = false } = props;
  const list = useId();
  const label = useLabel(props);
  const { text, kept, open, offers, marked, handlers } = useCombobox(props);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    // A name that arrives after the focus is selected too, so that typing replaces it.
    if (text === null && document.activeElement === input.current) input.current?.select();
  }, [label, text]);
  return (
    <div class="combobox">
      <input
        ref={input}
        id={id}
        role="combobox"
        type="text"
        autocomplete="off"
        spellcheck={false}
        aria-expanded={open}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={
          open && offers[marked] !== undefined ? `${list}-${marked}` : undefined
        }
        aria-required={required}
        {...describing(props, kept, text)}
        placeholder={props.placeholder ?? ''}
        readOnly={readOnly}
        value={text ?? label}
        {...handlers}
      />
      <Choices list={list} open={open} offers={offers} marked={marked} />
      <Unchosen id={id} shown={kept.unchosen} />
    </div>
  );
}

interface ChoicesProps {
  readonly list: string;
  readonly open: boolean;
  readonly offers: readonly Offer[];
  readonly marked: number;
}

function Choices({ list, open, offers, marked }: ChoicesProps) {
  const element = useInWindow(marked);
  return (
    <>
      <ul ref={element} id={list} role="listbox" aria-label={t('combobox.choices')} hidden={!open}>
        {open &&
          offers.map((offer, at) => (
            // The focus stays in the field, so that a choice does not end the search.
            <li
              key={offer.key}
              id={`${list}-${at}`}
              role="option"
              aria-selected={offer.chosen}
              class={at === marked ? 'marked' : ''}
              onMouseDown={(event) => event.preventDefault()}
              onClick={offer.choose}
            >
              {offer.label}
              {offer.hint !== '' && <span class="soft"> {offer.hint}</span>}
            </li>
          ))}
      </ul>
      {/* It is always there: text in a region that is new is often not announced. */}
      <p class="nothing" aria-live="polite">
        {open && offers.length === 0 && t('combobox.nothing')}
      </p>
    </>
  );
}
