import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
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

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof CatalogError) return error.code;
    throw error;
  }
  return 'nothing';
};

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
  assert.is(next.primary, 'https://primary', 'it is to be told');
  const { number, writer, after } = currentEpoch(next);
  assert.equal({ number, after }, { number: 2, after: 17 });
  assert.is.not(writer, currentEpoch(record).writer);
  assert.is.not(writer, currentEpoch(promoted(record, 17)).writer, 'two promotions differ');
});

test('after 100 promotions, a record has 64 epochs, and the current one is number 101', () => {
  let record = firstRecord();
  for (let after = 1; after <= 100; after += 1) record = promoted(record, after);
  assert.is(record.epochs.length, 64);
  assert.is(currentEpoch(record).number, 101);
});

test('spec 15.14: the directory of a follower or a succeeded host may not be written', async () => {
  const directory = temporaryDirectory();
  assert.is(
    codeOf(() => requireWritable(quickDisk, directory)),
    'nothing',
  );
  for (const [role, code] of [
    ['primary', 'nothing'],
    ['follower', 'not_primary'],
    ['succeeded', 'not_primary'],
  ] as const) {
    await writeHostRecord(quickDisk, directory, { ...firstRecord(), role });
    assert.is(
      codeOf(() => requireWritable(quickDisk, directory)),
      code,
      role,
    );
  }
});

test('a record that was edited is damage, and does not permit writes', async () => {
  const directory = temporaryDirectory();
  await writeHostRecord(quickDisk, directory, { ...firstRecord(), role: 'follower' });
  const path = join(directory, 'host.json');
  const text = quickDisk.read(path)?.toString() ?? '';
  writeFileSync(path, text.replace('"follower"', '"primary"'));
  assert.is(
    codeOf(() => requireWritable(quickDisk, directory)),
    'store_damaged',
  );
});

test.run();
