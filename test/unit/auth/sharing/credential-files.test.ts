import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accessPath, changeAccess, readAccess } from '../../../../src/auth/access.ts';
import { addAccount, endToken, removeAccount } from '../../../../src/auth/accounts.ts';
import { encodeKeys, keysPath, makeKey, readKeys } from '../../../../src/auth/keys.ts';
import {
  digestOf,
  replaceCredentialFiles,
  secretFingerprint,
  WatchedCredentialFiles,
} from '../../../../src/auth/sharing/credential-files.ts';
import { WebhookKey } from '../../../../src/auth/webhook-key.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { accountOf } from '../../../support/credentials.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureMessage } from '../../../support/failure.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';

const NONE = { keys: null, access: null, webhook_key: null };

test('spec 15.12: keys, accounts, revocations and the webhook key are copied to another host', async () => {
  const [here, there] = [temporaryDirectory(), temporaryDirectory()];
  await replaceCredentialFiles(quickDisk, here, { ...NONE, keys: encodeKeys([makeKey(0)]) });
  await changeAccess(quickDisk, here, (draft) => {
    addAccount(draft, accountOf('ann'));
    endToken(draft, 'ended', null);
  });
  const key = await new WebhookKey(here).id();
  const { files, digest } = new WatchedCredentialFiles(here, true).current();
  // As sent over the network.
  const sent = JSON.parse(JSON.stringify(files));
  assert.is(digestOf(sent), digest);
  await replaceCredentialFiles(quickDisk, there, sent);
  assert.equal(readKeys(keysPath(there)), readKeys(keysPath(here)));
  assert.equal(readAccess(accessPath(there)), readAccess(accessPath(here)));
  assert.is(await new WebhookKey(there).id(), key);
});

test('files that are equal already need no room on the disk, and a file that others can read is replaced', async () => {
  const [here, there] = [temporaryDirectory(), temporaryDirectory()];
  await changeAccess(quickDisk, here, (draft) => addAccount(draft, accountOf('ann')));
  await new WebhookKey(here).id();
  const sent = {
    ...new WatchedCredentialFiles(here, false).current().files,
    keys: encodeKeys([makeKey(0)]),
  };
  const disk = new RefusingDisk();
  await replaceCredentialFiles(disk, there, sent);
  disk.refusal = (step) => (step === 'create' ? 'ENOSPC' : null);
  await replaceCredentialFiles(disk, there, sent);
  const changed = { ...sent, access: null };
  assert.is(await codeOf(replaceCredentialFiles(disk, there, changed)), 'access_file');
  disk.refusal = null;
  chmodSync(accessPath(there), 0o644);
  await replaceCredentialFiles(disk, there, sent);
  assert.is(readAccess(accessPath(there))?.users.size, 1);
});

test('the digest changes only if a file changes', async () => {
  const directory = temporaryDirectory();
  const watched = new WatchedCredentialFiles(directory, true);
  const first = watched.current();
  assert.equal(first.files, NONE);
  assert.is(watched.current(), first);
  await changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann')));
  const second = watched.current();
  assert.is.not(second.digest, first.digest);
  await changeAccess(quickDisk, directory, (draft) => removeAccount(draft, 'ann', 0));
  assert.is.not(watched.current().digest, second.digest);
});

test('each of the files changes the digest, by which other hosts notice a rotation', async () => {
  const directory = temporaryDirectory();
  const watched = new WatchedCredentialFiles(directory, true);
  const digests = new Set([watched.current().digest]);
  const keys = encodeKeys([makeKey(0)]);
  for (const change of [
    () => changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann'))),
    () => replaceCredentialFiles(quickDisk, directory, { ...watched.current().files, keys }),
    () => new WebhookKey(directory).id(),
  ]) {
    await change();
    const { digest } = watched.current();
    assert.not.ok(digests.has(digest));
    digests.add(digest);
  }
});

test('files of a host without accounts remove the accounts of the other host', async () => {
  const directory = temporaryDirectory();
  await changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann')));
  await replaceCredentialFiles(quickDisk, directory, NONE);
  assert.is(readAccess(accessPath(directory))?.users.size, 0);
});

test('if one of the files is invalid, no file is replaced', async () => {
  const directory = temporaryDirectory();
  await changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann')));
  const keys = encodeKeys([makeKey(0)]);
  for (const [files, code, name] of [
    [{ ...NONE, keys: { keys: [] } }, 'key_file', 'keys.json'],
    [{ ...NONE, keys, access: { users: 'all' } }, 'access_file', 'access.json'],
    [{ ...NONE, keys, webhook_key: { key: 'short' } }, 'key_file', 'webhook-key.json'],
  ] as const) {
    const replaced = replaceCredentialFiles(quickDisk, directory, files);
    const message = await failureMessage(replaced, code);
    assert.ok(message.startsWith(`${name} of the primary`), message);
    assert.is(readAccess(accessPath(directory))?.users.size, 1);
    assert.is(readKeys(keysPath(directory)), null);
  }
});

test('a file that other users can read is not sent, however often it is asked for', async () => {
  const directory = temporaryDirectory();
  await replaceCredentialFiles(quickDisk, directory, { ...NONE, keys: encodeKeys([makeKey(0)]) });
  await changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann')));
  for (const [name, code] of [
    ['access.json', 'access_file'],
    ['keys.json', 'key_file'],
  ] as const) {
    const watched = new WatchedCredentialFiles(directory, true);
    watched.current();
    chmodSync(join(directory, name), 0o644);
    for (const attempt of ['first', 'second']) {
      assert.throws(
        () => watched.current(),
        (error: unknown) =>
          error instanceof CatalogError &&
          error.code === code &&
          error.message.includes(`${name} may be read by others`),
        attempt,
      );
    }
    chmodSync(join(directory, name), 0o600);
    watched.current();
  }
});

test('the key file is not sent if the keys come from the environment', async () => {
  const directory = temporaryDirectory();
  await replaceCredentialFiles(quickDisk, directory, { ...NONE, keys: encodeKeys([makeKey(0)]) });
  assert.is(new WatchedCredentialFiles(directory, false).current().files.keys, null);
  assert.ok(new WatchedCredentialFiles(directory, true).current().files.keys);
});

test('spec 15.10: the fingerprint of a secret differs for other secrets and does not contain the secret', () => {
  const [one, two] = ['a'.repeat(32), 'b'.repeat(32)];
  assert.is(secretFingerprint(undefined), null);
  assert.is(secretFingerprint(one), secretFingerprint(one));
  assert.is.not(secretFingerprint(one), secretFingerprint(two));
  assert.not.ok(secretFingerprint(one)?.includes(one));
});

test.run();
