/** Files that have to be regular ones: a file that cannot be used does not stay open. */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openRegular, openRegularLater } from '../../../src/disk/system/regular-file.ts';
import { systemErrorCode } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const path = join(temporaryDirectory(), 'file');
fs.writeFileSync(path, '');

function fail(): never {
  throw Object.assign(new Error('EIO: i/o error, fstat'), { code: 'EIO' });
}

test('a file whose type the disk cannot tell is closed', () => {
  const { closeSync, fstatSync } = fs;
  const closed: number[] = [];
  let opened = -1;
  Object.assign(fs, {
    fstatSync: (fd: number) => {
      opened = fd;
      fail();
    },
    closeSync: (fd: number) => {
      closed.push(fd);
      closeSync(fd);
    },
  });
  try {
    assert.throws(() => openRegular(path), /EIO/);
  } finally {
    Object.assign(fs, { closeSync, fstatSync });
  }
  assert.equal(closed, [opened]);
});

test('without blocking, a file whose type the disk cannot tell is closed too', async () => {
  const { open } = fsp;
  let opened: fsp.FileHandle | undefined;
  Object.assign(fsp, {
    open: async (...args: Parameters<typeof open>) => {
      opened = await open(...args);
      return Object.assign(opened, { stat: async () => fail() });
    },
  });
  try {
    const failed = await openRegularLater(path).then(() => null, systemErrorCode);
    assert.is(failed, 'EIO');
  } finally {
    Object.assign(fsp, { open });
  }
  assert.is(opened?.fd, -1);
});

test.run();
