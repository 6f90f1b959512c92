/** Accounts and keys in a backup (spec 8.16): reading, encrypting, decrypting, restoring. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { armor, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeAccess } from '../../../src/auth/access.ts';
import { addAccount, endTokens } from '../../../src/auth/accounts.ts';
import {
  type BackedUpCredentials,
  backUpCredentials,
  openCredentials,
  restoreCredentials,
} from '../../../src/auth/backup/credentials.ts';
import { decrypt, encrypt } from '../../../src/auth/backup/encryption.ts';
import { keysPath, makeKeys } from '../../../src/auth/keys.ts';
import { WebhookKey } from '../../../src/auth/webhook-key.ts';
import { FileLock } from '../../../src/disk/lock.ts';
import { type Code } from '../../../src/errors.ts';
import { accountOf } from '../../support/credentials.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureMessage, failureOf } from '../../support/failure.ts';
import { turn } from '../../support/turns.ts';

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const TO = { recipients: [recipient] };
const WITH = { identities: [identity] };

const FILES = ['access.json', 'keys.json', 'webhook-key.json'];

/** A data directory with accounts, revocations and both kinds of keys. */
async function furnished(): Promise<string> {
  const directory = temporaryDirectory();
  await changeAccess(quickDisk, directory, (draft, now) => {
    addAccount(draft, accountOf('ann'));
    endTokens(draft, 'bob', now);
  });
  await makeKeys(keysPath(directory));
  await new WebhookKey(directory).id();
  return directory;
}

const contentOf = (directory: string, name: string): unknown =>
  JSON.parse(readFileSync(join(directory, name), 'utf8'));

test('all files are restored unchanged, and only their owner can access them', async () => {
  const from = await furnished();
  const { credentials, encrypted, leftOut } = await backUpCredentials(from, TO);
  assert.equal([encrypted, leftOut], [['keys.json', 'webhook-key.json'], []]);
  const to = temporaryDirectory();
  const stored = JSON.parse(JSON.stringify(credentials)) as BackedUpCredentials;
  await restoreCredentials(quickDisk, to, await openCredentials('b.json', stored, WITH));
  for (const name of FILES) {
    assert.equal(contentOf(to, name), contentOf(from, name));
    assert.is(statSync(join(to, name)).mode & 0o077, 0);
  }
});

test('a backup contains keys only in encrypted form', async () => {
  const from = await furnished();
  const { credentials, encrypted, leftOut } = await backUpCredentials(from, null);
  assert.equal([encrypted, leftOut], [[], ['keys.json', 'webhook-key.json']]);
  assert.is(credentials.encryptedKeys, undefined);
  const shown = JSON.stringify((await backUpCredentials(from, TO)).credentials);
  const [{ secret }] = (contentOf(from, 'keys.json') as { keys: [{ secret: string }] }).keys;
  const { key } = contentOf(from, 'webhook-key.json') as { key: string };
  for (const hidden of [secret, key]) assert.not.ok(shown.includes(hidden));
});

test('a directory without credentials adds nothing to a backup, and restoring creates no file', async () => {
  const { credentials, encrypted, leftOut } = await backUpCredentials(temporaryDirectory(), TO);
  assert.equal(JSON.parse(JSON.stringify(credentials)), {});
  assert.equal([encrypted, leftOut], [[], []]);
  const to = temporaryDirectory();
  await restoreCredentials(quickDisk, to, await openCredentials('b.json', credentials, null));
  assert.equal(readdirSync(to), [], 'not even a lock file');
});

test('an access.json without entries is left out, so that hosts with the same accounts have equal backups', async () => {
  const directory = temporaryDirectory();
  await changeAccess(quickDisk, directory, (draft) => addAccount(draft, accountOf('ann')));
  const access = async () => (await backUpCredentials(directory, null)).credentials.access;
  assert.ok(await access());
  await changeAccess(quickDisk, directory, (draft) => draft.users.clear());
  assert.is(await access(), undefined);
});

test('a malformed key file, or an access.json that others can read, fails the backup', async () => {
  const from = await furnished();
  writeFileSync(join(from, 'webhook-key.json'), '{}');
  await failureMessage(backUpCredentials(from, TO), 'key_file');
  chmodSync(join(from, 'access.json'), 0o644);
  assert.match(await failureMessage(backUpCredentials(from, null), 'access_file'), 'chmod 600');
});

test('an existing file with the same content is kept, even if it is formatted differently', async () => {
  const from = await furnished();
  const { credentials } = await backUpCredentials(from, TO);
  const files = await openCredentials('b.json', credentials, WITH);
  const to = temporaryDirectory();
  const spaced = JSON.stringify(contentOf(from, 'access.json'), null, 4);
  writeFileSync(join(to, 'access.json'), spaced, { mode: 0o600 });
  await restoreCredentials(quickDisk, to, files);
  await restoreCredentials(quickDisk, to, files);
  assert.is(readFileSync(join(to, 'access.json'), 'utf8'), spaced);
  assert.equal(contentOf(to, 'keys.json'), contentOf(from, 'keys.json'));
});

test('an existing file with other content fails the restore, and nothing is written', async () => {
  const { credentials } = await backUpCredentials(await furnished(), TO);
  const files = await openCredentials('b.json', credentials, WITH);
  const to = temporaryDirectory();
  await makeKeys(keysPath(to));
  const before = contentOf(to, 'keys.json');
  const message = await failureMessage(restoreCredentials(quickDisk, to, files), 'store_not_empty');
  assert.match(message, /keys\.json already exists with other content/);
  assert.equal(contentOf(to, 'keys.json'), before);
  assert.not.ok(existsSync(join(to, 'access.json')));
});

test('accounts that a command makes during a restore are not replaced', async () => {
  const { credentials } = await backUpCredentials(await furnished(), null);
  const files = await openCredentials('b.json', credentials, null);
  const [made, to] = [temporaryDirectory(), temporaryDirectory()];
  await changeAccess(quickDisk, made, (draft) => addAccount(draft, accountOf('cleo')));
  const text = readFileSync(join(made, 'access.json'), 'utf8');
  const command = new FileLock(join(to, 'access.lock'));
  assert.ok(command.tryLock());
  const restoring = failureMessage(restoreCredentials(quickDisk, to, files), 'store_not_empty');
  await turn();
  writeFileSync(join(to, 'access.json'), text, { mode: 0o600 });
  command.close();
  assert.match(await restoring, /access\.json already exists with other content/);
  assert.is(readFileSync(join(to, 'access.json'), 'utf8'), text);
});

const IMPROPER: readonly (readonly [name: string, credentials: BackedUpCredentials, Code])[] = [
  ['accounts', { access: { users: 'ann' } }, 'access_file'],
  ['keys', { encryptedKeys: await encrypt('{"keys.json":{"keys":[]}}', TO) }, 'key_file'],
  ['an encrypted null', { encryptedKeys: await encrypt('null', TO) }, 'backup_failed'],
  [
    'encrypted text that is not JSON',
    { encryptedKeys: await encrypt('keys', TO) },
    'backup_failed',
  ],
  ['text that is not an age file', { encryptedKeys: 'keys' }, 'backup_failed'],
];

for (const [name, credentials, code] of IMPROPER) {
  test(`malformed credentials in a backup are refused: ${name}`, async () => {
    await failureMessage(openCredentials('b.json', credentials, WITH), code);
  });
}

test('text is decrypted with its passphrase, and not with another one', async () => {
  const armoured = await encrypt('the keys', { passphrase: 'Ünïcode horse' });
  assert.match(armoured, /^-----BEGIN AGE ENCRYPTED FILE-----\n/);
  assert.is(await decrypt(armoured, { passphrase: 'Ünïcode horse' }), 'the keys');
  // The logarithm of the work factor: with 17, a guess takes 128 MiB.
  const header = Buffer.from(armor.decode(armoured)).toString('latin1');
  assert.match(header, /^-> scrypt [\w+/]{22} 17$/m);
  const wrong = decrypt(armoured, { passphrase: 'Unicode horse' });
  const message = await failureMessage(wrong, 'backup_failed');
  assert.match(message, 'cannot be decrypted with that passphrase');
  assert.match(message, 'or leave the keys out with --without-keys');
});

test('each recipient can decrypt the text, and other identities and passphrases cannot', async () => {
  const second = await generateX25519Identity();
  const both = { recipients: [recipient, await identityToRecipient(second)] };
  const armoured = await encrypt('the keys', both);
  for (const identities of [[identity], [second], [await generateX25519Identity(), second]]) {
    assert.is(await decrypt(armoured, { identities }), 'the keys');
  }
  const others = { identities: [await generateX25519Identity()] };
  const message = await failureMessage(decrypt(armoured, others), 'backup_failed');
  assert.match(message, 'cannot be decrypted with those identities');
  await failureMessage(decrypt(armoured, { passphrase: 'none' }), 'backup_failed');
});

test('an invalid identity is refused by its number, and no message or stack contains it', async () => {
  const armoured = await encrypt('the keys', TO);
  // One identity in 32 already ends with Q.
  const mistyped = `${identity.slice(0, -1)}${identity.endsWith('Q') ? 'P' : 'Q'}`;
  for (const wrong of [mistyped, mistyped.slice(0, 30), mistyped.toLowerCase(), 'no identity']) {
    const using = { identities: [identity, wrong] };
    const error = await failureOf(decrypt(armoured, using));
    assert.is(error.code, 'backup_failed');
    assert.match(error.message, 'identity 2 of those given is not a valid age identity');
    assert.not.match(inspect(error).toUpperCase(), wrong.toUpperCase());
  }
});

test('a changed byte of the ciphertext is detected', async () => {
  const armoured = await encrypt('the keys', TO);
  const lines = armoured.trimEnd().split('\n');
  const last = lines.length - 2;
  lines[last] = (lines[last] ?? '').replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
  await failureMessage(decrypt(lines.join('\n'), WITH), 'backup_failed');
});

test('an invalid recipient is reported as not an age recipient', async () => {
  // One recipient in 32 already ends with x.
  const other = recipient.endsWith('x') ? 'y' : 'x';
  const to = { recipients: [recipient, `${recipient.slice(0, -1)}${other}`] };
  assert.match(
    await failureMessage(encrypt('the keys', to), 'backup_failed'),
    'not an age recipient',
  );
});

test.run();
