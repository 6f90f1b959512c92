/** spec 6.4 and 8.6: `issue-token`, and the keys that it uses. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../../support/directory.ts';
import { callProgram } from '../../../support/program.ts';
import { SECRET } from '../../../support/secret.ts';
import type { Finished } from '../../../support/server.ts';

type Env = Readonly<Record<string, string>>;

function run(data: string, args: readonly string[] = [], env: Env = {}): Promise<Finished> {
  return callProgram(['issue-token', '--data', data, '--subject', 'ann', ...args], { env });
}

/** The token that a run prints; nothing else is on standard output. */
async function issue(data: string, args: readonly string[] = [], env: Env = {}): Promise<string> {
  const { status, stdout, stderr } = await run(data, args, env);
  assert.is(status, 0, stderr);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trim();
}

test('issue-token prints one HS256 token with every claim, valid for 8 hours, and nothing else', async () => {
  const before = Math.floor(Date.now() / 1000);
  const token = await issue(temporaryDirectory());
  const after = Math.ceil(Date.now() / 1000);
  const { alg } = decodeProtectedHeader(token);
  assert.is(alg, 'HS256');
  const { sub, role, iat = 0, exp = 0, jti, iss, aud, ...more } = decodeJwt(token);
  assert.equal(more, {});
  assert.is(sub, 'ann');
  assert.is(role, 'admin');
  assert.is(iss, 'catalog-server');
  assert.is(aud, 'catalog-admin');
  assert.type(jti, 'string');
  assert.ok(before <= iat && iat <= after, `${before} ${iat} ${after}`);
  assert.is(exp - iat, 8 * 3600);
});

test('a directory without a store causes a one-line warning on standard error', async () => {
  const data = join(temporaryDirectory(), 'mistyped');
  const { status, stdout, stderr } = await run(data);
  assert.is(status, 0);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  assert.match(stderr, /^catalog-server: warning: [^\n]+ holds no store; [^\n]+\n$/);
  assert.match(stderr, data);
});

test('if there is a store, standard error is empty', async () => {
  const data = temporaryDirectory();
  assert.is((await callProgram(['migrate', '--data', data])).status, 0);
  assert.is((await run(data)).stderr, '');
});

test('--expires gives the lifetime of the token', async () => {
  const { iat = 0, exp = 0 } = decodeJwt(await issue(temporaryDirectory(), ['--expires', '90s']));
  assert.is(exp - iat, 90);
});

test('the subject is put into the token unchanged', async () => {
  const subject = ' Анна "ann" 李 ';
  const data = temporaryDirectory();
  const { status, stdout } = await callProgram([
    'issue-token',
    '--data',
    data,
    '--subject',
    subject,
  ]);
  assert.is(status, 0);
  assert.is(decodeJwt(stdout.trim()).sub, subject);
});

test('the key file is created at first need with mode 0600, and used again', async () => {
  const data = join(temporaryDirectory(), 'new');
  await issue(data);
  const path = join(data, 'keys.json');
  assert.is(statSync(path).mode & 0o777, 0o600);
  const made = readFileSync(path, 'utf8');
  const [key] = JSON.parse(made).keys;
  const secret = Buffer.from(key.secret, 'base64url');
  assert.is(secret.length, 32, '256 bits');
  const token = await issue(data);
  assert.is(readFileSync(path, 'utf8'), made);
  await jwtVerify(token, secret, { algorithms: ['HS256'] });
  assert.equal(readdirSync(data), ['keys.json'], 'nothing half-written is left');
});

test('a key file without a valid key is refused', async () => {
  const data = temporaryDirectory();
  const path = join(data, 'keys.json');
  writeFileSync(path, '{"keys":[]}', { mode: 0o600 });
  const { status, stdout, stderr } = await run(data);
  assert.equal([status, stdout], [1, '']);
  assert.ok(stderr.startsWith(`catalog-server: ${path} is not a key file; `), stderr);
});

test('the text of CATALOG_JWT_SECRET is used as the key, and no key file is created', async () => {
  const data = temporaryDirectory();
  const token = await issue(data, [], { CATALOG_JWT_SECRET: SECRET });
  await jwtVerify(token, new TextEncoder().encode(SECRET), { algorithms: ['HS256'] });
  assert.not.ok(existsSync(join(data, 'keys.json')));
});

test.run();
