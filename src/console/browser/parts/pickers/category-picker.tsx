/**
 * A field for a category: a combobox whose choices are a tree (WAI-ARIA 1.2, combobox with a tree
 * popup). Typing searches; while nothing is typed, the arrow keys open and close branches.
 */
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { categories, needCategories } from '../../api/references.ts';
import { t } from '../../messages/text.ts';
import { complain } from '../notices.tsx';
import { MAX_ROWS } from './category-tree.ts';
import { useInWindow } from './in-window.ts';
import {
  type CategoryPickerProps,
  handleTreeKey,
  type Line,
  type Tree,
  useCategoryTree,
} from './use-category-tree.ts';
import { describing, Unchosen } from './unchosen.tsx';

/** Shows the category itself, which a narrow field cuts off: it is the last name of its path. */
function showEnd(field: HTMLInputElement): void {
  field.scrollLeft = field.scrollWidth;
}

/** Until the category is known, the field shows its number. */
export function CategoryPicker(props: CategoryPickerProps) {
  const { id, value, required = false, readOnly = false } = props;
  const popup = useId();
  const tree = useCategoryTree(props);
  const { typed, kept, open, at } = tree;
  useEffect(() => {
    if (value !== null) needCategories([value]).catch(complain);
  }, [value]);
  const input = useRef<HTMLInputElement>(null);
  const path = value === null ? '' : (categories.value?.get(value)?.path ?? `#${value}`);
  useLayoutEffect(() => {
    if (typed === null && input.current !== null) showEnd(input.current);
  }, [typed, path]);
  return (
    <div class="combobox">
      <input
        ref={input}
        id={id}
        role="combobox"
        type="text"
        autocomplete="off"
        spellcheck={false}
        aria-haspopup="tree"
        aria-expanded={open}
        aria-controls={popup}
        aria-autocomplete="list"
        aria-activedescendant={open && at !== -1 ? `${popup}-${at}` : undefined}
        aria-required={required}
        {...describing(props, kept, typed, tree.close)}
        placeholder={props.placeholder ?? ''}
        readOnly={readOnly}
        value={typed ?? props.label ?? path}
        onKeyDown={(event) => {
          if (!readOnly) handleTreeKey(tree, event);
        }}
        onInput={({ currentTarget }) => tree.search(currentTarget.value)}
        onClick={tree.begin}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onBlur={({ currentTarget }) => {
          // If the window has lost the focus, it gives it back to the field.
          if (document.activeElement !== currentTarget) tree.leave();
        }}
        // Browsers scroll a field that is left to its beginning, where a text is that was typed.
        onFocusOut={({ currentTarget }) => {
          if (typed === null) showEnd(currentTarget);
        }}
      />
      <Lines popup={popup} tree={tree} />
      <Unchosen id={id} shown={kept.unchosen} />
    </div>
  );
}

interface LinesProps {
  readonly popup: string;
  readonly tree: Tree;
}

function Lines({ popup, tree }: LinesProps) {
  const { lines, isCut, at, open, choose, toggle } = tree;
  const element = useInWindow(at);
  return (
    <>
      <ul ref={element} id={popup} role="tree" aria-label={t('combobox.choices')} hidden={!open}>
        {lines.map((line, index) => (
          // The focus stays in the field, so that a choice does not end the search.
          <li
            key={line.key}
            id={`${popup}-${index}`}
            role="treeitem"
            aria-level={line.level}
            aria-setsize={line.row?.siblings}
            aria-posinset={line.row?.position}
            aria-expanded={line.row?.expanded ?? undefined}
            aria-selected={line.choose === null ? undefined : line.chosen}
            class={index === at ? 'marked' : ''}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(line)}
          >
            <Branch line={line} onToggle={toggle} />
            {line.label}
          </li>
        ))}
        {isCut && (
          <li role="none" class="rest soft" onMouseDown={(event) => event.preventDefault()}>
            {t('combobox.rest', { count: MAX_ROWS })}
          </li>
        )}
      </ul>
      {/* It is always there: text in a region that is new is often not announced. */}
      <p class="nothing" aria-live="polite">
        {open && lines.length === 0 && t('combobox.nothing')}
      </p>
    </>
  );
}

/** What opens and closes a branch by pointer; the keys do it with the arrows. */
function Branch({
  line,
  onToggle,
}: {
  readonly line: Line;
  readonly onToggle: (line: Line) => void;
}) {
  const expanded = line.row?.expanded ?? null;
  return (
    <span
      class="branch"
      aria-hidden="true"
      onClick={(event) => {
        if (expanded === null) return;
        event.stopPropagation();
        onToggle(line);
      }}
    >
      {expanded === null ? '' : expanded ? '▾' : '▸'}
    </span>
  );
}
