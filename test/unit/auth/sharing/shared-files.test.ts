/** Accounts, revocations and keys of several hosts: changes of the original and of its copies. */
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AccessDraft,
  accessPath,
  changeAccess,
  readAccess,
} from '../../../../src/auth/access.ts';
import { endToken } from '../../../../src/auth/accounts.ts';
import { LiveCredentials } from '../../../../src/auth/credentials.ts';
import { rotateKeys } from '../../../../src/auth/key-rotation.ts';
import { keysPath, readKeys } from '../../../../src/auth/keys.ts';
import { writePrivate } from '../../../../src/auth/private-file.ts';
import { changeFile, type SharedFiles } from '../../../../src/auth/sharing/shared-files.ts';
import { issueToken, TokenVerifier } from '../../../../src/auth/tokens.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureOf } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

const shared: SharedFiles = { pull: async () => {}, push: async () => {}, requireConfirmed() {} };

/** The files of a directory are the original, of which those of another one are copies. */
function copiesOf(original: string, directory: string): SharedFiles {
  return {
    ...shared,
    pull: async () => {
      // The other hosts answer later.
      await turn();
      for (const pathOf of [accessPath, keysPath])
        copyFileSync(pathOf(original), pathOf(directory));
    },
    push: ({ path, code }, content) => {
      return writePrivate(quickDisk, { path: join(original, basename(path)), code }, content);
    },
  };
}

test('a change of accounts or keys keeps what other hosts have changed before', async () => {
  const [original, directory] = [temporaryDirectory(), temporaryDirectory()];
  const now = Date.now();
  const end = (jti: string) => (draft: AccessDraft) => endToken(draft, jti, null);
  await changeAccess(quickDisk, original, end('theirs'));
  const { made: first } = await rotateKeys(quickDisk, original, 60, now);
  const copies = copiesOf(original, directory);
  await changeAccess(quickDisk, directory, end('ours'), { shared: copies });
  const { made: theirs } = await rotateKeys(quickDisk, original, 60, now);
  const { made: ours } = await rotateKeys(quickDisk, directory, 60, now, copies);
  for (const each of [original, directory]) {
    const tokens = readAccess(accessPath(each))?.tokens.keys() ?? [];
    assert.equal([...tokens], ['theirs', 'ours']);
    const kids = readKeys(keysPath(each))?.map(({ kid }) => kid);
    assert.equal(kids, [ours.kid, theirs.kid, first.kid]);
  }
});

test('a token is issued by what other hosts have changed, also by the first change of all', async () => {
  const [original, directory] = [temporaryDirectory(), temporaryDirectory()];
  await rotateKeys(quickDisk, original, 60, Date.now());
  copyFileSync(keysPath(original), keysPath(directory));
  const copies = copiesOf(original, directory);
  const live = await LiveCredentials.open(directory, undefined, { shared: copies });
  const ended = () => live.settled(({ access }) => [...access.tokens.keys()]);
  await changeAccess(quickDisk, original, (draft) => endToken(draft, 'first', null));
  assert.equal(await ended(), ['first']);
  await changeAccess(quickDisk, original, (draft) => endToken(draft, 'second', null));
  assert.equal(await ended(), ['first', 'second']);
});

test('while the copies of a host are not confirmed, it accepts no token', async () => {
  let isConfirmed = true;
  const copies: SharedFiles = {
    ...shared,
    requireConfirmed() {
      if (!isConfirmed) throw new CatalogError('log_unavailable', 'the log does not answer');
    },
  };
  const live = await LiveCredentials.open(temporaryDirectory(), undefined, { shared: copies });
  const verifier = new TokenVerifier(live);
  const caller = { subject: 'ann', role: 'editor' } as const;
  const issued = Math.floor(Date.now() / 1000);
  const validity = { issued, expires: issued + 3600 };
  const { token } = await issueToken(live.current().keys, caller, validity);
  const verify = () => verifier.verify(`Bearer ${token}`);
  assert.is((await verify()).subject, 'ann');
  isConfirmed = false;
  assert.is(await codeOf(verify), 'log_unavailable');
  isConfirmed = true;
  assert.is((await verify()).subject, 'ann');
});

test('a change that the original does not take is not made in its copies', async () => {
  const directory = temporaryDirectory();
  const copies: SharedFiles = {
    ...shared,
    async push() {
      await turn();
      throw new CatalogError('busy', 'another host was first');
    },
  };
  const change = changeAccess(quickDisk, directory, (draft) => endToken(draft, 'one', null), {
    shared: copies,
  });
  assert.is(await codeOf(change), 'busy');
  assert.is(readAccess(accessPath(directory)), null);
});

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
