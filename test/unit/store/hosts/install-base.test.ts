import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { systemErrorCode } from '../../../../src/errors.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { writeHead } from '../../../../src/store/files/create.ts';
import { isVacant, receiveBase } from '../../../../src/store/hosts/install-base.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { Store } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureOf } from '../../../support/failure.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

const open = (directory: string, create: boolean) => openQuickStore(directory, { create });

async function add(store: Store, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    await store.transact((transaction) => {
      const id = transaction.nextId('brands');
      transaction.put('brands', { id, name: `Brand ${id}`, logo: '', first_letter: '' });
    });
  }
}

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const baseOf = (store: Store) => Buffer.concat([...baseSlices(store.snapshot())]);

test('spec 15.10: a base that is received in pieces of any size makes a store of an empty directory', async () => {
  const source = await open(temporaryDirectory(), true);
  await add(source, 3);
  const bytes = baseOf(source);
  for (const size of [1, 7, 77, 78, 79, bytes.length]) {
    const directory = temporaryDirectory();
    const progress: number[] = [];
    const received = await receiveBase(quickDisk, directory, cut(bytes, size), (count) =>
      progress.push(count),
    );
    assert.is(received.sequence, 3);
    assert.is(progress.at(-1), bytes.length);
    await received.install();
    const store = await open(directory, false);
    assert.is(store.digest, source.digest);
    assert.is(store.count('brands'), 3);
    await store.close();
  }
  await source.close();
});

test('a base that cannot be synced is not received, and one that is received is synced and closed', async () => {
  const source = await open(temporaryDirectory(), true);
  const bytes = baseOf(source);
  await source.close();
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  disk.refusal = (step) => (step === 'fdatasync' ? 'EIO' : null);
  const receive = () => receiveBase(disk, directory, cut(bytes, 100), () => {});
  assert.is(await receive().then(() => 'received', systemErrorCode), 'EIO');
  assert.equal([disk.descriptors, readdirSync(directory)], [[], [DATA_FILES.changes]]);
  disk.refusal = null;
  const received = await receive();
  assert.equal(disk.descriptors, []);
  await received.abandon();
});

test('a base that cannot be moved into place leaves the older state, and install fails', async () => {
  const source = await open(temporaryDirectory(), true);
  await add(source, 2);
  const directory = temporaryDirectory();
  await (await receiveBase(quickDisk, directory, cut(baseOf(source), 100), () => {})).install();
  const replica = await open(directory, false);
  await add(replica, 1);
  const { digest } = replica;
  await replica.close();
  await add(source, 5);
  const disk = new RefusingDisk();
  const received = await receiveBase(disk, directory, cut(baseOf(source), 100), () => {});
  disk.refusal = (step, path) => {
    return step === 'rename' && path === join(directory, DATA_FILES.base) ? 'EIO' : null;
  };
  assert.is(await received.install().then(() => 'installed', systemErrorCode), 'EIO');
  assert.is(readSnapshot(directory, quickDisk).sequence, 3);
  const store = await open(directory, false);
  assert.is(store.digest, digest);
  await store.close();
  await source.close();
});

test('without a head that a start takes for an interrupted creation, no base is moved into place', async () => {
  const source = await open(temporaryDirectory(), true);
  const directory = temporaryDirectory();
  const disk = new RefusingDisk();
  const received = await receiveBase(disk, directory, cut(baseOf(source), 100), () => {});
  await source.close();
  disk.refusal = (step, path) => {
    return step === 'rename' && path === join(directory, DATA_FILES.head) ? 'EIO' : null;
  };
  assert.is(await received.install().then(() => 'installed', systemErrorCode), 'EIO');
  assert.ok(isVacant(directory, disk));
  disk.refusal = null;
  await received.install();
  assert.not.ok(isVacant(directory, disk));
});

test('spec 15.13: a base replaces an older state and its change sets when it is installed', async () => {
  const source = await open(temporaryDirectory(), true);
  await add(source, 2);
  const directory = temporaryDirectory();
  await (await receiveBase(quickDisk, directory, cut(baseOf(source), 100), () => {})).install();
  const replica = await open(directory, false);
  await add(source, 1);
  for await (const encoded of source.encodedSince(2)) await replica.receive(encoded);
  await replica.close();
  await add(source, 5);
  const received = await receiveBase(quickDisk, directory, cut(baseOf(source), 100), () => {});
  assert.is(
    readSnapshot(directory, quickDisk).sequence,
    3,
    'until it is installed nothing changes',
  );
  await received.install();
  // A crash now, before the next start has removed the old files.
  assert.is(readSnapshot(directory, quickDisk).sequence, 8);
  const store = await open(directory, false);
  assert.is(store.digest, source.digest);
  await add(store, 1);
  await store.close();
  assert.is(readSnapshot(directory, quickDisk).sequence, 9);
  await source.close();
});

test('a base that is cut off, changed, without its last row or of a later version is refused, and leaves no file', async () => {
  const source = await open(temporaryDirectory(), true);
  await add(source, 3);
  const whole = baseOf(source);
  const text = whole.toString();
  const wrong: readonly [what: string, bytes: Buffer, message: RegExp][] = [
    ['cut off', whole.subarray(0, whole.length - 10), /is damaged: it is cut off/],
    ['with a changed row', Buffer.from(text.replace('Brand 3', 'Brand 4')), /its checksum/],
    ['without its last row', Buffer.from(text.replace(/,\n\{"id":3,[^\n]*/, '')), /its checksum/],
    [
      'of a later version',
      Buffer.from(text.replace('"schema":5', '"schema":999')),
      /has schema version 999, this program has 5/,
    ],
    ['no base', Buffer.from('{}\n'), /its first line is not that of a base/],
    ['empty', Buffer.alloc(0), /is damaged: it is cut off/],
    ['one endless line', Buffer.alloc(128 * 1024, 'a'), /its first line is too long/],
  ];
  for (const [what, bytes, message] of wrong) {
    const directory = temporaryDirectory();
    const failed = await failureOf(receiveBase(quickDisk, directory, cut(bytes, 50), () => {}));
    assert.match(failed.message, message, `${what}: ${failed.message}`);
    assert.equal(
      quickDisk.list(directory).filter((name) => name !== 'changes'),
      [],
      what,
    );
  }
  await source.close();
});

test('spec 15.24: a directory is vacant until a base is installed; a base that is lost is reported', async () => {
  const source = await open(temporaryDirectory(), true);
  await add(source, 2);
  const directory = temporaryDirectory();
  assert.ok(isVacant(directory, quickDisk));
  const received = await receiveBase(quickDisk, directory, cut(baseOf(source), 100), () => {});
  assert.equal([received.sequence, received.digest], [2, source.digest]);
  // What an installation leaves if it is interrupted before its last step.
  await writeHead(quickDisk, directory, { sequence: 0, digest: source.digest });
  assert.ok(isVacant(directory, quickDisk));
  await received.install();
  assert.not.ok(isVacant(directory, quickDisk));
  await source.close();
  await writeHead(quickDisk, directory, { sequence: 2, digest: source.digest });
  rmSync(join(directory, DATA_FILES.base));
  assert.throws(() => isVacant(directory, quickDisk), /it is missing, and head.json is there/);
});

test.run();
