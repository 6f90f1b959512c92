/**
 * Tests in test/unit and test/http start no process and open no socket, so that they take
 * milliseconds and depend on nothing else. Tests in a browser leave nothing in a page for the next.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

const TESTS = join(ROOT, 'test');

/** Modules that start a process or open a socket, or whose helpers do. */
const OUTSIDE =
  /from '(?:node:(?:child_process|net|http|https|http2|tls|dgram|cluster|worker_threads)|playwright-core|[./]+\/support\/(?:server|listening|wire)\.ts)'/;

/** Globals that do the same. */
const GLOBALS =
  /\bBun\.(?:spawn|spawnSync|serve|listen|connect|\$)\b|(?<![.\w])fetch\(|\bexchangeRaw\b|\bnew Worker\(/;

/** Files and folders whose rules need another process or a socket, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'unit/cli/commands/serve.test.ts': 'a port that is in use',
  'unit/errors.test.ts': 'the message of the engine for a failed connection',
  'unit/hosts/cluster/etcd-client.test.ts': 'nodes that accept connections and do not respond',
  'unit/http/wire/': 'tests of connections',
  'unit/store/check.test.ts': 'a check that another process runs during writes',
  'unit/store/checked.test.ts': 'a hook that ends its process with a status',
  'unit/store/files/change-set.test.ts': 'head and sha256sum verify a change set independently',
  'unit/store/files/checkpoint.test.ts': 'a reader in another process during a checkpoint',
  'unit/store/files/head.test.ts': 'a writer in another process during reads',
  'unit/store/store.test.ts': 'jq reads the files of the store',
};

function testsOf(room: string): string[] {
  return readdirSync(join(TESTS, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(room, name));
}

function reachesOutside(file: string): boolean {
  // An import of types runs no code.
  const text = readFileSync(join(TESTS, file), 'utf8').replace(/^import type .*$/gm, '');
  return OUTSIDE.test(text) || GLOBALS.test(text);
}

const isAllowed = (file: string) => Object.keys(ALLOWED).some((path) => file.startsWith(path));

for (const room of ['unit', 'http']) {
  test(`only allowed tests of test/${room} start a process or open a socket`, () => {
    const files = testsOf(room);
    assert.ok(files.length > 20, `${files.length} files`);
    const outside = files.filter((file) => reachesOutside(file) && !isAllowed(file));
    assert.equal(outside, [], 'they belong to test/process');
  });
}

test('every allowed file starts a process or opens a socket', () => {
  const files = testsOf('unit').filter(reachesOutside);
  for (const path of Object.keys(ALLOWED)) {
    assert.ok(
      files.some((file) => file.startsWith(path)),
      path,
    );
  }
});

test('the test detects a file that starts a process and one that opens a socket', () => {
  assert.ok(reachesOutside('process/cli/serve.test.ts'));
  assert.ok(reachesOutside('process/http/raw.test.ts'));
});

test('every test file is in a known folder, and test/unit has only folders of src, and release', () => {
  const rooms = new Set(['house', 'unit', 'http', 'process']);
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.test.ts') && !name.includes('node_modules'),
  );
  const astray = files.filter((file) => !rooms.has(file.split('/')[0] ?? ''));
  assert.equal(astray, []);
  const folders = new Set([
    // src itself has files.
    '',
    ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }),
    // A folder outside src that has tests.
    'release',
  ]);
  const lost = testsOf('unit')
    .map((file) => relative('unit', join(file, '..')))
    .filter((folder) => !folders.has(folder));
  assert.equal(lost, [], 'test/unit has only the folders of src, and release');
});

/** What a page keeps when its visit is over, unless it is done by test/process/browser/visits.ts. */
const KEPT_BY_PAGES = /\.addInitScript\(|\.clock\.install\(|\.newContext\(/;

test('what browser tests add to a page ends with its visit', () => {
  const read = (file: string) => readFileSync(join(TESTS, 'process', 'browser', file), 'utf8');
  const files = readdirSync(join(TESTS, 'process', 'browser'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((name) => name.endsWith('.ts') && KEPT_BY_PAGES.test(read(name)));
  assert.equal(files, ['visits.ts'], 'call prepare and setClock of visits.ts instead');
});

test.run();
