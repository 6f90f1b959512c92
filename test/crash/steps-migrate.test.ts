/**
 * A migration that dies by SIGKILL at each of its steps: either version is there whole, and the
 * migration run once more completes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { decodeBase } from '../../src/store/base.ts';
import { checkStore } from '../../src/store/check.ts';
import {
  assertDone,
  assertOldFiles,
  assertTidy,
  eachDeath,
  FIXTURE_STATE,
  Place,
} from './commands.ts';
import { BASE, CLOSING, DIRECTORIES, FIXTURE, HEAD, OPENING } from './steps.ts';

const KEEPING = [
  'remove kept base',
  'remove kept head',
  'remove kept changes',
  'remove kept directory',
  'make kept changes',
  'link kept base',
  'link kept change set',
  'sync kept changes',
  'sync kept directory',
  'sync data directory',
];

const MIGRATION = [
  ...KEEPING,
  ...DIRECTORIES,
  ...HEAD,
  ...BASE,
  'remove change set',
  ...OPENING,
  ...CLOSING,
];

/** What an attempt has left that died right before it was decided. */
const LEFT = [
  'sync kept directory',
  'remove temporary',
  'remove kept head',
  'remove kept change set',
  'remove kept base',
  'remove kept changes',
  'remove kept directory',
];

const SECOND_MIGRATION = [
  'remove kept base',
  'sync kept directory',
  'remove kept head',
  'remove kept change set',
  ...MIGRATION.slice(2, MIGRATION.indexOf('create head')),
  'remove temporary',
  ...MIGRATION.slice(MIGRATION.indexOf('create head')),
];

/** A migration that died right before it was decided. */
async function halfMigrated(): Promise<string> {
  const place = new Place(FIXTURE);
  await place.die(['migrate'], { step: 'rename base', nth: 1, side: 'before' });
  return place.data;
}

const half = await halfMigrated();

async function judgeMigration(place: Place, made: (step: string) => boolean): Promise<void> {
  const path = join(place.data, 'catalog.json');
  const { schema } = decodeBase(path, readFileSync(path));
  assert.is(schema, made('rename base') ? 2 : 1);
  if (schema === 2) {
    assert.equal(place.state(), FIXTURE_STATE);
  } else {
    assertOldFiles(place.data);
    const { findings } = checkStore(machineDisk, place.data);
    assert.is(findings.length, 1, findings.join('\n'));
    assert.match(findings[0] ?? '', 'has schema version 1, this program has 2; run: ');
  }
  assertDone(await place.run(['migrate']));
  assert.equal(place.state(), FIXTURE_STATE);
  assertTidy(place, 0);
  assertOldFiles(join(place.data, 'migrated-from-1'));
}

await eachDeath(
  'a migration',
  MIGRATION,
  () => new Place(FIXTURE),
  () => ['migrate'],
  judgeMigration,
);

await eachDeath(
  'a migration after one that was killed',
  SECOND_MIGRATION,
  () => new Place(half),
  () => ['migrate'],
  judgeMigration,
  // The others are as in the first one.
  LEFT,
);

test.run();
