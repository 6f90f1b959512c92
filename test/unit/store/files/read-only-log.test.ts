/** docs/architecture.md, "Workers": the state of a worker over a directory of another process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { InStep } from '../../../../src/app/workers/in-step.ts';
import type { FromWorker } from '../../../../src/app/workers/messages.ts';
import { ReadOnlyLog } from '../../../../src/store/files/read-only-log.ts';
import { Store } from '../../../../src/store/store.ts';
import { addBook } from '../../../support/books.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

const fail = (error: unknown): never => {
  throw error;
};

async function openSecondary(directory: string) {
  const log = new ReadOnlyLog(quickDisk, directory);
  const store = await Store.openSecondary(directory, log, { onError: fail, onFatal: fail });
  return { log, store };
}

/** The name, length and content of every file. */
function filesOf(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  );
}

test('a worker has the state of the owner, applies its change sets and writes no file', async () => {
  const directory = storeDirectory();
  const owner = await openStore(directory, { disk: quickDisk });
  await owner.transact(addBook());
  const { log, store } = await openSecondary(directory);
  assert.is(store.digest, owner.digest);
  await owner.transact(addBook());
  assert.is(store.count('books'), 1);
  const before = filesOf(directory);
  for await (const each of log.read(store.sequence, owner.sequence)) await store.receive(each);
  assert.is(store.digest, owner.digest);
  assert.equal(store.get('books', 2), owner.get('books', 2));
  assert.equal(filesOf(directory), before);
  await store.close();
  await owner.close();
});

test('a transaction in a worker fails as not_primary', async () => {
  const directory = storeDirectory();
  const owner = await openStore(directory, { disk: quickDisk });
  const { store } = await openSecondary(directory);
  assert.is(await codeOf(store.transact(addBook())), 'not_primary');
  await store.close();
  await owner.close();
});

test('opening a worker without a store fails as store_missing', async () => {
  assert.is(await codeOf(openSecondary(storeDirectory())), 'store_missing');
});

test('reading change sets that the owner has removed fails as history_gone', async () => {
  const directory = storeDirectory();
  const options = { disk: quickDisk, history: 0, smallestCheckpoint: 1 };
  const owner = await openStore(directory, options);
  const { log, store } = await openSecondary(directory);
  for (let nth = 0; nth < 5; nth += 1) await owner.transact(addBook());
  await owner.close();
  const reading = (async () => {
    for await (const each of log.read(0, 5)) await store.receive(each);
  })();
  assert.is(await codeOf(reading), 'history_gone');
  await store.close();
});

test('change sets can be read as far back as the owner says, and up to the last one received', async () => {
  const directory = storeDirectory();
  const owner = await openStore(directory, { disk: quickDisk });
  for (let nth = 0; nth < 3; nth += 1) await owner.transact(addBook());
  const { log, store } = await openSecondary(directory);
  assert.throws(() => store.since(2), /cannot be given/);
  log.setOldest(owner.oldest);
  const after = async (from: number) => {
    const found: number[] = [];
    for await (const { sequence } of store.since(from)) found.push(sequence);
    return found;
  };
  assert.equal(await after(1), [2, 3]);
  await owner.transact(addBook());
  assert.throws(() => store.since(4), /cannot be given/);
  for await (const each of log.read(3, 4)) await store.receive(each);
  assert.equal(await after(1), [2, 3, 4]);
  await store.close();
  await owner.close();
});

test('a worker reports a change set to the owner only after its readers see it', async () => {
  const directory = storeDirectory();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }), async (commits) => {
      const owner = await openStore(directory, { disk: quickDisk });
      const { log, store } = await openSecondary(directory);
      const told: number[] = [];
      const send = (message: FromWorker) => {
        if (message.kind !== 'applied') return;
        assert.is(store.sequence, message.sequence);
        told.push(message.sequence);
      };
      const inStep = new InStep({ store, log, send, onError: fail, onFatal: fail });
      inStep.begin();
      for (const count of commits) {
        for (let nth = 0; nth < count; nth += 1) await owner.transact(addBook());
        inStep.take({ kind: 'state', sequence: owner.sequence, oldest: 0, isMember: true });
      }
      await inStep.joined;
      while (told.at(-1) !== owner.sequence) await turn();
      assert.is(store.digest, owner.digest);
      assert.equal(
        told,
        told.toSorted((a, b) => a - b),
      );
      await store.close();
      await owner.close();
    }),
    { numRuns: 20 },
  );
});

test.run();
