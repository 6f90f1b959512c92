/** The settings of pages that a server keeps for commands (docs/storage.md). */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  DEFAULT_SETTINGS,
  keepSavingSettings,
  keepSettings,
  keptSettings,
} from '../../../../src/pages/shop/settings.ts';
import { messageOf } from '../../../../src/errors.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { losses } from '../../../support/power-cut.ts';
import { PowerDisk } from '../../../support/power-disk.ts';
import { randomFrom } from '../../../support/random.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

test('the settings of the last server are kept', async () => {
  const directory = temporaryDirectory();
  assert.equal(keptSettings(quickDisk, directory), DEFAULT_SETTINGS);
  const used = { ...DEFAULT_SETTINGS, shopName: 'Harbour' };
  await keepSettings(quickDisk, directory, used);
  assert.equal(keptSettings(quickDisk, directory), used);
});

test('a file without settings of pages is refused', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'pages.json');
  const malformed = [{ currency: 'euro' }, { locale: 'english_language' }].map((edited) =>
    JSON.stringify({ ...DEFAULT_SETTINGS, ...edited }),
  );
  for (const content of ['', 'no JSON', 'null', '{}', ...malformed]) {
    writeFileSync(path, content);
    assert.throws(
      () => keptSettings(quickDisk, directory),
      /pages\.json does not hold the settings of pages/,
      content,
    );
  }
});

test('power loss leaves the settings of the last server, or those before them', async () => {
  const root = temporaryDirectory();
  const [first, second] = ['EUR', 'JPY'].map((currency) => ({ ...DEFAULT_SETTINGS, currency }));
  assert.ok(first && second);
  const disk = new PowerDisk(root);
  let before = DEFAULT_SETTINGS;
  for (const used of [first, second]) {
    const from = disk.log.length;
    await keepSettings(disk, root, used);
    for (const { at, left } of losses(disk, from, randomFrom(1), 3)) {
      const { currency } = keptSettings(new PowerDisk(root, left), root);
      const possible = at === disk.log.length ? [used] : [before, used];
      assert.ok(
        possible.some((each) => each.currency === currency),
        currency,
      );
    }
    before = used;
  }
});

test('a directory in place of the file is named when the settings are stored', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'pages.json');
  mkdirSync(path);
  const refusal = await keepSettings(quickDisk, directory, DEFAULT_SETTINGS).catch(messageOf);
  assert.match(refusal ?? '', `${path} cannot be read`);
});

test('settings that the disk refuses are saved as soon as it takes them', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'pages.json');
  // In place of a full disk: nothing can be saved while a directory has the name.
  mkdirSync(path);
  const used = { ...DEFAULT_SETTINGS, currency: 'EUR' };
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(messageOf(error));
  const end = await keepSavingSettings(quickDisk, directory, used, onError, 1);
  assert.is(errors.length, 1);
  rmdirSync(path);
  await until('they are saved', () => existsSync(path));
  await end();
  assert.equal(keptSettings(quickDisk, directory), used);
  assert.is(errors.length, 1, 'later attempts are silent');
});

test('settings that the disk refuses are saved again only after an interval', async () => {
  let attempts = 0;
  const publish = () => {
    attempts += 1;
    // Attempts without pauses would not let this test go on.
    if (attempts === 10) return new Promise<never>(() => {});
    return Promise.reject(new Error('no space left on device'));
  };
  const disk = { ...quickDisk, publish };
  const end = await keepSavingSettings(
    disk,
    temporaryDirectory(),
    DEFAULT_SETTINGS,
    () => {},
    2 ** 30,
  );
  for (let nth = 0; nth < 10; nth += 1) await turn();
  assert.is(attempts, 1);
  await end();
});

test('a server that has ended saves no settings', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'pages.json'));
  const end = await keepSavingSettings(quickDisk, directory, DEFAULT_SETTINGS, () => {}, 2 ** 30);
  await end();
  rmdirSync(join(directory, 'pages.json'));
  assert.equal(keptSettings(quickDisk, directory), DEFAULT_SETTINGS);
  assert.not.ok(existsSync(join(directory, 'pages.json')));
});

test.run();
