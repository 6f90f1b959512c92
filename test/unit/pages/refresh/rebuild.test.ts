/** What a rebuild of pages leaves to other work, and to the next start. */
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blockingDisk } from '../../../../src/disk/disk.ts';
import { FileLock } from '../../../../src/disk/lock.ts';
import { rebuildPages } from '../../../../src/pages/refresh/rebuild.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import { createWriter } from '../../../../src/pages/writer/create-writer.ts';
import { State } from '../../../../src/store/state.ts';
import { DEFAULT_SETTINGS } from '../../../../src/pages/shop/settings.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { addShop } from '../../../support/shop.ts';
import { countingTurns } from '../../../support/turns.ts';

test('other work runs between two progress reports of a rebuild', async () => {
  const directory = temporaryDirectory();
  const seen: number[] = [];
  await countingTurns((turns) =>
    rebuildPages(
      new FileLock(join(directory, 'pages.lock')),
      () => State.empty(),
      new PageList(false),
      () => createWriter(blockingDisk, directory, DEFAULT_SETTINGS),
      { stale: false, skus: Array.from({ length: 100 }, (_, index) => index + 1) },
      { onWait() {}, onProgress: () => void seen.push(turns()) },
    ),
  );
  assert.ok(seen.length > 3);
  assert.is(new Set(seen.slice(1)).size, seen.length - 1, seen.join(' '));
});

/** A lock that another process holds until somebody waits for it, or for some attempts. */
class HeldLock extends FileLock {
  readonly events: string[];
  #attempts: number;

  constructor(path: string, events: string[], attempts: number) {
    super(path);
    this.events = events;
    this.#attempts = attempts;
  }

  override tryLock(): boolean {
    this.#attempts -= 1;
    return this.#attempts < 0 && super.tryLock();
  }

  override lock(): void {
    this.events.push('blocked');
    super.lock();
  }
}

for (const [attempts, expected] of [
  [3, []],
  [Number.POSITIVE_INFINITY, ['reported', 'turn', 'blocked']],
] as const) {
  test(`a rebuild that finds its lock held ${attempts} times says: ${expected[0] ?? 'nothing'}`, async () => {
    const directory = temporaryDirectory();
    const events: string[] = [];
    const lock = new HeldLock(join(directory, 'pages.lock'), events, attempts);
    const onWait = () => {
      events.push('reported');
      setImmediate(() => events.push('turn'));
    };
    await rebuildPages(
      lock,
      () => State.empty(),
      new PageList(false),
      () => createWriter(blockingDisk, directory, DEFAULT_SETTINGS),
      { stale: false, skus: [1] },
      { onWait, onProgress() {} },
    );
    assert.equal(events, expected);
    lock.close();
  });
}

test('after a rebuild the manifest names the state only if all of its pages are made', async () => {
  const directory = temporaryDirectory();
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, 3)]);
  const open = () => createWriter(blockingDisk, directory, DEFAULT_SETTINGS);
  /** @returns whether the next start takes all pages for those of the store. */
  const rebuilt = async (skus: readonly number[] | null) => {
    const lock = new FileLock(join(directory, 'pages.lock'));
    const scope = { stale: true, skus };
    await rebuildPages(lock, () => store, new PageList(false), open, scope, {
      onWait() {},
      onProgress() {},
    });
    lock.close();
    return open().knows(store);
  };
  assert.is(await rebuilt([1, 2, 3]), false, 'only pages of SKUs');
  mkdirSync(join(directory, 'pages/goods/1.html'));
  assert.is(await rebuilt(null), false, 'one page has failed');
  rmdirSync(join(directory, 'pages/goods/1.html'));
  assert.is(await rebuilt(null), true);
  assert.is(await rebuilt([1]), false, 'other pages were not looked at');
});

test.run();
