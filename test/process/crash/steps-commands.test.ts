/**
 * Commands killed by SIGKILL at each of their steps: creating a store, starting after a crash,
 * restoring, backing up. The files are whole, and the command completes if it is run again.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { test } from 'uvu';
import { machineDisk } from '../../../src/disk/disk.ts';
import { verifyBackup } from '../../../src/store/backup.ts';
import { checkStore } from '../../../src/store/check.ts';
import { State } from '../../../src/store/state.ts';
import { readHead } from '../../../src/store/files/head.ts';
import { filesOf } from '../../support/catalog.ts';
import { assertDone } from '../../support/finished.ts';
import { assertTidy, eachDeath, FIXTURE_STATE, Place, stateOf } from './commands.ts';
import { BASE, CLOSING, DIRECTORIES, FIXTURE, HEAD } from './steps.ts';

const CREATION = [...DIRECTORIES, ...HEAD, ...BASE, ...CLOSING];

const START = [...DIRECTORIES, 'remove temporary', 'remove change set', ...CLOSING];

const START_BEHIND = [...DIRECTORIES, ...HEAD, ...CLOSING];

const RESTORE = [...DIRECTORIES, ...HEAD, ...BASE];

const BACKUP = [
  'create backup',
  'write backup',
  'sync backup',
  'close backup',
  'rename backup',
  'sync backup directory',
  // For backup.json, which holds the time of the last backup.
  'sync data directory',
];

/** A migrated store with what a crash can leave: half-written files, history before a gap. */
async function untidy(): Promise<string> {
  const place = new Place(FIXTURE);
  await place.die(['migrate'], { step: 'rename base', nth: 1, side: 'after' });
  for (const directory of [place.data, join(place.data, 'changes')]) {
    writeFileSync(join(directory, '.0123456789abcdef.tmp'), '{"sequence":');
  }
  rmSync(join(place.data, 'changes', '000000000007.json'));
  return place.data;
}

/** A store whose head does not yet name its last change set: it was killed in between. */
async function behind(): Promise<string> {
  const place = new Place(null);
  const death = { step: 'write head record', nth: 1, side: 'before' } as const;
  await place.die(['migrate', '--demo'], death);
  return place.data;
}

/** A migrated store and a backup of it. */
async function migrated(): Promise<{ data: string; backup: Uint8Array }> {
  const place = new Place(FIXTURE);
  assertDone(await place.run(['migrate']));
  assertDone(await place.run(['backup', place.backup]));
  return { data: place.data, backup: readFileSync(place.backup) };
}

async function backupOfNothing(): Promise<Uint8Array> {
  const place = new Place(null);
  assertDone(await place.run(['migrate']));
  assertDone(await place.run(['backup', place.backup]));
  return readFileSync(place.backup);
}

const [left, late, store, oldBackup] = await Promise.all([
  untidy(),
  behind(),
  migrated(),
  backupOfNothing(),
]);

await eachDeath(
  'creating a store',
  CREATION,
  () => new Place(null),
  () => ['migrate'],
  async (place, made) => {
    const empty = { ...stateOf(State.empty()), digest: '' };
    const state = place.state();
    if (made('rename base')) assert.equal({ ...state, digest: '' }, empty);
    else assert.is(state, null);
    assertDone(await place.run(['migrate']));
    assert.equal({ ...place.state(), digest: '' }, empty);
    assertTidy(place, 0);
  },
);

await eachDeath(
  'a start after a crash',
  START,
  () => new Place(left),
  () => ['migrate'],
  async (place) => {
    assert.equal(place.state(), FIXTURE_STATE);
    assertDone(await place.run(['migrate']));
    assert.equal(place.state(), FIXTURE_STATE);
    assertTidy(place, 0);
  },
);

await eachDeath(
  'a start with a head that is older than the last change set',
  START_BEHIND,
  () => new Place(late),
  () => ['migrate'],
  async (place) => {
    const state = place.state();
    assert.is(state?.sequence, 1);
    assertDone(await place.run(['migrate']));
    assert.equal(place.state(), state);
    assertTidy(place, 1);
    assert.is(readHead(machineDisk, join(place.data, 'head.json'))?.sequence, 1);
  },
);

await eachDeath(
  'a restore',
  RESTORE,
  () => new Place(null, store.backup),
  ({ backup }) => ['restore', backup],
  async (place, made) => {
    if (made('rename base')) assert.equal(place.state(), FIXTURE_STATE);
    else assertNoStore(place, made('rename head'));
    const again = await place.run(['restore', place.backup]);
    if (made('rename base')) assert.match(again.stderr, 'is not empty, it holds catalog.json');
    else assertDone(again);
    assert.equal(place.state(), FIXTURE_STATE);
    assertTidy(place, 0);
  },
);

/** No store; and with a head but no base, the directory is reported as damaged. */
function assertNoStore(place: Place, hasHead: boolean): void {
  const { findings, state: document } = checkStore(machineDisk, place.data);
  assert.is(document, null);
  assert.is(findings.length, hasHead ? 1 : 0, findings.join('\n'));
  if (hasHead) assert.match(findings[0] ?? '', 'catalog.json is damaged: it is missing, and head');
}

/** The files of a data directory without backup.json, which holds the time of the last backup. */
function withoutTime(files: ReturnType<typeof filesOf>) {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path !== 'backup.json'));
}

await eachDeath(
  'a backup over an older one',
  BACKUP,
  () => new Place(store.data, oldBackup),
  ({ backup }) => ['backup', backup],
  async (place, made) => {
    const whole = () => stateOf(verifyBackup(place.backup, readFileSync(place.backup)).state);
    if (made('rename backup')) assert.equal(whole(), FIXTURE_STATE);
    else assert.equal(readFileSync(place.backup), Buffer.from(oldBackup));
    assert.equal(withoutTime(filesOf(place.data)), withoutTime(filesOf(store.data)));
    assertDone(await place.run(['backup', place.backup]));
    assert.equal(whole(), FIXTURE_STATE);
  },
);

await eachDeath(
  'a backup under a new name',
  BACKUP,
  () => new Place(store.data),
  ({ backup }) => ['backup', backup],
  async (place, made) => {
    assert.is(existsSync(place.backup), made('rename backup'));
    assertDone(await place.run(['backup', place.backup]));
    assert.equal(
      stateOf(verifyBackup(place.backup, readFileSync(place.backup)).state),
      FIXTURE_STATE,
    );
  },
);

test.run();
