/** Rotation: a new key signs, and the old ones verify until they are removed. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rotateKeys } from '../../../src/auth/key-rotation.ts';
import { loadKeys, readKeys } from '../../../src/auth/keys.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { codeOf } from '../../support/failure.ts';
import { RefusingDisk } from '../../support/refusing-disk.ts';

const NOW = 1_800_000_000;
const SECRET = Buffer.alloc(32, 7).toString('base64url');

const rotate = (directory: string, overlap: number, now = NOW) =>
  rotateKeys(quickDisk, directory, overlap, now * 1000);

const keysOf = (directory: string) =>
  (readKeys(join(directory, 'keys.json')) ?? []).map(({ kid, until }) => [kid, until] as const);

/** A directory with a key file as it was before keys had dates. */
function withOldFile(...kids: readonly string[]): string {
  const directory = temporaryDirectory();
  const keys = kids.map((kid) => ({ kid, secret: SECRET }));
  writeFileSync(join(directory, 'keys.json'), JSON.stringify({ keys }), { mode: 0o600 });
  return directory;
}

test('a key file without dates can be read and rotated', async () => {
  const directory = withOldFile('one', 'two');
  const [first] = await loadKeys(directory, undefined);
  assert.equal([first.kid, first.created, first.until], ['one', undefined, undefined]);
  const { made, replaced, dropped } = await rotate(directory, 60);
  assert.equal(keysOf(directory), [
    [made.kid, undefined],
    ['one', NOW + 60],
    ['two', NOW + 60],
  ]);
  assert.equal([replaced?.kid, dropped], ['one', []]);
});

test('a new key has its own kid and secret, and the time of its creation', async () => {
  const directory = withOldFile('one');
  const { made } = await rotate(directory, 60);
  const [first, old] = await loadKeys(directory, undefined);
  assert.equal([first.kid, first.created], [made.kid, NOW]);
  assert.is(first.secret.length, 32);
  assert.is.not(Buffer.from(first.secret).toString('base64url'), SECRET);
  assert.is(Buffer.from(old?.secret ?? []).toString('base64url'), SECRET, 'the old one is kept');
});

test('an expired key is dropped, and a key that expires before the overlap ends keeps its expiry', async () => {
  const directory = withOldFile('one');
  const second = (await rotate(directory, 100)).made.kid;
  const third = (await rotate(directory, 1000, NOW + 50)).made.kid;
  assert.equal(keysOf(directory), [
    [third, undefined],
    [second, NOW + 1050],
    ['one', NOW + 100],
  ]);
  const { made, dropped } = await rotate(directory, 1000, NOW + 100);
  assert.equal(
    dropped.map(({ kid }) => kid),
    ['one'],
  );
  assert.equal(keysOf(directory), [
    [made.kid, undefined],
    [third, NOW + 1100],
    [second, NOW + 1050],
  ]);
});

test('without an overlap the new key is the only one', async () => {
  const directory = withOldFile('one', 'two');
  const { made, dropped } = await rotate(directory, 0);
  assert.equal(keysOf(directory), [[made.kid, undefined]]);
  assert.is(dropped.length, 2);
});

test('if there are no keys, the first one is created', async () => {
  const directory = temporaryDirectory();
  const { made, replaced } = await rotate(directory, 60);
  assert.is(replaced, null);
  assert.equal(keysOf(directory), [[made.kid, undefined]]);
});

test('concurrent rotations are serialized, and none is lost', async () => {
  const directory = withOldFile('one');
  await Promise.all(Array.from({ length: 5 }, () => rotate(directory, 60)));
  assert.is(new Set(keysOf(directory).map(([kid]) => kid)).size, 6);
  assert.equal(readdirSync(directory).sort(), ['access.lock', 'keys.json']);
  assert.is(statSync(join(directory, 'keys.json')).mode & 0o777, 0o600);
});

test('if the disk refuses the new file, the keys are unchanged', async () => {
  const directory = withOldFile('one');
  const before = readFileSync(join(directory, 'keys.json'), 'utf8');
  for (const step of ['create', 'write', 'fdatasync', 'rename']) {
    const disk = new RefusingDisk();
    disk.refusal = (each) => (each === step ? 'ENOSPC' : null);
    assert.is(await codeOf(rotateKeys(disk, directory, 60, NOW * 1000)), 'key_file', step);
    assert.is(readFileSync(join(directory, 'keys.json'), 'utf8'), before, step);
  }
});

test('a key file is refused if its signing key expires or if a date is malformed', () => {
  const path = join(temporaryDirectory(), 'keys.json');
  const write = (key: object) =>
    writeFileSync(path, JSON.stringify({ keys: [key] }), { mode: 0o600 });
  write({ kid: 'one', secret: SECRET, created: '2026-11-21T17:25:35Z' });
  assert.is(readKeys(path)?.[0].created, 1_795_281_935);
  for (const wrong of [
    { until: '2026-11-21T17:25:35Z' },
    { created: 'yesterday' },
    { created: '2026-02-30T00:00:00Z' },
    { created: 1_795_281_935 },
  ]) {
    write({ kid: 'one', secret: SECRET, ...wrong });
    assert.throws(() => readKeys(path), /is not a key file/, JSON.stringify(wrong));
  }
});

test.run();
