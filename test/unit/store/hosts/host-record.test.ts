import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withChecksum } from '../../../../src/json/checksum.ts';
import {
  currentEpoch,
  firstRecord,
  type HostRecord,
  promoted,
  readHostRecord,
  requireWritable,
  writeHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { outcomeOf } from '../../../support/failure.ts';

test('a record is read as it was written, and is null if there is none', async () => {
  const directory = temporaryDirectory();
  assert.is(readHostRecord(quickDisk, directory), null);
  const record: HostRecord = { ...firstRecord(), role: 'follower', primary: 'https://primary' };
  await writeHostRecord(quickDisk, directory, record);
  assert.equal(readHostRecord(quickDisk, directory), record);
});

test('spec 15.15: a promotion begins an epoch with a new writer after the last change set', () => {
  const record: HostRecord = { ...firstRecord(), role: 'follower', primary: 'https://primary' };
  const next = promoted(record, 17);
  assert.is(next.role, 'primary');
  assert.is(next.history, record.history);
  assert.is(next.primary, null);
  assert.equal(next.predecessors, ['https://primary'], 'it is to be informed');
  const { number, writer, after } = currentEpoch(next);
  assert.equal({ number, after }, { number: 2, after: 17 });
  assert.is.not(writer, currentEpoch(record).writer);
  assert.is.not(writer, currentEpoch(promoted(record, 17)).writer, 'two promotions differ');
});

test('spec 15.15: a promotion begins an epoch above all that the host has learned of', () => {
  const next = promoted({ ...firstRecord(), role: 'succeeded', latest: 2 }, 17);
  assert.is(currentEpoch(next).number, 3);
  assert.is(next.latest, 3);
});

test('spec 15.15: predecessors that were not informed are kept over promotions, the last 8', () => {
  let record = firstRecord();
  for (let nth = 1; nth <= 10; nth += 1) {
    record = promoted({ ...record, role: 'follower', primary: `https://host-${nth}` }, nth);
  }
  const kept = [10, 9, 8, 7, 6, 5, 4, 3].map((nth) => `https://host-${nth}`);
  assert.equal(record.predecessors, kept);
  const again = promoted({ ...record, primary: 'https://host-5' }, 11, ['https://other']);
  assert.equal(again.predecessors.slice(0, 3), [
    'https://other',
    'https://host-5',
    'https://host-10',
  ]);
  assert.is(again.predecessors.length, 8);
});

test('a record of an earlier version is read: its primary is a predecessor, unless it follows', async () => {
  const directory = temporaryDirectory();
  const { history, epochs } = promoted(firstRecord(), 5);
  const primary = 'https://primary';
  const read = (role: HostRecord['role'], before: string | null) => {
    const { bytes } = withChecksum({ history, role, epochs, primary: before });
    writeFileSync(join(directory, 'host.json'), bytes);
    return readHostRecord(quickDisk, directory);
  };
  const lineage = { history, epochs, latest: 2 };
  assert.equal(read('primary', primary), {
    ...lineage,
    role: 'primary',
    primary: null,
    predecessors: [primary],
  });
  assert.equal(read('follower', primary), {
    ...lineage,
    role: 'follower',
    primary,
    predecessors: [],
  });
  assert.equal(read('succeeded', null)?.predecessors, []);
});

test('after 100 promotions, a record has 64 epochs, and the current one is number 101', () => {
  let record = firstRecord();
  for (let after = 1; after <= 100; after += 1) record = promoted(record, after);
  assert.is(record.epochs.length, 64);
  assert.is(currentEpoch(record).number, 101);
});

test('spec 15.14: the directory of a follower or a succeeded host may not be written', async () => {
  const directory = temporaryDirectory();
  assert.is(await outcomeOf(() => requireWritable(quickDisk, directory)), 'done');
  for (const [role, code] of [
    ['primary', 'done'],
    ['follower', 'not_primary'],
    ['succeeded', 'not_primary'],
  ] as const) {
    await writeHostRecord(quickDisk, directory, { ...firstRecord(), role });
    assert.is(await outcomeOf(() => requireWritable(quickDisk, directory)), code, role);
  }
});

test('a record that was edited is damage, and does not permit writes', async () => {
  const directory = temporaryDirectory();
  await writeHostRecord(quickDisk, directory, { ...firstRecord(), role: 'follower' });
  const path = join(directory, 'host.json');
  const text = quickDisk.read(path)?.toString() ?? '';
  writeFileSync(path, text.replace('"follower"', '"primary"'));
  assert.is(await outcomeOf(() => requireWritable(quickDisk, directory)), 'store_damaged');
});

test.run();
