/** The files of the console that are built from its source (spec 13.1 and 13.6). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { laterEn } from '../../../src/console/browser/messages/later-en.ts';
import { bundledConsole } from '../../../release/executable.ts';
import { bundleConsole } from '../../../src/console/bundle.ts';

/** Bytes of all files together, compressed as the executable has them. */
const BUDGET = 150_000;

/** Bytes that a browser loads before it shows the first list, compressed in the same way. */
const FIRST_LIST = 40_000;

/** Bytes of the script that asks for the list. */
const FIRST_SCRIPT = 2000;

const assets = await bundledConsole();

const sizeOf = (path: string) => {
  const { brotli, bytes } = assets.get(path) ?? {};
  return (brotli ?? bytes)?.length ?? Number.NaN;
};

const index = Buffer.from(assets.get('index.html')?.bytes ?? []).toString();

test('the page refers to its files by absolute paths, and has no inline script or style', () => {
  const named = [...index.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name);
  assert.is(named.filter((name) => /^console-\w+\.(?:js|css)$/.test(name ?? '')).length, 2);
  for (const name of named) assert.ok(assets.has(name ?? ''), name);
  assert.not.match(index, /<script>|<style>|style=|https?:/);
});

test('the name of every file except the page contains a digest, and the file is immutable', () => {
  for (const [path, { immutable }] of assets) {
    assert.is(immutable, path !== 'index.html', path);
    if (immutable) assert.match(path, /-[a-z0-9]{8}\.(?:js|css)$/);
  }
});

test('a second build makes files with the same names', async () => {
  const again = await bundleConsole(1);
  assert.equal([...again.keys()].sort(), [...assets.keys()].sort());
});

test(`all files together have less than ${BUDGET} compressed bytes`, () => {
  const total = [...assets.keys()].reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(total < BUDGET, `${total} bytes`);
  assert.ok(assets.size > 5, `${assets.size} files`);
});

test('the files of the first list use no text that is loaded with the other screens', () => {
  const named = [...index.matchAll(/"\/console\/([^"]+\.js)"/g)].map(([, name = '']) => name);
  const text = named.map((name) => Buffer.from(assets.get(name)?.bytes ?? []).toString()).join();
  assert.match(text, '"combobox.choices"');
  const used = Object.keys(laterEn).filter((key) => text.includes(`"${key}"`));
  assert.equal(used, []);
});

test(`the first list needs less than ${FIRST_LIST} bytes, and other screens are loaded later`, () => {
  const named = [...index.matchAll(/"\/console\/([^"]+)"/g)].map(([, name = '']) => name);
  const total = ['index.html', ...named].reduce((sum, path) => sum + sizeOf(path), 0);
  assert.ok(total < FIRST_LIST, `${total} bytes`);
  // The page names four files: the first script, the style sheet and two scripts of the list.
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

test(`the first script has less than ${FIRST_SCRIPT} bytes, and names the files that a first screen may need`, () => {
  const [path = '', { bytes = new Uint8Array() } = {}] =
    [...assets].find(([name]) => name.startsWith('early-')) ?? [];
  assert.ok(sizeOf(path) < FIRST_SCRIPT, `${sizeOf(path)} bytes`);
  const text = Buffer.from(bytes).toString();
  const names = [...assets.keys()].filter((name) => /^(?:de|more-screens)-/.test(name));
  assert.is(names.length, 2);
  for (const name of names) assert.ok(text.includes(name), name);
  assert.not.match(text, /\bfrom"|^import/m, 'it imports no other file');
});

test('the style sheet contains the colours of the pages of the shop', () => {
  const style = [...assets].find(([path]) => path.endsWith('.css'))?.[1].bytes;
  assert.match(Buffer.from(style ?? []).toString(), /--mark:\s*#0a5c49/);
});

test.run();
