/** The files of the console as they are made from its source (spec 13.1 and 13.6). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundleConsole } from '../../../src/console/bundle.ts';

/** Bytes of all files together, compressed as the executable has them. */
const BUDGET = 150_000;

/** Bytes that a browser loads before it shows the first list. */
const FIRST_LIST = 40_000;

/** Bytes of the script that asks for the list. */
const FIRST_SCRIPT = 2000;

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

test(`the first list needs less than ${FIRST_LIST} bytes: what it does not show is loaded later`, () => {
  const named = [...index.matchAll(/"\/console\/([^"]+)"/g)].map(([, name = '']) => name);
  const total = ['index.html', ...named].reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(total < FIRST_LIST, `${total} bytes`);
  // All but one are asked for at once, and that one needs none of the others.
  assert.is(named.length, 4, named.join(' '));
  for (const later of ['rich-text-', 'more-screens-', 'de-']) {
    assert.ok(
      [...assets.keys()].some((path) => path.startsWith(later)),
      later,
    );
    assert.not.ok(
      named.some((path) => path.startsWith(later)),
      later,
    );
  }
});

test('the first script is small, and knows the files of what the first screen may need', () => {
  const [path = '', { bytes = new Uint8Array() } = {}] =
    [...assets].find(([name]) => name.startsWith('early-')) ?? [];
  assert.ok(sizeOf(path) < FIRST_SCRIPT, `${sizeOf(path)} bytes`);
  const text = Buffer.from(bytes).toString();
  const names = [...assets.keys()].filter((name) => /^(?:de|more-screens)-/.test(name));
  assert.is(names.length, 2);
  for (const name of names) assert.ok(text.includes(name), name);
  assert.not.match(text, /\bfrom"|^import/m, 'it waits for no other file');
});

test('the colours are those of the pages of the shop', () => {
  const style = [...assets].find(([path]) => path.endsWith('.css'))?.[1].bytes;
  assert.match(Buffer.from(style ?? []).toString(), /--mark:\s*#0a5c49/);
});

test.run();
