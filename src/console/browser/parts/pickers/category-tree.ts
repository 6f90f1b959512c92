/** The tree of categories as the rows of a picker: which are in sight, and which may be chosen. */
import type { CategoryNode } from '../../api/references.ts';
import { isNamed } from './meant.ts';

/** A row of the tree, in the words of WAI-ARIA. */
export interface TreeRow {
  readonly node: CategoryNode;
  /** Whether its level is one of those that are asked for. */
  readonly choosable: boolean;
  /** Null if nothing below it is shown, whatever is expanded. */
  readonly expanded: boolean | null;
  /** From 1, among the rows of its parent. */
  readonly position: number;
  readonly siblings: number;
}

export interface TreeView {
  /** Levels that may be chosen, from 1 to 3. */
  readonly levels: readonly number[];
  /** Ids of the categories whose children are in sight, unless something is searched. */
  readonly expanded: ReadonlySet<number>;
  /** Words that the path of a category has to contain, or its id as `#177`; "" for all. */
  readonly text: string;
}

/** Rows in sight; to see others, the user types a word. */
export const MAX_ROWS = 300;

type Nodes = ReadonlyMap<number, CategoryNode>;

/** The id of a category, and of those above it. */
function branchOf(nodes: Nodes, node: CategoryNode): number[] {
  const above = node.parentId === null ? undefined : nodes.get(node.parentId);
  return above === undefined ? [node.id] : [node.id, ...branchOf(nodes, above)];
}

/** The branches of the categories that have the name, or the id, that is searched. */
function namedIds(nodes: Nodes, { levels, text }: TreeView): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const node of nodes.values()) {
    const isMeant = levels.includes(node.level) && isNamed(text, { id: node.id, label: node.name });
    if (isMeant) for (const id of branchOf(nodes, node)) ids.add(id);
  }
  return ids;
}

/** Categories that may be chosen and match, and those above them. */
function shownIds(nodes: Nodes, { levels, text }: TreeView): ReadonlySet<number> {
  const shown = new Set<number>();
  const words = text.trim().toLowerCase().split(/\s+/);
  for (const node of nodes.values()) {
    if (!levels.includes(node.level)) continue;
    const path = node.path.toLowerCase();
    const isFound = words.every((word) => path.includes(word) || word === `#${node.id}`);
    if (isFound) for (const id of branchOf(nodes, node)) shown.add(id);
  }
  return shown;
}

function makeRows(nodes: Nodes, view: TreeView): readonly TreeRow[] {
  const shown = shownIds(nodes, view);
  const children = Map.groupBy(
    [...nodes.values()].filter(({ id }) => shown.has(id)),
    ({ parentId }) => parentId,
  );
  // Branches that would not be in sight.
  const first = shown.size > MAX_ROWS ? namedIds(nodes, view) : new Set();
  const rows: TreeRow[] = [];
  const add = (parentId: number | null) => {
    const { named = [], others = [] } = Object.groupBy(children.get(parentId) ?? [], ({ id }) =>
      first.has(id) ? 'named' : 'others',
    );
    const siblings = [...named, ...others];
    for (const [at, node] of siblings.entries()) {
      if (rows.length === MAX_ROWS) return;
      const open = view.text.trim() !== '' || view.expanded.has(node.id);
      rows.push({
        node,
        choosable: view.levels.includes(node.level),
        expanded: children.has(node.id) ? open : null,
        position: at + 1,
        siblings: siblings.length,
      });
      if (open) add(node.id);
    }
  };
  add(null);
  return rows;
}

interface Made {
  readonly nodes: Nodes;
  readonly view: TreeView;
  readonly rows: readonly TreeRow[];
}

/** With many thousand categories, rows take longer than a letter of a quick typist may. */
let last: Made | null = null;

function isSame(made: Made, nodes: Nodes, { levels, expanded, text }: TreeView): boolean {
  const { view } = made;
  return (
    made.nodes === nodes &&
    view.text === text &&
    view.expanded === expanded &&
    String(view.levels) === String(levels)
  );
}

/**
 * The last rows are kept, since a picker asks for them for what is typed, and again each time it is
 * drawn.
 *
 * @param nodes every category, parents before their children.
 * @returns the rows from top to bottom, at most {@link MAX_ROWS}; while something is searched, all
 *   that match are in sight.
 */
export function treeRows(nodes: Nodes, view: TreeView): readonly TreeRow[] {
  if (last === null || !isSame(last, nodes, view)) {
    last = { nodes, view, rows: makeRows(nodes, view) };
  }
  return last.rows;
}
