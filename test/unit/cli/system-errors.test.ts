/** Messages of commands for errors of the operating system (spec 8.8). */
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemMessage } from '../../../src/cli/system-errors.ts';
import { CatalogError } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const directory = temporaryDirectory();
const file = join(directory, 'file');
writeFileSync(file, '');
const circle = join(directory, 'circle');
symlinkSync(circle, circle);
const unmounted = join(directory, 'unmounted');
symlinkSync(join(directory, 'disk'), unmounted);

const REFUSED: readonly (readonly [path: string, refused: () => void, says: string])[] = [
  [file, () => mkdirSync(file), 'name a directory, mount its disk, or move it away'],
  [unmounted, () => mkdirSync(unmounted), 'a link to one that is missing: name a directory, mount'],
  [join(file, 'a'), () => mkdirSync(join(file, 'a')), 'name a directory, or move it away'],
  [directory, () => closeSync(openSync(directory, 'r+')), 'name a file'],
  [join(directory, 'none', 'a'), () => mkdirSync(join(directory, 'none', 'a')), 'create it'],
  [circle, () => closeSync(openSync(circle, 'r')), 'form a loop'],
  [join(directory, 'x'.repeat(300)), () => mkdirSync(join(directory, 'x'.repeat(300))), 'shorter'],
];

for (const [path, refused, says] of REFUSED) {
  test(`the message contains the path and the advice: ${says}`, () => {
    try {
      refused();
      assert.unreachable('the system allows it');
    } catch (error) {
      const message = systemMessage(error) ?? '';
      assert.ok(message.startsWith(`${path} cannot be used (E`), message);
      assert.match(message, says);
    }
  });
}

test('for EACCES the message advises to grant the user access to the path', () => {
  const error = Object.assign(new Error("EACCES: permission denied, open '/srv/lock'"), {
    code: 'EACCES',
    path: '/srv/lock',
  });
  const right = 'give the user that runs catalog-server the right to use it, or name another path';
  assert.is(systemMessage(error), `/srv/lock cannot be used (EACCES: permission denied); ${right}`);
});

test('the message names the directory in place of a temporary file in it', () => {
  const path = '/srv/data/.6e243a52ace26fa2.tmp';
  const error = Object.assign(new Error(`EACCES: permission denied, open '${path}'`), {
    code: 'EACCES',
    path,
  });
  assert.match(systemMessage(error) ?? '', /^\/srv\/data cannot be used \(EACCES: permission/);
});

for (const [code, reason, advice] of [
  ['ENOSPC', 'no space left on device', 'a disk is full: free some space, and try again'],
  ['EFBIG', 'file too large', 'raise the limit of file sizes (ulimit -f), and try again'],
] as const) {
  test(`for ${code} the message says what to do, without a path`, () => {
    const error = Object.assign(new Error(`${code}: ${reason}, write`), { code });
    assert.is(systemMessage(error), `${code}: ${reason}; ${advice}`);
  });
}

for (const [code, advice] of [
  ['EBUSY', 'mount the directory that contains it'],
  ['EIO', 'its disk fails'],
  ['EUCLEAN', 'check it (fsck)'],
  ['ESTALE', 'mount the file system again'],
] as const) {
  test(`for ${code} the message names the path, and advises: ${advice}`, () => {
    const error = Object.assign(new Error(`${code}: unknown error, open '/srv/b.json'`), {
      code,
      path: '/srv/b.json',
    });
    const message = systemMessage(error) ?? '';
    assert.ok(message.startsWith(`/srv/b.json cannot be used (${code}: `), message);
    assert.ok(message.includes(advice), message);
  });
}

const refusal = Object.assign(new Error("EACCES: permission denied, open '/srv/k'"), {
  code: 'EACCES',
  path: '/srv/k',
});

test('a message that ends with the reason of the system gets the advice', () => {
  const message = `/srv/k cannot be written: ${refusal.message}`;
  const error = new CatalogError('key_file', message, { cause: refusal });
  const right = 'give the user that runs catalog-server the right to use it, or name another path';
  assert.is(systemMessage(error), `${message}; ${right}`);
});

test('a message that already says what to do gets no other advice', () => {
  const message = `/srv/k cannot be read (${refusal.message}); move it away`;
  assert.is(systemMessage(new CatalogError('key_file', message, { cause: refusal })), null);
});

test('other errors have no such message', () => {
  assert.is(systemMessage(new Error('EACCES')), null);
  assert.is(systemMessage(Object.assign(new Error('x'), { code: 'ECONNRESET' })), null);
  assert.is(systemMessage('text'), null);
});

test.run();
