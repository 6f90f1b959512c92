/** A field whose text becomes an item of its own. No form saves it, so it is not to be forgotten. */
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { CreationKey } from '../../api/creation-key.ts';
import { isGone } from '../../api/client.ts';
import { change, type Changes, create, load, type Loaded } from '../../api/items.ts';
import type { CollectionName, Item } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { useOneAtATime } from '../../one-at-a-time.ts';
import { complain } from '../../parts/notices.tsx';
import { unsavedText } from '../../parts/pickers/unchosen.tsx';
import { isRefusal } from '../save.ts';

interface AddProps {
  readonly label: string;
  readonly action: string;
  /** Whether it takes the focus when it appears. */
  readonly focused?: boolean;
  readonly collection: CollectionName;
  /** What the item that a text becomes belongs to. */
  readonly parent: readonly [collection: CollectionName, id: number];
  /** The item that a text becomes. */
  readonly contentOf: (text: string) => Changes;
  readonly onAdded: (item: Item) => void;
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

/** Text that was typed and not added holds the form back. */
export function AddText(props: AddProps) {
  const { label, action, focused = false, onAdded } = props;
  const text = useSignal('');
  const left = useSignal(false);
  const added = useSignal('');
  const adding = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const creation = useRef(new CreationKey());
  const message = useId();
  useLayoutEffect(() => {
    if (focused) input.current?.focus();
  }, []);
  const add = useOneAtATime(async () => {
    const sent = text.value;
    const given = sent.trim();
    if (given === '') return;
    adding.value = true;
    const item = await createFrom(props, given, creation.current).finally(() => {
      adding.value = false;
    });
    onAdded(item);
    added.value = given;
    // What was typed meanwhile is another one.
    const now = text.value;
    text.value = now.startsWith(sent) ? now.slice(sent.length) : now;
  });
  const typed = text.value.trim() !== '';
  // The message would move what the user presses next.
  const kept = typed && left.value && !adding.value;
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
          aria-invalid={kept}
          aria-describedby={kept ? message : undefined}
          {...unsavedText(text.value, () => {
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
            add().catch(complain);
          }}
        />
        <button
          type="button"
          // The field keeps the focus: the message of one that is left would move the button.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => void add().catch(complain)}
        >
          {action}
        </button>
      </span>
      <Messages id={message} kept={kept} action={action} added={added.value} />
    </div>
  );
}

interface MessagesProps {
  /** Of the message that the text is not added. */
  readonly id: string;
  readonly kept: boolean;
  readonly action: string;
  /** What was added last. It appears elsewhere on the screen, and the focus stays here. */
  readonly added: string;
}

function Messages({ id, kept, action, added }: MessagesProps) {
  return (
    <>
      <p class="hidden" role="status">
        {added !== '' && t('form.saved', { name: added })}
      </p>
      {kept && (
        <p id={id} role="alert" class="problem">
          {t('specs.unadded', { action })}
        </p>
      )}
    </>
  );
}
