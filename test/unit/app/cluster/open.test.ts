/** The files that the flags of the log name. */
import { generateKeyPairSync } from 'node:crypto';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openCluster } from '../../../../src/app/cluster/open.ts';
import { parseLogAddress } from '../../../../src/hosts/cluster/address.ts';
import { directoryWith, temporaryDirectory } from '../../../support/directory.ts';
import { failureMessage } from '../../../support/failure.ts';

/** A certificate that signs itself, and its key. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBcjCCARmgAwIBAgIUfVIv0VPv9sTMentSssy1TaSkORcwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEaG9zdDAeFw0yNjExMjcyMDMyMjVaFw0yNjExMjgyMDMyMjVa
MA8xDTALBgNVBAMMBGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASjw9n3
J5Q8xC/shDfOoOYeDHvu8Jwli27b7z27W6zCUOv0RQJNRqj74fVJWa8Pfz/UcyWr
+lkXGJ+wnAdblkg0o1MwUTAdBgNVHQ4EFgQUvyFrwrj25OcAkCehS+TVF8Jv0sMw
HwYDVR0jBBgwFoAUvyFrwrj25OcAkCehS+TVF8Jv0sMwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNHADBEAiAKPJZY5zJRmj1z2t22GwRij5+6awN47ELFnaWy
5FzukQIgARoZa4F9Lh1/sI0WttGcoNXeKZ+W2BmRaBtclRDCNcA=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgC064UvWYVH/b0PNE
QJ+X8Fm/Vnwh0QPs1kWIgJID25GhRANCAASjw9n3J5Q8xC/shDfOoOYeDHvu8Jwl
i27b7z27W6zCUOv0RQJNRqj74fVJWa8Pfz/UcyWr+lkXGJ+wnAdblkg0
-----END PRIVATE KEY-----
`;

const log = parseLogAddress('etcd://127.0.0.1:2379/shop');

test('a device without an end is refused', async () => {
  const message = await failureMessage(() => openCluster({ log, logCa: '/dev/zero' }), 'usage');
  assert.match(message, '--log-ca: /dev/zero is a pipe or a device');
});

test('a directory is refused with its flag', async () => {
  const path = temporaryDirectory();
  const message = await failureMessage(() => openCluster({ log, logCa: path }), 'usage');
  assert.match(message, `--log-ca: ${path} cannot be read: EISDIR`);
});

test('a missing file is named with its flag', async () => {
  const path = join(temporaryDirectory(), 'password');
  const open = () => openCluster({ log, logUser: 'ann', logPasswordFile: path });
  const message = await failureMessage(open, 'usage');
  assert.match(message, `--log-password-file: there is no file ${path}`);
});

test('a file that is much longer than certificates are is refused before it is read whole', async () => {
  const path = join(directoryWith({ ca: '' }), 'ca');
  truncateSync(path, 2 ** 31);
  const message = await failureMessage(() => openCluster({ log, logCa: path }), 'usage');
  assert.is(
    message,
    `--log-ca: ${path} cannot be read: it is longer than 4096 KiB; name another file`,
  );
});

test('an empty file is named with its flag', async () => {
  const path = join(directoryWith({ ca: '' }), 'ca');
  const message = await failureMessage(() => openCluster({ log, logCa: path }), 'usage');
  assert.is(message, `--log-ca: ${path} is empty`);
});

test('a file without a certificate is named with its flag', async () => {
  const path = join(directoryWith({ ca: 'hello\n' }), 'ca');
  const message = await failureMessage(() => openCluster({ log, logCa: path }), 'usage');
  assert.match(message, `--log-ca: ${path} has no certificate in PEM format`);
});

test('a certificate with the key of another one is refused', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const folder = directoryWith({ cert: CERTIFICATE, key: KEY, other });
  const logCert = join(folder, 'cert');
  for (const name of ['other', 'cert']) {
    const logKey = join(folder, name);
    const message = await failureMessage(() => openCluster({ log, logCert, logKey }), 'usage');
    assert.match(message, `${logCert} and ${logKey} are not a certificate and its key`);
  }
  assert.ok(openCluster({ log, logCa: logCert, logCert, logKey: join(folder, 'key') }));
});

test('a certificate without its key, or a key alone, is refused', async () => {
  for (const mistake of [{ logCert: '/cert' }, { logKey: '/key' }]) {
    const message = await failureMessage(() => openCluster({ log, ...mistake }), 'usage');
    assert.is(message, 'give --log-cert and --log-key together');
  }
});

test('the byte order mark of an editor is not a part of a file', () => {
  const folder = directoryWith({ cert: `\ufeff${CERTIFICATE}`, key: `\ufeff${KEY}` });
  assert.ok(openCluster({ log, logCert: join(folder, 'cert'), logKey: join(folder, 'key') }));
});

test('a user without a password, or a password alone, is refused', async () => {
  const logPasswordFile = join(directoryWith({ password: 'secret' }), 'password');
  for (const mistake of [{ logUser: 'ann' }, { logPasswordFile }]) {
    const message = await failureMessage(() => openCluster({ log, ...mistake }), 'usage');
    assert.is(message, 'give --log-user and --log-password-file together');
  }
});

test('the password is the first line of its file', async () => {
  const logPasswordFile = join(directoryWith({ password: 'secret\r\nnot this\n' }), 'password');
  const cluster = openCluster({ log, logUser: 'ann', logPasswordFile });
  const { fetch } = globalThis;
  const sent: unknown[] = [];
  const stub = async (_: unknown, { body }: { readonly body: string }) => {
    sent.push(JSON.parse(body));
    throw new Error('no network');
  };
  Object.assign(globalThis, { fetch: stub });
  try {
    await cluster.lastSequence().catch(() => {});
  } finally {
    Object.assign(globalThis, { fetch });
  }
  assert.equal(sent, [{ name: 'ann', password: 'secret' }]);
});

test('a write waits for the log for 10 seconds, or as long as the flag says', () => {
  assert.is(openCluster({ log }).shared.timeoutMs, 10_000);
  assert.is(openCluster({ log, logTimeout: 5000 }).shared.timeoutMs, 5000);
});

test.run();
