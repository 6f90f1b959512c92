/** A field for a reference: type to search, choose with the arrow keys, create what is missing. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Choice, rememberName } from '../../api/references.ts';
import type { CollectionName } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { useInWindow } from './in-window.ts';
import { meantBy } from './meant.ts';
import type { PickerProps } from './picker-props.ts';
import { describing, Unchosen, useMeant } from './unchosen.tsx';
import { useName } from './use-name.ts';
import {
  choicesOf,
  endSearch,
  isLate,
  type Search,
  type SearchProps,
  useSearch,
} from './use-search.ts';

export interface ComboboxProps extends PickerProps {
  readonly collection: CollectionName;
  readonly onChange: (value: number | null, label: string) => void;
  /** Adds choices to what was found. Lists load it later. */
  readonly showMore: (props: SearchProps, state: Search) => void;
}

interface Offer {
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly chosen: boolean;
  readonly choose: () => void;
}

/** What the user sees of a choice. */
const nameOf = ({ label, hint }: Choice) => `${label}\n${hint}`;

/** What the list offers for what is typed. @param close ends the search. */
function offersOf(props: ComboboxProps, state: Search, close: () => void): Offer[] {
  const { value, none, onChange, onCreate } = props;
  const choices = choicesOf(state);
  const text = state.typed.value ?? '';
  const { read = 0, total = 0, isReading = false } = state.found.value ?? {};
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
  const twins = Map.groupBy(choices ?? [], nameOf);
  const found = (choices ?? []).map((each) => {
    const { id, label } = each;
    const hint = twins.get(nameOf(each))?.length === 1 ? each.hint : `${each.hint} #${id}`;
    return offer(String(id), label, hint, id === value, () => onChange(id, label));
  });
  const more =
    choices !== null && read < total
      ? [
          {
            key: 'more',
            label: t(isReading ? 'loading' : 'combobox.more', { shown: read, count: total }),
            hint: '',
            chosen: false,
            choose: () => props.showMore(props, state),
          },
        ]
      : [];
  const name = text.trim();
  const back = () => {
    state.typed.value = text;
  };
  const missing =
    onCreate !== undefined && name !== '' && choices !== null
      ? [offer('create', t('combobox.create', { name }), '', false, () => onCreate(name, back))]
      : [];
  return [...empty, ...found, ...more, ...missing];
}

/** What Enter does if nothing is marked: what has the name that was typed may be in the rest. */
function moreOf(offers: readonly Offer[], text: string): Offer | undefined {
  return text.trim() === '' ? undefined : offers.find(({ key }) => key === 'more');
}

/** How many lines a key moves. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
};

/** More than one line stops at the ends of the list. @param from -1 if no line is marked. */
function lineAfter(from: number, by: number, length: number): number {
  const to = (from === -1 && by === -1 ? 0 : from) + by;
  return Math.abs(by) === 1 ? (to + length) % length : Math.max(0, Math.min(to, length - 1));
}

/** Whether all that was found is shown. */
function isWhole({ found }: Search): boolean {
  return found.value !== null && found.value.read >= found.value.total;
}

/** What the keys and the pointer do to the field. */
function useCombobox(props: ComboboxProps) {
  const { value, onChange, required = false, readOnly = false } = props;
  const state = useSearch(props);
  const { typed, found, marked, left, emptied } = state;
  const close = () => endSearch(state);
  const choices = choicesOf(state);
  const meant = choices && meantBy(typed.value ?? '', choices, value, isWhole(state));
  const kept = useMeant(left.value, meant, ({ id, label }) => {
    close();
    onChange(id, label);
  });
  useLayoutEffect(() => {
    if (left.value) close();
  }, [value]);
  const offers = offersOf(props, state, close);
  const open = choices !== null && !left.value && !readOnly;
  const late = isLate(state);
  const move = (by: number) => {
    if (choices === null && !late) found.value = null;
    if (typed.value === null) typed.value = '';
    else if (left.value) left.value = false;
    else if (offers.length > 0) marked.value = lineAfter(marked.value, by, offers.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (readOnly) return;
    const by = STEPS[event.key];
    // A closed list leaves the page, and Alt the pages of the list behind it, to these keys.
    const isOther = event.key.startsWith('Page') && (!open || event.altKey);
    if (by !== undefined && !isOther) move(by);
    // Before the response is there, Enter chooses nothing; nor does it send the form.
    else if (event.key === 'Enter' && typed.value !== null) {
      if (open) (offers[marked.value] ?? moreOf(offers, typed.value))?.choose();
    } else if (event.key === 'Escape' && typed.value !== null) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const handlers = {
    onKeyDown,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      // The same text, pasted over itself, is not searched again.
      if (currentTarget.value !== typed.value || choices === null) found.value = null;
      typed.value = currentTarget.value;
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
      if ((typed.value ?? '').trim() === '') close();
      else left.value = true;
    },
  };
  return { text: typed.value, kept, open, late, offers, marked: marked.value, close, handlers };
}

/** Text that names no item is not a value: it stays in the field and is marked as unchosen. */
export function Combobox(props: ComboboxProps) {
  const { id, collection, required = false, readOnly = false } = props;
  const list = useId();
  const label = useName(collection, props.value, props.label) ?? '';
  const onChange: ComboboxProps['onChange'] = (value, name) => {
    if (value !== null) rememberName(collection, value, name);
    props.onChange(value, name);
  };
  const { text, kept, open, late, offers, marked, close, handlers } = useCombobox({
    ...props,
    onChange,
  });
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
          open && offers[marked] !== undefined ? `${list}-${offers[marked].key}` : undefined
        }
        aria-required={required}
        {...describing(props, kept, text, close)}
        placeholder={props.placeholder ?? ''}
        readOnly={readOnly}
        value={text ?? label}
        {...handlers}
      />
      <Choices {...{ list, open, late, offers, marked }} />
      <Unchosen id={id} shown={kept.unchosen} />
    </div>
  );
}

interface ChoicesProps {
  readonly list: string;
  readonly open: boolean;
  /** Whether the server takes long to find any. */
  readonly late: boolean;
  readonly offers: readonly Offer[];
  readonly marked: number;
}

function Choices({ list, open, late, offers, marked }: ChoicesProps) {
  const element = useInWindow(offers[marked]?.key);
  return (
    <>
      <ul ref={element} id={list} role="listbox" aria-label={t('combobox.choices')} hidden={!open}>
        {open &&
          offers.map((offer, at) => (
            // The focus stays in the field, so that a choice does not end the search.
            <li
              key={offer.key}
              id={`${list}-${offer.key}`}
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
        {late && t('loading')}
      </p>
    </>
  );
}
