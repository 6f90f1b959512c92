/** Which rows of the tree of categories a picker shows (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CategoryNode } from '../../../src/console/browser/api/references.ts';
import {
  MAX_ROWS,
  type TreeView,
  treeRows,
} from '../../../src/console/browser/parts/pickers/category-tree.ts';

const NODES = new Map<number, CategoryNode>();

function add(id: number, name: string, parentId: number | null): void {
  const above = parentId === null ? undefined : NODES.get(parentId);
  const path = above === undefined ? name : `${above.path} › ${name}`;
  NODES.set(id, { id, name, parentId, level: (above?.level ?? 0) + 1, path });
}

add(1, 'Electronics', null);
add(2, 'Phones', 1);
add(3, 'Smartphones', 2);
add(4, 'Cases', 2);
add(5, 'Audio', 1);
add(6, 'Kitchen', null);

const shown = (view: Partial<TreeView>) =>
  treeRows(NODES, { levels: [3], expanded: new Set(), text: '', ...view }).map(
    ({ node, choosable, expanded }) =>
      `${'  '.repeat(node.level - 1)}${node.name}${choosable ? ' *' : ''}${expanded === null ? '' : expanded ? ' -' : ' +'}`,
  );

test('a closed tree shows the top level, without branches that have nothing to choose', () => {
  assert.equal(shown({}), ['Electronics +']);
  assert.equal(shown({ levels: [1] }), ['Electronics *', 'Kitchen *']);
  assert.equal(shown({ levels: [1, 2] }), ['Electronics * +', 'Kitchen *']);
});

test('an expanded category shows its children', () => {
  assert.equal(shown({ expanded: new Set([1]) }), ['Electronics -', '  Phones +']);
  assert.equal(shown({ expanded: new Set([1, 2]) }), [
    'Electronics -',
    '  Phones -',
    '    Smartphones *',
    '    Cases *',
  ]);
});

test('a search shows categories whose path contains every word, with their parents', () => {
  assert.equal(shown({ text: 'smart' }), ['Electronics -', '  Phones -', '    Smartphones *']);
  assert.is(shown({ text: 'electronics CASES' }).length, 3);
  assert.equal(shown({ text: '#3' }), shown({ text: 'smart' }), 'by its id');
  assert.equal(shown({ text: 'audio' }), [], 'not a level that may be chosen');
});

test('a row has its position among its siblings', () => {
  const rows = treeRows(NODES, { levels: [3], expanded: new Set([1, 2]), text: '' });
  assert.equal(
    rows.map(({ position, siblings }) => [position, siblings]),
    [
      [1, 1],
      [1, 1],
      [1, 2],
      [2, 2],
    ],
  );
});

test('rows that are asked for again are made once, as long as nothing has changed', () => {
  const expanded = new Set<number>();
  const view = { levels: [3], expanded, text: 'case' };
  const rows = treeRows(NODES, view);
  assert.is(treeRows(NODES, { levels: [3], expanded, text: 'case' }), rows);
  for (const other of [
    { ...view, levels: [2, 3] },
    { ...view, expanded: new Set([1]) },
    { ...view, text: 'cases' },
  ]) {
    assert.is.not(treeRows(NODES, other), rows);
  }
  assert.is.not(treeRows(new Map(NODES), view), rows);
});

test(`at most ${MAX_ROWS} rows are shown`, () => {
  const many = new Map<number, CategoryNode>();
  for (let id = 1; id <= 2 * MAX_ROWS; id += 1) {
    many.set(id, { id, name: `No. ${id}`, parentId: null, level: 1, path: `No. ${id}` });
  }
  const view = { levels: [1], expanded: new Set<number>(), text: '' };
  assert.is(treeRows(many, view).length, MAX_ROWS);
});

test('what has the name that is searched is among the rows that are shown, with its parents', () => {
  const many = new Map(NODES);
  const phones = NODES.get(2);
  for (let at = 0; at <= MAX_ROWS; at += 1) {
    const id = 100 + at;
    const path = `${phones?.path} › Case ${id}`;
    many.set(id, { id, name: `Case ${id}`, parentId: 2, level: 3, path });
  }
  many.set(7, { id: 7, name: 'Mail', parentId: 6, level: 2, path: 'Kitchen › Mail' });
  many.set(8, { id: 8, name: 'Case', parentId: 7, level: 3, path: 'Kitchen › Mail › Case' });
  const search = (text: string) =>
    treeRows(many, { levels: [3], expanded: new Set(), text }).map(({ node }) => node.name);
  assert.equal(search('case').slice(0, 4), ['Kitchen', 'Mail', 'Case', 'Electronics']);
  assert.is(search('case').length, MAX_ROWS);
  assert.equal(search('cas').slice(0, 3), ['Electronics', 'Phones', 'Cases']);
});

test.run();
