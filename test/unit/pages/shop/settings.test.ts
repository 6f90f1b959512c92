/** The settings of pages that a server keeps for commands (docs/storage.md). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  DEFAULT_SETTINGS,
  keepSettings,
  keptSettings,
} from '../../../../src/pages/shop/settings.ts';
import { messageOf } from '../../../../src/errors.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';

test('the settings of the last server are kept', async () => {
  const directory = temporaryDirectory();
  assert.equal(keptSettings(quickDisk, directory), DEFAULT_SETTINGS);
  const used = { ...DEFAULT_SETTINGS, shopName: 'Harbour' };
  await keepSettings(quickDisk, directory, used);
  assert.equal(keptSettings(quickDisk, directory), used);
});

test('a file without settings of pages is refused, and an empty one counts as missing', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'pages.json');
  for (const content of ['no JSON', 'null', '{}']) {
    writeFileSync(path, content);
    assert.throws(
      () => keptSettings(quickDisk, directory),
      /pages\.json does not hold the settings of pages/,
      content,
    );
  }
  writeFileSync(path, '');
  assert.equal(keptSettings(quickDisk, directory), DEFAULT_SETTINGS);
});

test('a directory in place of the file is named when the settings are stored', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'pages.json');
  mkdirSync(path);
  const refusal = await keepSettings(quickDisk, directory, DEFAULT_SETTINGS).catch(messageOf);
  assert.match(refusal ?? '', `${path} cannot be read`);
});

test.run();
