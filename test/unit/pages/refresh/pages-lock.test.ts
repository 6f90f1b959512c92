/** src/pages/refresh/pages-lock.ts: how a server holds the lock of the pages. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FileLock } from '../../../../src/disk/lock.ts';
import { messageOf } from '../../../../src/errors.ts';
import { PagesLock, pagesLockPath } from '../../../../src/pages/refresh/pages-lock.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

function fail(error: unknown): never {
  throw error;
}

/** The lock of a server, and that of another process. */
function locks() {
  const path = pagesLockPath(temporaryDirectory());
  const own = new FileLock(path);
  const theirs = new FileLock(path);
  const isFree = () => {
    const isTaken = theirs.tryLock();
    theirs.unlock();
    return isTaken;
  };
  return { own, theirs, isFree, lock: new PagesLock(own, fail) };
}

/** A lock on a file system that refuses locks at first. */
class RefusedLock extends FileLock {
  refusals: string[] = [];

  override tryLock(): boolean {
    const reason = this.refusals.shift();
    if (reason !== undefined) throw new Error(reason);
    return super.tryLock();
  }
}

test('the lock is held during work, free between two pieces of work, and closed after the last', async () => {
  const { lock, own, theirs, isFree } = locks();
  for (let times = 0; times < 2; times += 1) {
    assert.is(await lock.run(async () => assert.is(isFree(), false)), true);
    assert.is(isFree(), true);
  }
  const failing = lock.run(async () => Promise.reject(new Error('the disk is full')));
  assert.is(await failing.catch(String), 'Error: the disk is full');
  assert.is(isFree(), true);
  lock.close();
  assert.throws(() => own.tryLock(), /the lock is closed/);
  theirs.close();
});

test('a lock that is closed during work is held until the work has ended', async () => {
  const { lock, own, theirs, isFree } = locks();
  const work = Promise.withResolvers<void>();
  const running = lock.run(() => work.promise);
  lock.close();
  assert.is(isFree(), false);
  work.resolve();
  assert.is(await running, true);
  assert.is(isFree(), true);
  assert.throws(() => own.tryLock(), /the lock is closed/);
  theirs.close();
});

test('a closed lock runs nothing, and its file is closed at once if there is no work', async () => {
  const { lock, own, theirs } = locks();
  lock.close();
  assert.throws(() => own.tryLock(), /the lock is closed/);
  assert.is(await lock.run(async () => assert.unreachable('it was run')), false);
  theirs.close();
});

test('if another process holds the lock until it is closed here, nothing is done', async () => {
  const { lock, theirs } = locks();
  assert.is(theirs.tryLock(), true);
  const run = lock.run(async () => assert.unreachable('it was run'));
  lock.close();
  assert.is(await run, false);
  theirs.close();
});

test('while locks are refused, work waits, and each time that it begins is reported once', async () => {
  const file = new RefusedLock(pagesLockPath(temporaryDirectory()));
  const reports: string[] = [];
  const lock = new PagesLock(file, (error) => reports.push(messageOf(error)));
  for (const round of [1, 2]) {
    file.refusals = ['no locks', 'no locks', 'no locks'];
    let done = 0;
    const work = async () => void (done += 1);
    assert.is(await lock.run(work), true);
    assert.is(done, 1);
    assert.is(reports.length, round, reports.join());
  }
  assert.equal(reports, ['no locks', 'no locks']);
  lock.close();
});

test('work that waits for a lock that is refused ends when the lock is closed, undone', async () => {
  const file = new RefusedLock(pagesLockPath(temporaryDirectory()));
  const lock = new PagesLock(file, () => {});
  file.refusals = ['no locks'];
  const run = lock.run(async () => assert.unreachable('the work was done without the lock'));
  lock.close();
  assert.is(await run, false);
});

test.run();
