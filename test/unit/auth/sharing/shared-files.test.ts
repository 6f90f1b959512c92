/** Accounts, revocations and keys of several hosts: the original has changed, and the copy has not. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeFile, type SharedFiles } from '../../../../src/auth/sharing/shared-files.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureOf } from '../../../support/failure.ts';

const shared: SharedFiles = { pull: async () => {}, push: async () => {}, requireConfirmed() {} };

test('a change that only the own disk refuses has an unknown outcome, and the message says why', async () => {
  const file = { path: join(temporaryDirectory(), 'access.json'), code: 'access_file' } as const;
  for (const [failure, reason] of [
    [Object.assign(new Error('no space left'), { code: 'ENOSPC' }), 'ENOSPC'],
    [new Error('a defect'), 'see its log'],
    [new CatalogError('busy', 'later'), 'see its log'],
  ] as const) {
    const disk = { ...quickDisk, publish: () => Promise.reject(failure) };
    const change = changeFile(disk, file, {}, shared);
    const { code, message } = await failureOf(change);
    assert.is(code, 'write_unknown');
    assert.match(message, `the disk of this host refused it (${reason});`);
  }
});

test('a failure after which only a restart knows what is on the disk is reported as such', async () => {
  const file = { path: join(temporaryDirectory(), 'access.json'), code: 'access_file' } as const;
  const failure = new CatalogError('durability_unknown', 'the disk could not sync');
  const disk = { ...quickDisk, publish: () => Promise.reject(failure) };
  assert.is(await failureOf(changeFile(disk, file, {}, shared)), failure);
});

test.run();
