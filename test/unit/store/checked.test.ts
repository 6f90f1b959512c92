/** The check after every test of the store: what it lets pass, and what it fails (checked.ts). */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../../support/paths.ts';

/** A test file with two tests, in a process of its own. */
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
    test('behind it', () => {});
    test.run();
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, stderr, passed: Number(/Passed: +(\d+)/.exec(stdout)?.[1]) };
}

const MADE = `
  const directory = storeDirectory();
  const store = await openStore(directory);
  await store.transact(brand('First'));
`;

for (const [what, body, status, said] of [
  ['a store in order passes', `${MADE} await store.close();`, 0, /^$/],
  [
    'a damaged store fails its file, by name of the test',
    `${MADE} await store.close(); rmSync(directory + '/head.json');`,
    1,
    /^after "planted": \S+head\.json is damaged: /,
  ],
  [
    'a damaged store passes by word',
    `${MADE} await store.close(); rmSync(leftInDisorder(directory) + '/head.json');`,
    0,
    /^$/,
  ],
  [
    'a store in order that is said to be damaged fails its file',
    `${MADE} await store.close(); leftInDisorder(directory);`,
    1,
    /^after "planted": \S+ is in order, /,
  ],
  [
    'a row that breaks a rule fails its file',
    `${MADE} await store.transact(brand('')); await store.close();`,
    1,
    /^after "planted": brand 2: name: /,
  ],
  [
    'a directory that was only opened is judged',
    `const directory = temporaryDirectory();
     const store = await openStore(directory); await store.close();
     writeFileSync(directory + '/changes/x', '');`,
    1,
    /^after "planted": \S+x is not a file of the store/,
  ],
  [
    'a directory that is gone fails its file',
    `${MADE} await store.close(); rmSync(directory, { recursive: true });`,
    1,
    /^after "planted": \S+ is gone/,
  ],
  [
    'a directory that is made when the tests are over fails its file',
    `process.once('beforeExit', () => { storeDirectory(); });`,
    1,
    /^\S+ was made outside of a test/,
  ],
  [
    'a row in memory that is not on the disk fails its file',
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
    'an index of an open store that has lost a row fails its file',
    `${MADE} const by = { filters: [], sortby: 'name', order: 'asc', offset: 0, limit: 9 };
     await store.transact(brand('Another')); store.select('brands', by);
     const { select } = store;
     store.select = (kind, asked) => {
       const page = select.call(store, kind, asked);
       if (kind !== 'brands' || asked.sortby !== 'name') return page;
       return { ...page, rows: page.rows.slice(1) };
     };`,
    1,
    /another order by name asc under all of brands than the disk/,
  ],
] as const) {
  test(`after each test of the store: ${what}`, () => {
    const { status: ended, stderr, passed } = runTest(body);
    assert.is(ended, status, stderr);
    assert.match(stderr, said);
    assert.is(passed, 2);
  });
}

test('a test that fails beside a damaged store tells of both, and the next one runs', () => {
  const { status, stderr, passed } = runTest(
    `${MADE} await store.close(); rmSync(directory + '/head.json'); throw new Error('its own');`,
  );
  assert.is(status, 1);
  assert.match(stderr, /^after "planted": /);
  assert.is(passed, 1);
});

test.run();
