/** The check of stores after each test (test/support/checked.ts): what passes, and what fails. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../support/paths.ts';

/** Runs a test file with two tests in its own process. */
function runTest(body: string) {
  const module = (name: string) => JSON.stringify(join(ROOT, 'test', name));
  const program = `
    const { test } = await import('uvu');
    const { writeFileSync, rmSync } = await import('node:fs');
    const { leftInDisorder, openStore, storeDirectory } = await import(${module('support/checked.ts')});
    const { temporaryDirectory } = await import(${module('support/directory.ts')});
    const brand = (name) => (all) =>
      all.put('brands', { id: all.nextId('brands'), name, logo: '', first_letter: '' });
    test('planted', async () => { ${body} });
    test('next', () => {});
    test.run();
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, stdout, stderr, passed: Number(/Passed: +(\d+)/.exec(stdout)?.[1]) };
}

const MADE = `
  const directory = storeDirectory();
  const store = await openStore(directory);
  await store.transact(brand('First'));
`;

for (const [what, body, status, said] of [
  ['an undamaged store passes', `${MADE} await store.close();`, 0, /^$/],
  [
    'a damaged store fails the file, and the test is named',
    `${MADE} await store.close(); rmSync(directory + '/head.json');`,
    1,
    /^after "planted": \S+head\.json is damaged: /,
  ],
  [
    'a damaged store passes if the test declares it damaged',
    `${MADE} await store.close(); rmSync(leftInDisorder(directory) + '/head.json');`,
    0,
    /^$/,
  ],
  [
    'an undamaged store that the test declares damaged fails the file',
    `${MADE} await store.close(); leftInDisorder(directory);`,
    1,
    /^after "planted": \S+ is in order, /,
  ],
  [
    'a row that violates a rule fails the file',
    `${MADE} await store.transact(brand('')); await store.close();`,
    1,
    /^after "planted": brand 2: name: /,
  ],
  [
    'a directory that was only opened, not created, is checked',
    `const directory = temporaryDirectory();
     const store = await openStore(directory); await store.close();
     writeFileSync(directory + '/changes/x', '');`,
    1,
    /^after "planted": \S+x is not a file of the store/,
  ],
  [
    'a directory that was removed fails the file',
    `${MADE} await store.close(); rmSync(directory, { recursive: true });`,
    1,
    /^after "planted": \S+ is gone/,
  ],
  [
    'a directory that is created after the last test fails the file',
    `process.once('beforeExit', () => { storeDirectory(); });`,
    1,
    /^\S+ was made outside of a test/,
  ],
  [
    'a row in memory that differs from the one on disk fails the file',
    `${MADE} const { get } = store;
     store.get = (kind, id) => {
       const row = get.call(store, kind, id);
       return kind === 'brands' ? { ...row, name: 'Other' } : row;
     };
     await store.close();`,
    1,
    /another rows of brands than the disk/,
  ],
  [
    'an index of an open store that lacks a row fails the file',
    `${MADE} const by = { filters: [], sortby: 'name', order: 'asc', offset: 0, limit: 9 };
     await store.transact(brand('Another')); store.select('brands', by);
     const { select } = store;
     store.select = (kind, asked) => {
       const page = select.call(store, kind, asked);
       if (kind !== 'brands' || asked.sortby !== 'name') return page;
       return { ...page, ids: page.ids.slice(1) };
     };`,
    1,
    /another order by name asc under all of brands than the disk/,
  ],
] as const) {
  test(`after each test, ${what}`, () => {
    const { status: ended, stderr, passed } = runTest(body);
    assert.is(ended, status, stderr);
    assert.match(stderr, said);
    assert.is(passed, 2);
  });
}

test('if a failing test leaves a damaged store, its failure and the damage are reported, and the next test runs', () => {
  const { status, stdout, stderr, passed } = runTest(
    `${MADE} await store.close(); rmSync(directory + '/head.json'); throw new Error('its own');`,
  );
  assert.is(status, 1);
  assert.match(stdout, /FAIL +"planted"\s+its own/);
  assert.match(stderr, /^after "planted": /);
  assert.is(passed, 1);
});

test.run();
