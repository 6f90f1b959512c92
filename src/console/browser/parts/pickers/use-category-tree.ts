/** The state of a category picker, its lines, and its keys. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { categories, chainOf, needCategories } from '../../api/references.ts';
import { t } from '../../messages/text.ts';
import { MAX_ROWS, type TreeRow, treeRows } from './category-tree.ts';
import { complain } from '../notices.tsx';
import { firstMeant, meantBy, namedFirst } from './meant.ts';
import type { PickerProps } from './picker-props.ts';
import { type Kept, useMeant } from './unchosen.tsx';

export interface CategoryPickerProps extends PickerProps {
  readonly onChange: (value: number | null) => void;
  /** Levels that may be chosen, from 1 to 3. */
  readonly levels: readonly number[];
}

/** A line of the popup: a category, no category, or one that is to be created. */
export interface Line {
  readonly key: string;
  readonly label: string;
  readonly level: number;
  readonly row: TreeRow | null;
  readonly chosen: boolean;
  /** Null if it only opens and closes. */
  readonly choose: (() => void) | null;
}

/** A line that is no category. */
function extra(key: string, label: string, chosen: boolean, choose: () => void): Line[] {
  return [{ key, label, level: 1, row: null, chosen, choose }];
}

/** @param search what is typed. */
function linesOf(
  props: CategoryPickerProps,
  rows: readonly TreeRow[],
  text: string,
  search: Tree['search'],
): Line[] {
  const { value, none, onChange, onCreate } = props;
  const name = text.trim();
  return [
    ...(none !== undefined && name === ''
      ? extra('none', none, value === null, () => onChange(null))
      : []),
    ...rows.map((row) => ({
      key: String(row.node.id),
      label: row.node.name,
      level: row.node.level,
      row,
      chosen: row.node.id === value,
      choose: row.choosable ? () => onChange(row.node.id) : null,
    })),
    ...(onCreate !== undefined && name !== ''
      ? extra('create', t('combobox.create', { name }), false, () =>
          onCreate(name, () => search(text)),
        )
      : []),
  ];
}

/** What is typed into the field, and what of the tree is in sight. */
interface TreeState {
  /** Null while nothing is searched. */
  readonly typed: Signal<string | null>;
  readonly expanded: Signal<ReadonlySet<number>>;
  /** The key of the line that was marked; null for the best one of what is searched. */
  readonly marked: Signal<string | null>;
  /** Whether the focus has left what is typed. */
  readonly left: Signal<boolean>;
  /** Whether the last input has deleted the whole text. */
  readonly emptied: { current: boolean };
}

export interface Tree {
  readonly typed: string | null;
  readonly kept: Kept;
  readonly open: boolean;
  readonly lines: readonly Line[];
  /** Whether there are more rows than lines. */
  readonly isCut: boolean;
  /** The position of the marked line; -1 if none is. */
  readonly at: number;
  /** Opens the popup at the value. */
  readonly begin: () => void;
  readonly close: () => void;
  /** Ends the search when the focus leaves. */
  readonly leave: () => void;
  readonly search: (text: string) => void;
  readonly toggle: (line: Line) => void;
  readonly choose: (line: Line | undefined) => void;
  readonly mark: (line: Line | undefined) => void;
}

/** The state of a picker, and what the keys and the pointer do to it. */
export function useCategoryTree(props: CategoryPickerProps): Tree {
  const state: TreeState = {
    typed: useSignal<string | null>(null),
    expanded: useSignal<ReadonlySet<number>>(new Set()),
    marked: useSignal<string | null>(null),
    left: useSignal(false),
    emptied: useRef(false),
  };
  const { typed, expanded, marked, left } = state;
  const nodes = categories.value;
  const text = typed.value ?? '';
  const view = { levels: props.levels, expanded: expanded.value, text };
  const rows = typed.value === null || nodes === null ? null : treeRows(nodes, view);
  const open = rows !== null && !left.value && props.readOnly !== true;
  const search = searching(props, state);
  const lines = open ? linesOf(props, rows, text, search.search) : [];
  const isCut = rows?.length === MAX_ROWS;
  const choices = namedFirst(text, rows?.flatMap(choiceOf) ?? []);
  const meant = rows === null ? null : meantBy(text, choices, props.value)?.id;
  // The tree may be read after the text was typed.
  const best = choices[firstMeant(text, choices, props.value, !isCut)]?.id;
  const mark = marked.value ?? String(best);
  const at = lines.findIndex(({ key }) => key === mark);
  const kept = useMeant(left.value, meant, (id) => {
    search.close();
    props.onChange(id);
  });
  useLayoutEffect(() => {
    if (left.value) search.close();
  }, [props.value]);
  return { typed: typed.value, kept, open, lines, isCut, at, ...search, ...choosing(state) };
}

function choiceOf({ node, choosable }: TreeRow) {
  return choosable ? [{ id: node.id, label: node.name }] : [];
}

/** Forgets what is typed. */
function endSearch({ typed, marked, left, emptied }: TreeState): void {
  typed.value = null;
  marked.value = null;
  left.value = false;
  emptied.current = false;
}

function searching(
  { value, readOnly = false, required = false, onChange }: CategoryPickerProps,
  state: TreeState,
): Pick<Tree, 'begin' | 'close' | 'leave' | 'search'> {
  const { typed, expanded, marked, left, emptied } = state;
  const close = () => endSearch(state);
  return {
    close,
    begin() {
      left.value = false;
      if (readOnly || typed.value !== null) return;
      needCategories().catch(complain);
      expanded.value = new Set(value === null ? [] : chainOf(value).slice(0, -1));
      marked.value = value === null ? null : String(value);
      typed.value = '';
    },
    leave() {
      // Deleting the text of an optional field empties it.
      if (emptied.current && typed.value === '' && value !== null && !required) onChange(null);
      if ((typed.value ?? '').trim() === '') close();
      else left.value = true;
    },
    search(text) {
      emptied.current = text === '';
      left.value = false;
      typed.value = text;
      marked.value = null;
      needCategories().catch(complain);
    },
  };
}

function choosing(state: TreeState): Pick<Tree, 'toggle' | 'choose' | 'mark'> {
  const { expanded, marked } = state;
  const toggle = ({ row }: Line) => {
    if (row === null || row.expanded === null) return;
    const next = new Set(expanded.value);
    if (!next.delete(row.node.id)) next.add(row.node.id);
    expanded.value = next;
  };
  return {
    toggle,
    choose(line) {
      if (line === undefined) return;
      if (line.choose === null) {
        toggle(line);
        return;
      }
      endSearch(state);
      line.choose();
    },
    mark(line) {
      if (line !== undefined) marked.value = line.key;
    },
  };
}

/** Keys of a tree that lead somewhere else than to the next line. @returns whether the key is one. */
function moveInTree(tree: Tree, key: string): boolean {
  const { lines, at, typed, toggle, mark } = tree;
  const line = lines[at];
  // While a text is searched, these keys move in the text.
  if (typed !== '' || line === undefined) return false;
  const { row } = line;
  if (key === 'ArrowRight') {
    if (row?.expanded === false) toggle(line);
    else if (row?.expanded === true) mark(lines[at + 1]);
  } else if (key === 'ArrowLeft') {
    if (row?.expanded === true) toggle(line);
    else mark(lines.findLast((each, index) => index < at && each.level < line.level));
  } else if (key === 'Home') mark(lines[0]);
  else if (key === 'End') mark(lines.at(-1));
  else return false;
  return true;
}

/** What a key does: arrows, Enter and Escape as in every combobox, and those of a tree. */
export function handleTreeKey(tree: Tree, event: KeyboardEvent): void {
  const { lines, at, open, typed, begin, close, choose, mark } = tree;
  const { key } = event;
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    const step = key === 'ArrowDown' ? 1 : -1;
    const next = at === -1 && step === -1 ? lines.length - 1 : at + step;
    if (open) mark(lines[(next + lines.length) % lines.length]);
    else begin();
  } else if (key === 'Enter' && typed !== null) choose(lines[at]);
  else if (key === 'Escape' && typed !== null) close();
  else if (!moveInTree(tree, key)) return;
  event.preventDefault();
  event.stopPropagation();
}
