/** One attribute of an item changed where it is shown, without a form. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ApiError, isGone, isLost, isPassing } from '../api/client.ts';
import type { Collection } from '../api/collections.ts';
import { change, load } from '../api/items.ts';
import { whileSaving } from '../saving.ts';
import type { Item, Value } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { attributeLabel, shownValue, titleOf } from './attributes.ts';
import { announce, complain, offer, wordsFor } from './notices.tsx';
import { catalogVersion } from './version.ts';

/** Attempts if others write the same item, but not this attribute. */
const ATTEMPTS = 3;

export interface Place {
  readonly collection: Collection;
  /** As it is shown. */
  readonly shown: Item;
  readonly attribute: string;
  /** Gets what the item is now, whether this write or another one has changed it. */
  readonly onChange: (item: Item) => void;
  /** Whether the field is still there: the user may go on while the server is asked. */
  readonly isShown: () => boolean;
  /** The values whose responses were lost, so that the server may have one of them. */
  readonly unanswered?: Set<unknown>;
}

interface Seen extends Pick<Place, 'shown' | 'onChange' | 'isShown' | 'unanswered'> {
  /** Whether no response was lost. */
  readonly isKnown: () => boolean;
  /** For what is typed and dropped: what may have been saved of it is read again. */
  readonly drop: () => void;
}

/** @returns tells whether the component is still on the screen. */
export function useShown(): () => boolean {
  const removed = useRef(false);
  useLayoutEffect(
    () => () => {
      removed.current = true;
    },
    [],
  );
  return () => !removed.current;
}

/**
 * What a field that is typed into began with: what the screen reads again meanwhile has not been
 * seen by the user, and is not to be overwritten.
 *
 * @returns for {@link changeInPlace}; what that says of the item counts as seen from then on.
 */
export function useSeen(item: Item, onChange: Place['onChange']): Seen {
  const seen = useRef(item);
  const unanswered = useRef(new Set<unknown>()).current;
  const isKnown = () => unanswered.size === 0;
  return {
    shown: seen.current,
    onChange(now) {
      seen.current = now;
      unanswered.clear();
      onChange(now);
    },
    isShown: useShown(),
    unanswered,
    isKnown,
    drop() {
      if (!isKnown()) catalogVersion.value += 1;
    },
  };
}

/**
 * Saves what is typed if the field is removed before the focus has left it, as Back does. A click
 * saves it too, before it leads to another screen. Before the page is closed or loaded again the user
 * is asked instead, because that would cut off the save. What could not be saved before is dropped:
 * the user was asked before leaving it.
 *
 * @param save is called while the field is still on the page.
 * @param field whose default value is what it began with.
 * @param isRefused whether an attempt has failed.
 */
export function useSavedWhenRemoved(
  save: () => Promise<void>,
  field: { readonly current: HTMLInputElement | null },
  isRefused: () => boolean,
): void {
  const latest = useRef(save);
  latest.current = save;
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      const input = field.current;
      if (input !== null && input.value !== input.defaultValue) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('beforeunload', ask);
      if (!isRefused()) void latest.current();
    };
  }, []);
}

/**
 * Changes the attribute if it still is what is shown. Otherwise the screen is given what the item
 * is now; if the item is gone, the screen is read again.
 *
 * @throws ApiError `412` if another user has changed the attribute, `410` or `404` if one has
 *   deleted the item; what the server refuses.
 */
export async function changeInPlace(place: Place, value: Value): Promise<void> {
  try {
    await whileSaving(() => write(place, value));
  } catch (error) {
    if (isGone(error)) catalogVersion.value += 1;
    throw error;
  }
}

/** Shows what the item is now, on the screen that the user has gone on to as well. */
function tell({ onChange, isShown }: Place, now: Item): void {
  onChange(now);
  if (!isShown()) catalogVersion.value += 1;
}

/** Shows what the server has, if it answers: after a lost response it may have what was sent. */
export async function showNow(place: Place): Promise<void> {
  const now = await load(place.collection.name, place.shown.id).catch(() => null);
  if (now !== null) tell(place, now.item);
}

/**
 * Says why {@link changeInPlace} has failed. A value whose field is gone is offered to be sent again,
 * if that may succeed: what was typed is nowhere else.
 */
export function complainOf(place: Place, value: Value, error: unknown): void {
  const { collection, shown, attribute, isShown } = place;
  if (isShown() || !isPassing(error)) {
    complain(error);
    return;
  }
  const text = t('list.unsaved', {
    name: titleOf(collection, shown),
    label: attributeLabel(attribute),
    value: shownValue(attribute, value),
    why: wordsFor(error),
  });
  offer(text, { label: t('list.again'), run: () => changeInPlace(place, value) });
}

async function write(place: Place, value: Value): Promise<void> {
  const { collection, shown, attribute, unanswered } = place;
  for (let attempt = 1; ; attempt += 1) {
    const { item, etag } = await load(collection.name, shown.id);
    if (item[attribute] === value) {
      // The response to an earlier attempt was lost, or another user has done the same.
      tell(place, item);
      say(place, item);
      return;
    }
    const isOwn = unanswered?.has(item[attribute]) === true;
    if (item[attribute] !== shown[attribute] && !isOwn) {
      tell(place, item);
      const now = shownValue(attribute, item[attribute]);
      const values = { label: attributeLabel(attribute), now, name: titleOf(collection, shown) };
      throw new ApiError(412, t('list.changedMeanwhile', values));
    }
    try {
      const changes = { [attribute]: value };
      const { item: changed } = await change(collection.name, shown.id, changes, etag);
      tell(place, changed);
      say(place, changed);
      return;
    } catch (error) {
      if (isLost(error)) unanswered?.add(value);
      if (!(error instanceof ApiError && error.status === 412) || attempt === ATTEMPTS) throw error;
    }
  }
}

function say(place: Place, changed: Item): void {
  const { collection, shown, attribute } = place;
  const text = t('list.changed', {
    name: titleOf(collection, shown),
    label: attributeLabel(attribute),
    now: shownValue(attribute, changed[attribute]),
  });
  const label = t('undo');
  const run = () => changeInPlace({ ...place, shown: changed }, shown[attribute] as Value);
  announce(text, { label, run });
}
