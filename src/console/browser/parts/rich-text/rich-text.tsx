/**
 * The field for a description: rich text with the markup that the shop's pages show. It is loaded
 * when a description is first shown. A description is changed only by what the user does to it.
 */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import Squire from 'squire-rte';
import type { MessageKey } from '../../messages/message.ts';
import { t } from '../../messages/text.ts';
import { htmlOf, sanitized } from './description-html.ts';
import { LinkDialog } from './link-dialog.tsx';

interface RichTextProps {
  readonly id: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly readOnly: boolean;
  readonly described: string | undefined;
}

/** What the editor holds, without what it adds for itself; "" for no text. */
function contentOf(editor: Squire): string {
  const box = document.createElement('div');
  box.append(sanitized(editor.getHTML()));
  for (const block of box.querySelectorAll('p')) {
    if (block.innerHTML === '<br>') block.replaceChildren();
    else if (block.lastChild?.nodeName === 'BR') block.lastChild.remove();
  }
  // Empty lines below a list or a heading, so that one can go on there.
  while (isEmptyLine(box.lastChild)) box.lastChild?.remove();
  return box.textContent.trim() === '' ? '' : box.innerHTML;
}

function isEmptyLine(node: Node | null): boolean {
  return (node?.nodeName === 'BR' || node?.nodeName === 'P') && !node.hasChildNodes();
}

interface Command {
  readonly name: string;
  readonly mark: string;
  readonly run: (editor: Squire) => void;
}

const COMMANDS: readonly Command[] = [
  { name: 'bold', mark: 'B', run: toggle('B', 'bold', 'removeBold') },
  { name: 'italic', mark: 'I', run: toggle('I', 'italic', 'removeItalic') },
  { name: 'heading', mark: 'H', run: toggleHeading },
  { name: 'bullets', mark: '•', run: toggle('UL', 'makeUnorderedList', 'removeList') },
  { name: 'numbers', mark: '#', run: toggle('OL', 'makeOrderedList', 'removeList') },
  {
    name: 'quote',
    mark: '”',
    run: toggle('BLOCKQUOTE', 'increaseQuoteLevel', 'decreaseQuoteLevel'),
  },
  { name: 'clear', mark: '⌫', run: (editor) => void editor.removeAllFormatting() },
];

type Action =
  | 'bold'
  | 'removeBold'
  | 'italic'
  | 'removeItalic'
  | 'makeUnorderedList'
  | 'makeOrderedList'
  | 'removeList'
  | 'increaseQuoteLevel'
  | 'decreaseQuoteLevel';

function toggle(tag: string, add: Action, remove: Action) {
  return (editor: Squire) => void (editor.hasFormat(tag) ? editor[remove]() : editor[add]());
}

function toggleHeading(editor: Squire): void {
  const from = editor.hasFormat('H3') ? 'h3' : 'p';
  const to = from === 'h3' ? 'p' : 'h3';
  editor.modifyBlocks((fragment) => {
    for (const block of fragment.querySelectorAll(from)) {
      const replacement = document.createElement(to);
      replacement.append(...block.childNodes);
      block.replaceWith(replacement);
    }
    return fragment;
  });
}

/** A button changes between the editor and the HTML itself, which is the value in both. */
export function RichText({ id, value, onChange, readOnly, described }: RichTextProps) {
  const source = useSignal(false);
  const editor = useRef<Squire | null>(null);
  return (
    <div class="rich-text">
      {!readOnly && (
        <Toolbar
          id={id}
          editor={editor}
          source={source.value}
          onSource={() => {
            source.value = !source.value;
          }}
        />
      )}
      {source.value ? (
        <textarea
          id={id}
          rows={8}
          spellcheck={false}
          value={value}
          aria-describedby={described}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        // An editor begins empty, and leaves its element editable: each has an element of its own.
        <Surface key={String(readOnly)} {...{ id, value, onChange, readOnly, described, editor }} />
      )}
    </div>
  );
}

type EditorRef = { current: Squire | null };

interface ToolbarProps {
  readonly id: string;
  readonly editor: EditorRef;
  readonly source: boolean;
  readonly onSource: () => void;
}

function Toolbar({ id, editor, source, onSource }: ToolbarProps) {
  return (
    <div class="tools" role="group" aria-labelledby={`${id}-label`}>
      {COMMANDS.map(({ name, mark, run }) => (
        <button
          key={name}
          type="button"
          class="icon"
          aria-label={t(`richText.${name}` as MessageKey)}
          title={t(`richText.${name}` as MessageKey)}
          disabled={source}
          onClick={() => {
            if (editor.current !== null) run(editor.current);
            editor.current?.focus();
          }}
        >
          <span aria-hidden="true">{mark}</span>
        </button>
      ))}
      <LinkButton editor={editor} disabled={source} />
      <button type="button" class="plain" aria-pressed={source} onClick={onSource}>
        HTML
      </button>
    </div>
  );
}

/** The link at the selection of an editor; null if there is none. */
function linkAt(editor: Squire): HTMLAnchorElement | null {
  const { commonAncestorContainer: node } = editor.getSelection();
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest('a') ?? null;
}

interface LinkButtonProps {
  readonly editor: EditorRef;
  readonly disabled: boolean;
}

function LinkButton({ editor, disabled }: LinkButtonProps) {
  const current = useSignal<string | null>(null);
  const close = () => {
    current.value = null;
  };
  const done = (address: string | null) => {
    close();
    const squire = editor.current;
    if (squire === null) return;
    const link = linkAt(squire);
    if (link !== null) {
      // The whole link, whatever part of it is selected.
      const range = document.createRange();
      range.selectNodeContents(link);
      squire.setSelection(range);
    }
    if (address === null) squire.removeLink();
    else squire.makeLink(address);
    // After the dialog has given the focus back to the button.
    requestAnimationFrame(() => squire.focus());
  };
  return (
    <>
      <button
        type="button"
        class="icon"
        aria-label={t('richText.link')}
        title={t('richText.link')}
        disabled={disabled}
        onClick={() => {
          const squire = editor.current;
          if (squire !== null) current.value = linkAt(squire)?.getAttribute('href') ?? '';
        }}
      >
        <span aria-hidden="true">↗</span>
      </button>
      {current.value !== null && (
        <LinkDialog current={current.value} onClose={close} onDone={done} />
      )}
    </>
  );
}

interface SurfaceProps extends RichTextProps {
  readonly editor: EditorRef;
}

function Surface({ id, value, onChange, readOnly, described, editor }: SurfaceProps) {
  const root = useRef<HTMLDivElement>(null);
  const shown = useRef<string | null>(null);
  const original = useRef({ given: '', content: '' });
  const latest = useRef(onChange);
  latest.current = onChange;
  useLayoutEffect(() => {
    if (root.current === null || readOnly) return;
    const created = new Squire(root.current, {
      blockTag: 'P',
      sanitizeToDOMFragment: sanitized,
    });
    editor.current = created;
    // At the beginning of a line of a list, these keys would nest or end the list, and not move on.
    for (const key of ['Tab', 'Shift-Tab']) created.setKeyHandler(key, null);
    created.addEventListener('input', () => {
      const text = contentOf(created);
      // The editor rewrites markup in its own way, which is not a change.
      const { given, content } = original.current;
      shown.current = text === content ? given : text;
      latest.current(shown.current);
    });
    return () => {
      editor.current = null;
      created.destroy();
    };
  }, [editor, readOnly]);
  // In the task that rendered the value: no key can be pressed in between, so a text that differs
  // from the last one of this editor is not an earlier one of it, even while the user types.
  useLayoutEffect(() => {
    if (shown.current === value) return;
    shown.current = value;
    if (editor.current === null) {
      root.current?.replaceChildren(sanitized(htmlOf(value)));
      return;
    }
    editor.current.setHTML(htmlOf(value));
    original.current = { given: value, content: contentOf(editor.current) };
  }, [value, editor]);
  return (
    <div
      ref={root}
      id={id}
      class="surface"
      role="textbox"
      aria-multiline="true"
      aria-readonly={readOnly}
      aria-labelledby={`${id}-label`}
      aria-describedby={described}
      tabIndex={0}
    />
  );
}
