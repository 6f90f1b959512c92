/** The limit of open files, as Linux reports it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { maxOpenFiles } from '../../../src/disk/system/open-files.ts';

const limitsWith = (soft: string) =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max core file size        0                    unlimited            bytes     ',
    `Max open files            ${soft.padEnd(20)} 524288               files     `,
    'Max locked memory         8388608              8388608              bytes     ',
    '',
  ].join('\n');

test('the limit is the soft one', () => {
  assert.is(
    maxOpenFiles(() => limitsWith('4096')),
    4096,
  );
});

test('without a limit, or if it is not known, it is infinite', () => {
  const missing = () => {
    throw new Error('ENOENT');
  };
  for (const read of [() => limitsWith('unlimited'), () => '', missing]) {
    assert.is(maxOpenFiles(read), Number.POSITIVE_INFINITY);
  }
});

test('the limit of this process is a positive number, which Linux always has', () => {
  assert.ok(maxOpenFiles() > 0);
  assert.is(Number.isSafeInteger(maxOpenFiles()), process.platform === 'linux');
});

test.run();
