/** spec 15.3: objects that someone else has put into the bucket. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { failureOf } from '../../support/failure.ts';
import { MemoryObjects } from '../../support/object-store.ts';

/** Bytes of a piece of an object. */
const PIECE = 1024;

test('of an archive.json or a writer.json of many bytes only a few are read', async () => {
  const network = new MemoryObjects();
  const objects = new ArchiveObjects(network, null);
  await objects.createManifest('1');
  await objects.claim('2');
  let pieces = 0;
  /** The object as it is, and a mebibyte of spaces. */
  async function* long(content: Buffer) {
    yield content;
    for (let nth = 0; nth < 1024; nth += 1) {
      pieces += 1;
      yield Buffer.alloc(PIECE, ' ');
    }
  }
  network.get = async (name) => long(network.objects.get(name) ?? Buffer.alloc(0));
  for (const read of [() => objects.manifest(), () => objects.writer()]) {
    pieces = 0;
    const { code, message } = await failureOf(read());
    assert.is(code, 'archive_failed');
    assert.match(message, /json is not valid .* \(more than 4096 bytes\)/);
    assert.ok(pieces <= 5, `${pieces} pieces`);
  }
});

test('of an object that is larger than a server makes one, no more is read than that', async () => {
  const network = new MemoryObjects();
  const limit = 10 * PIECE;
  const objects = new ArchiveObjects(network, null, limit);
  let pieces = 0;
  /** An object of 5 GB. */
  network.get = async () =>
    (async function* () {
      const bytes = Buffer.alloc(1024 * PIECE, ' ');
      for (let nth = 0; nth < 5000; nth += 1) {
        pieces += 1;
        yield bytes;
      }
    })();
  const changes = await failureOf(objects.readChanges({ name: 'a' }));
  assert.is(changes.code, 'archive_failed');
  assert.is(changes.message, `memory:: changes/a has more than ${limit} bytes`);
  assert.is(pieces, 1);
  pieces = 0;
  const { message } = await failureOf(objects.readPrivate());
  assert.is(message, 'memory:: private has more than 67108864 bytes');
  assert.is(pieces, 65);
});

test('of a list of bases or gaps without an end only so much is read', async () => {
  const network = new MemoryObjects();
  const objects = new ArchiveObjects(network, null);
  let names = 0;
  network.list = async function* () {
    for (; names < 1_000_000; names += 1) {
      const sequence = String(names).padStart(12, '0');
      yield `${sequence}-0005-20261121T142737505Z-${'0'.repeat(64)}`;
    }
  };
  for (const [folder, list] of [
    ['bases', () => objects.bases()],
    ['gaps', () => objects.gaps()],
  ] as const) {
    names = 0;
    const { code, message } = await failureOf(list());
    assert.is(code, 'archive_failed');
    assert.is(message, `memory:: ${folder}/ lists more than 250000 objects`);
    assert.is(names, 250_000);
  }
});

test('an object that no server has made is named, among bases and among change sets', async () => {
  const network = new MemoryObjects();
  const objects = new ArchiveObjects(network, null);
  for (const name of ['bases/copy.json', 'changes/copy.json']) {
    network.objects.set(name, Buffer.alloc(1));
  }
  for (const [list, name] of [
    [() => objects.bases(), 'bases/copy.json'],
    [() => objects.changesAfter(0).next(), 'changes/copy.json'],
  ] as const) {
    const { code, message } = await failureOf(list());
    assert.is(code, 'archive_failed');
    assert.is(message, `memory:: ${name} is not an object of an archive; move it away`);
  }
});

test.run();
