/** flock(2) within one process: two descriptors of a file exclude each other like two processes. */
import {
  closeSync,
  existsSync,
  fstatSync,
  readFileSync,
  statSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemMessage } from '../../../src/cli/system-errors.ts';
import { acquireOwnership, FileLock, isHeld } from '../../../src/disk/lock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { failureOf } from '../../support/failure.ts';

test('the text of a lock file does not lock the directory', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'lock');
  for (const text of ['', 'nonsense', `{"pid":${process.pid},"host":"here","command":"serve"}`]) {
    writeFileSync(path, text);
    acquireOwnership(directory, 'lock', 'test').close();
  }
});

test('the error names the command and process of the holder, and the lock file stays after it ends', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'lock');
  const lock = acquireOwnership(directory, 'lock', 'serve');
  const holder = JSON.parse(readFileSync(path, 'utf8'));
  assert.is(holder.pid, process.pid);
  assert.is(holder.command, 'serve');
  assert.ok(Math.abs(Date.parse(holder.since) - Date.now()) < 60_000);
  const { code, message } = await failureOf(() => acquireOwnership(directory, 'lock', 'migrate'));
  assert.is(code, 'store_locked');
  assert.ok(message.startsWith(`${directory} is in use by catalog-server serve, process `));
  assert.match(message, new RegExp(`process ${process.pid}\\b`));
  // The refused process has not overwritten the holder.
  assert.equal(JSON.parse(readFileSync(path, 'utf8')), holder);
  lock.close();
  assert.ok(existsSync(path));
  acquireOwnership(directory, 'lock', 'migrate').close();
});

test('the note of a holder replaces the whole note of the one before it', () => {
  const path = join(temporaryDirectory(), 'lock');
  const lock = new FileLock(path);
  lock.note('the note of a command with a long name');
  lock.note('serve');
  assert.is(readFileSync(path, 'utf8'), 'serve');
  lock.close();
});

for (const content of ['of root', null]) {
  test(`a link in place of a lock file is refused, and what it leads to is ${content === null ? 'not made' : 'kept'}`, () => {
    const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    const target = join(elsewhere, 'target');
    if (content !== null) writeFileSync(target, content);
    symlinkSync(target, join(directory, 'lock'));
    assert.throws(
      () => acquireOwnership(directory, 'lock', 'serve'),
      (error: unknown) =>
        systemMessage(error) ===
        `${directory}/lock cannot be used (EFTYPE: a symbolic link); a file is expected there: remove it`,
    );
    assert.is(existsSync(target) ? readFileSync(target, 'utf8') : null, content);
  });
}

test('a directory in place of a lock file is refused', () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'lock'));
  assert.throws(
    () => acquireOwnership(directory, 'lock', 'serve'),
    (error: unknown) =>
      systemMessage(error) ===
      `${directory}/lock cannot be used (EFTYPE: a directory); a file is expected there: remove it`,
  );
});

test('a lock can be taken and released many times', () => {
  const path = join(temporaryDirectory(), 'deep', 'pages.lock');
  const [one, other] = [new FileLock(path), new FileLock(path)];
  for (let turn = 0; turn < 3; turn += 1) {
    assert.is(one.tryLock(), true);
    assert.is(other.tryLock(), false);
    one.unlock();
    assert.is(other.tryLock(), true);
    assert.is(one.tryLock(), false);
    other.unlock();
  }
  one.close();
  other.close();
});

test('a lock that is closed twice leaves the file alone that has its number since', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'lock');
  const lock = new FileLock(path);
  assert.is(lock.tryLock(), true);
  lock.close();
  // It gets the lowest free number, which was that of the lock.
  const other = new FileLock(path);
  assert.is(other.tryLock(), true);
  lock.unlock();
  lock.close();
  assert.is(isHeld(path), true);
  assert.throws(() => lock.tryLock(), /the lock is closed/);
  other.close();
  assert.is(isHeld(path), false);
});

test('to find out whether a lock is held does not hold it', () => {
  const path = join(temporaryDirectory(), 'lock');
  for (let nth = 1; nth <= 2; nth += 1) assert.is(isHeld(path), false);
  const lock = new FileLock(path);
  assert.is(lock.tryLock(), true);
  for (let nth = 1; nth <= 2; nth += 1) assert.is(isHeld(path), true);
  lock.close();
});

/** The descriptor with which this process has a file open. */
function descriptorOf(path: string): number {
  const { dev, ino } = statSync(path);
  for (let fd = 3; fd < 1024; fd += 1) {
    try {
      const opened = fstatSync(fd);
      if (opened.dev === dev && opened.ino === ino) return fd;
    } catch {
      // Nothing is open under this number.
    }
  }
  throw new Error(`${path} is not open`);
}

test('a lock that the system refuses is an error with its code and path, not a lock that is held', () => {
  const path = join(temporaryDirectory(), 'lock');
  const lock = new FileLock(path);
  // The system refuses to lock a descriptor that is closed.
  closeSync(descriptorOf(path));
  for (const take of [() => lock.tryLock(), () => lock.lock()]) {
    assert.throws(take, (error: NodeJS.ErrnoException) => {
      assert.is(error.code, 'EBADF');
      assert.is(error.path, path);
      return true;
    });
  }
});

test.run();
