/** The files of the console as they are made from its source (spec 13.1 and 13.6). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundleConsole } from '../../../src/console/bundle.ts';

/** Bytes of all files together, compressed as the executable has them. */
const BUDGET = 150_000;

/** Bytes that a browser loads before it shows the first list. */
const FIRST_LIST = 60_000;

const assets = await bundleConsole(9);

const sizeOf = (path: string) => {
  const { brotli, bytes } = assets.get(path) ?? {};
  return (brotli ?? bytes)?.length ?? Number.NaN;
};

const index = Buffer.from(assets.get('index.html')?.bytes ?? []).toString();

test('the page names its files from the root of the server, and has no script of its own', () => {
  const named = [...index.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name);
  assert.is(named.filter((name) => /^console-\w+\.(?:js|css)$/.test(name ?? '')).length, 2);
  for (const name of named) assert.ok(assets.has(name ?? ''), name);
  assert.not.match(index, /<script>|<style>|style=|https?:/);
});

test('names change with the content, except that of the page', () => {
  for (const [path, { immutable }] of assets) {
    assert.is(immutable, path !== 'index.html', path);
    if (immutable) assert.match(path, /-[a-z0-9]{8}\.(?:js|css)$/);
  }
});

test('a second bundle has the same files', async () => {
  const again = await bundleConsole(1);
  assert.equal([...again.keys()].sort(), [...assets.keys()].sort());
});

test(`all files together are less than ${BUDGET} bytes on the wire`, () => {
  const total = [...assets.keys()].reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(total < BUDGET, `${total} bytes`);
  assert.ok(assets.size > 5, `${assets.size} files`);
});

test(`the first list needs less than ${FIRST_LIST} bytes: what is rarely needed is loaded later`, () => {
  const first = [...assets.keys()].filter((path) => /^(?:console|main|index)/.test(path));
  const total = first.reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(total < FIRST_LIST, `${total} bytes`);
  assert.ok([...assets.keys()].some((path) => path.startsWith('rich-text-')));
});

test('the colours are those of the pages of the shop', () => {
  const style = [...assets].find(([path]) => path.endsWith('.css'))?.[1].bytes;
  assert.match(Buffer.from(style ?? []).toString(), /--mark:\s*#0a5c49/);
});

test.run();
