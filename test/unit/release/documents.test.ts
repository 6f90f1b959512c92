/** A release has the documents, because messages of the program name them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { documents } from '../../../release/shared-files.ts';
import { ROOT } from '../../support/paths.ts';

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

test.run();
