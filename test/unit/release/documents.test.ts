/** A release has the documents, because messages of the program name them, and the templates. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TEMPLATE_NAMES } from '../../../src/pages/render/template-sources.ts';
import { documents } from '../../../release/shared-files.ts';
import { ROOT } from '../../support/paths.ts';

/** A link to a file, without its anchor. */
const LINK = /\]\(((?!https?:|mailto:)[^)#]+)(?:#[^)]*)?\)/g;

/** @param path of a file or a folder. */
function isReleased(released: readonly string[], path: string): boolean {
  const folder = path.endsWith('/') ? path : `${path}/`;
  return released.some((each) => each === path || each.startsWith(folder));
}

test('every document that the source names is in a release, and so are the examples', () => {
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = source
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'));
  const named = new Set(texts.join('\n').match(/\bdocs\/[\w/-]+\.md\b/g));
  assert.ok(named.has('docs/storage.md'), 'the message about damage is seen');
  const released = documents();
  for (const path of named) assert.ok(released.includes(path), path);
  assert.ok(released.includes('docs/examples/catalog-backup.service'));
});

test('a release has the templates that those of a shop begin with, and no others', () => {
  const released = documents().filter((path) => path.startsWith('templates/'));
  assert.equal(released, TEMPLATE_NAMES.map((name) => `templates/${name}`).toSorted());
});

test('a release has the page where a reader begins, and each file that its documents link to', () => {
  const released = documents();
  assert.ok(released.includes('README.md'));
  const missing = released
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(LINK)]
        .map(([, to = '']) => join(dirname(path), to))
        .filter((to) => to !== 'LICENSE' && !isReleased(released, to))
        .map((to) => `${path}: ${to}`),
    );
  assert.equal(missing, []);
  for (const path of released) assert.ok(existsSync(join(ROOT, path)), path);
});

test.run();
