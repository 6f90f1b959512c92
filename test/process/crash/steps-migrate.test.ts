/**
 * A migration killed by SIGKILL at each of its steps: the old or the new version is whole, and a
 * second migration completes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { decodeBase } from '../../../src/store/files/base/base-reader.ts';
import { checkStore } from '../../../src/store/check.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import {
  assertOldFiles,
  assertTidy,
  eachDeath,
  FIXTURE_STATE,
  Place,
  type State,
  stateIn,
} from './commands.ts';
import { BASE, CLOSING, DIRECTORIES, FIXTURE, HEAD } from './steps.ts';
import { assertDone } from '../../support/finished.ts';
import { fixture } from '../../support/paths.ts';

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
  ...DIRECTORIES,
  ...CLOSING,
];

/** Steps that remove what a migration left that was killed right before its final rename. */
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

/** A directory in which a migration was killed right before its final rename. */
async function halfMigrated(): Promise<string> {
  const place = new Place(FIXTURE);
  await place.die(['migrate'], { step: 'rename base', nth: 1, side: 'before' });
  return place.data;
}

const half = await halfMigrated();

/** Checks what a killed migration from a version left. */
const judged =
  (version: number, state: State) => async (place: Place, made: (step: string) => boolean) => {
    const path = join(place.data, 'catalog.json');
    const { schema } = decodeBase(path, readFileSync(path));
    assert.is(schema, made('rename base') ? SCHEMA_VERSION : version);
    if (schema === SCHEMA_VERSION) {
      assert.equal(place.state(), state);
    } else {
      assertOldFiles(place.data, fixture(version));
      const { findings } = checkStore(machineDisk, place.data);
      assert.is(findings.length, 1, findings.join('\n'));
      assert.match(
        findings[0] ?? '',
        `has schema version ${version}, this program has ${SCHEMA_VERSION}; run: `,
      );
    }
    assertDone(await place.run(['migrate']));
    assert.equal(place.state(), state);
    assertTidy(place, 0);
    assertOldFiles(join(place.data, `migrated-from-${version}`), fixture(version));
  };

const judgeMigration = judged(1, FIXTURE_STATE);

await eachDeath(
  'a migration',
  MIGRATION,
  () => new Place(FIXTURE),
  () => ['migrate'],
  judgeMigration,
);

await eachDeath(
  'a migration after a killed migration',
  SECOND_MIGRATION,
  () => new Place(half),
  () => ['migrate'],
  judgeMigration,
  // The other steps are as in the first migration.
  LEFT,
);

await eachDeath(
  'a migration from version 2',
  MIGRATION.flatMap((step) => (step === 'link kept base' ? [step, 'link kept head'] : [step])),
  () => new Place(fixture(2)),
  () => ['migrate'],
  judged(2, stateIn(fixture(2))),
  // Only what differs from version 1: there is a head to keep and to replace.
  ['link kept head', 'rename head', 'rename base', 'remove change set'],
);

test.run();
