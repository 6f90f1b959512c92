/** A field whose text becomes an item of its own. No form saves it, so it is not to be forgotten. */
import { type Signal, useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { CreationKey } from '../../api/creation-key.ts';
import { isGone, isPassing } from '../../api/client.ts';
import { collectionOf } from '../../api/collections.ts';
import { change, type Changes, create, load, type Loaded } from '../../api/items.ts';
import { textOf } from '../../api/text-of.ts';
import type { CollectionName, Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { useShown } from '../../parts/change-in-place.ts';
import { complain, offer, wordsFor } from '../../parts/notices.tsx';
import { unsavedText } from '../../parts/pickers/unchosen.tsx';
import { catalogVersion } from '../../parts/version.ts';
import { whileSaving } from '../../saving.ts';
import { isRefusal } from '../save.ts';

interface AddProps {
  readonly label: string;
  readonly action: string;
  /** Whether it takes the focus when it appears. */
  readonly focused?: boolean;
  readonly collection: CollectionName;
  /** What the item that a text becomes belongs to. */
  readonly parent: readonly [collection: CollectionName, id: number];
  /** The texts of the items that are there, none of which is added again. */
  readonly existing: readonly string[];
  /** The item that a text becomes. */
  readonly contentOf: (text: string) => Changes;
  /** `isLast` tells whether nothing else is typed or waits to be added. */
  readonly onAdded: (item: Item, isLast: boolean) => void;
  /** Another user has deleted the parent. */
  readonly onGone: () => void;
}

/** @throws ApiError `410` if the parent is gone: the server answers that it refers to nothing. */
async function createFrom(
  { collection, parent, contentOf, onGone }: AddProps,
  text: string,
  creation: CreationKey,
): Promise<Item> {
  const content = contentOf(text);
  try {
    const { item } = await creation.once<Changes, Loaded>(content, {
      create: (sent, key) => create(collection, sent, key),
      amend: (made) => change(collection, made.item.id, content, null),
    });
    return item;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const gone = await load(...parent).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!isGone(gone)) throw error;
    onGone();
    throw gone;
  }
}

/** A text that was entered, and the request that creates its item. */
interface Entered {
  readonly text: string;
  readonly creation: CreationKey;
}

/**
 * Adds what is entered, one after the other, while the user types the next one.
 *
 * @param text of the field. A text that is refused is put back, unless another one is there by then.
 *   If it was entered again, it is sent by the request that failed, which creates it once.
 */
function useAdding(props: AddProps, text: Signal<string>) {
  const added = useSignal('');
  const waiting = useSignal<readonly Entered[]>([]);
  /** The texts that the server has added, until they are among the existing ones. */
  const unread = useRef<readonly string[]>([]);
  unread.current = unread.current.filter((each) => !props.existing.includes(each));
  /** The text that was entered last if it was there already. */
  const repeated = useSignal<string | null>(null);
  const creation = useRef(new CreationKey());
  const isShown = useShown();
  const isThere = (wanted: string) =>
    props.existing.includes(wanted) ||
    unread.current.includes(wanted) ||
    waiting.value.some((each) => each.text === wanted);
  const send = async (entered: Entered) => {
    const item = await createFrom(props, entered.text, entered.creation);
    const isLast = text.value.trim() === '' && waiting.value.every((each) => each === entered);
    unread.current = [...unread.current, textOf(item[collectionOf(props.collection).title])];
    props.onAdded(item, isLast);
    added.value = entered.text;
    // The screen that the user has gone on to may show it.
    if (!isShown()) catalogVersion.value += 1;
  };
  const fail = (entered: Entered, error: unknown) => {
    const isEnteredAgain = repeated.value === entered.text && text.value.trim() === entered.text;
    if (isShown() && (text.value === '' || isEnteredAgain)) {
      text.value = entered.text;
      creation.current = entered.creation;
      complain(error);
    } else complainOf(props, entered, error, () => send(entered));
  };
  const sendAll = async () => {
    for (let [next] = waiting.value; next !== undefined; [next] = waiting.value) {
      const current = next;
      await send(current).catch((error: unknown) => fail(current, error));
      waiting.value = waiting.value.slice(1);
    }
  };
  const add = async () => {
    const entered = text.value.trim();
    if (entered === '') return;
    repeated.value = isThere(entered) ? entered : null;
    if (repeated.value !== null) return;
    waiting.value = [...waiting.value, { text: entered, creation: creation.current }];
    text.value = '';
    creation.current = new CreationKey();
    if (waiting.value.length === 1) await whileSaving(sendAll);
  };
  const typed = text.value.trim();
  return {
    add,
    added: added.value,
    waiting: waiting.value.map((each) => each.text).join(' '),
    // What was under way may have failed since, or what was there may be gone.
    isRepeated: repeated.value === typed && isThere(typed),
  };
}

/** Says which text is not added, and offers to send it again if that may succeed. */
function complainOf(
  { label, collection }: AddProps,
  { text }: Entered,
  error: unknown,
  run: () => Promise<void>,
): void {
  const what = { label: attributeLabel(collectionOf(collection).title), value: text };
  const message = t('list.unsaved', { name: label, ...what, why: wordsFor(error) });
  if (isPassing(error)) offer(message, { label: t('list.again'), run });
  else complain(new Error(message, { cause: error }));
}

/** Text that was typed and not added holds the form back. */
export function AddText(props: AddProps) {
  const { label, action, focused = false } = props;
  const text = useSignal('');
  const left = useSignal(false);
  const { add, added, waiting, isRepeated } = useAdding(props, text);
  const input = useRef<HTMLInputElement>(null);
  const message = useId();
  useLayoutEffect(() => {
    if (focused) input.current?.focus();
  }, []);
  const typed = text.value.trim() !== '';
  // The message would move what the user presses next.
  const isUnadded = typed && left.value && waiting === '';
  const entered = { name: text.value.trim(), action };
  const problem = isRepeated
    ? t('specs.repeated', entered)
    : isUnadded
      ? t('specs.unadded', entered)
      : null;
  return (
    <div
      onFocusOut={({ currentTarget, relatedTarget }) => {
        left.value = !(relatedTarget instanceof Node && currentTarget.contains(relatedTarget));
      }}
    >
      <span class="joined">
        <input
          ref={input}
          aria-label={label}
          placeholder={label}
          value={text.value}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : message}
          {...unsavedText(waiting + text.value, () => {
            text.value = '';
          })}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            left.value = false;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // The form around it is not to be sent.
            event.preventDefault();
            void add();
          }}
        />
        <button
          type="button"
          // The field keeps the focus: the message of one that is left would move the button.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => void add()}
        >
          {action}
        </button>
      </span>
      <Messages id={message} problem={problem} added={added} />
    </div>
  );
}

interface MessagesProps {
  /** Of the message about the problem. */
  readonly id: string;
  /** Why the text is not added; null if nothing is wrong. */
  readonly problem: string | null;
  /** What was added last. It appears elsewhere on the screen, and the focus stays here. */
  readonly added: string;
}

function Messages({ id, problem, added }: MessagesProps) {
  return (
    <>
      <p class="hidden" role="status">
        {added !== '' && t('form.saved', { name: added })}
      </p>
      {problem !== null && (
        <p id={id} role="alert" class="problem">
          {problem}
        </p>
      )}
    </>
  );
}
