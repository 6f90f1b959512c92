/** `keys`: rotation while a server runs, and the list of keys. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { killServers, SECRET, startServer } from '../../support/server.ts';
import { callProgram, directoryWithStore } from '../../support/program.ts';

test.after(killServers);

async function done(args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await callProgram(args);
  assert.is(status, 0, stderr);
  return stdout;
}

const keys = (data: string, ...args: readonly string[]) => done(['keys', ...args, '--data', data]);

const issue = async (data: string) =>
  (await done(['issue-token', '--data', data, '--subject', 'ann'])).trim();

/** A server with the keys of its directory. */
const serve = () => startServer({ ownKeys: true });

test('after keys rotate a running server signs with the new key and accepts both for the overlap', async () => {
  const server = await serve();
  const reading = async (token: string) =>
    (await send(server, 'GET', '/admin/skus/', { token })).status;
  const old = await issue(server.data);
  assert.is(await reading(old), 200);
  const [, made] =
    /^(\w+) signs from now on\n(\w+) verifies until /.exec(await keys(server.data, 'rotate')) ?? [];
  const recent = await issue(server.data);
  assert.is(decodeProtectedHeader(recent).kid, made);
  assert.is(await reading(recent), 200);
  assert.is(await reading(old), 200, 'the overlap');
  const body = { username: 'ann', password: 'correct horse' };
  const input = body.password;
  await callProgram(['users', 'add', 'ann', '--data', server.data], { input });
  const { json } = await send(server, 'POST', '/admin/tokens/', { body, token: null });
  assert.is(decodeProtectedHeader(json.token).kid, made, 'logins too');
  assert.match(
    await keys(server.data, 'rotate', '--overlap', '0s'),
    /^\w+ signs from now on\n(?:\w+ is removed; every token that it signed is invalid now\n){2}$/,
  );
  for (const token of [old, recent, json.token]) assert.is(await reading(token), 401);
  assert.is(await reading(await issue(server.data)), 200);
  await server.stop();
});

test('keys list prints the id, state and age of every key, but not the secret', async () => {
  const data = await directoryWithStore();
  const before = readdirSync(data);
  assert.is(await keys(data, 'list'), '');
  assert.equal(readdirSync(data), before, 'looking makes nothing');
  await issue(data);
  await keys(data, 'rotate', '--overlap', '1h');
  const shown = await keys(data, 'list');
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
  assert.match(
    shown,
    new RegExp(
      `^\\w{12}  signs and verifies {19}made ${time}\n\\w{12}  verifies until ${time}  made ${time}\n$`,
    ),
  );
  const file = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8'));
  for (const { secret } of file.keys) assert.not.match(shown, secret);
  const { until } = file.keys[1];
  assert.ok(Math.abs(Date.parse(until) - Date.now() - 3_600_000) < 60_000, until);
});

test('without --overlap the old key is accepted for 24 hours', async () => {
  const data = await directoryWithStore();
  await issue(data);
  await keys(data, 'rotate');
  const [, old] = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys;
  assert.ok(Math.abs(Date.parse(old.until) - Date.now() - 86_400_000) < 60_000, old.until);
});

test('keys of an older file without dates are listed with an unknown age', async () => {
  const data = temporaryDirectory();
  const secret = Buffer.alloc(32, 7).toString('base64url');
  const old = { keys: ['one', 'two'].map((kid) => ({ kid, secret })) };
  writeFileSync(join(data, 'keys.json'), JSON.stringify(old), { mode: 0o600 });
  assert.is(
    await keys(data, 'list'),
    'one  signs and verifies  of unknown age\ntwo  verifies            of unknown age\n',
  );
});

test('keys rotate fails if the key is CATALOG_JWT_SECRET, and tells how to change it', async () => {
  const data = temporaryDirectory();
  const env = { CATALOG_JWT_SECRET: SECRET };
  const { status, stdout, stderr } = await callProgram(['keys', 'rotate', '--data', data], { env });
  assert.is(status, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: CATALOG_JWT_SECRET [^\n]* restart [^\n]*\n$/);
  assert.equal(readdirSync(data), []);
  const listed = await callProgram(['keys', 'list', '--data', data], { env });
  assert.match(listed.stdout, /^environment .*CATALOG_JWT_SECRET\n$/);
  assert.not.match(listed.stdout + stderr, SECRET);
});

test('keys list fails if CATALOG_JWT_SECRET is empty or too short for a server', async () => {
  const data = await directoryWithStore();
  for (const CATALOG_JWT_SECRET of ['', 'short']) {
    const env = { CATALOG_JWT_SECRET };
    const { status, stdout, stderr } = await callProgram(['keys', 'list', '--data', data], { env });
    assert.equal([status, stdout], [1, '']);
    assert.match(stderr, /^catalog-server: CATALOG_JWT_SECRET [^\n]* at least 32 [^\n]*\n$/);
  }
});

test('an --overlap that is not a valid duration exits 2', async () => {
  const data = temporaryDirectory();
  for (const overlap of ['', 'soon', '8', '0', '-1h', '1.5h', '3651d']) {
    const { status, stderr } = await callProgram([
      'keys',
      'rotate',
      '--data',
      data,
      `--overlap=${overlap}`,
    ]);
    assert.is(status, 2, overlap);
    assert.match(stderr, '--overlap');
    assert.match(stderr, 'from one second to ten years, or 0s;');
  }
  assert.equal(readdirSync(data), []);
});

test('keys rotate and keys list fail on a damaged key file and keep it', async () => {
  const data = await directoryWithStore();
  const path = join(data, 'keys.json');
  writeFileSync(path, '{}', { mode: 0o600 });
  for (const what of ['rotate', 'list']) {
    const { status, stderr } = await callProgram(['keys', what, '--data', data]);
    assert.is(status, 1, what);
    assert.match(stderr, path);
  }
  assert.is(readFileSync(path, 'utf8'), '{}');
});

test.run();
