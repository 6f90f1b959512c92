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

function assertFailed({ status, stdout, stderr }: Finished, ...says: readonly string[]): void {
  assert.is(status, 1, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.match(stderr, what);
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

const LIFETIMES = [
  ['1s', 1],
  ['90s', 90],
  ['30m', 1800],
  ['8h', 28_800],
  ['7d', 604_800],
  ['2w', 1_209_600],
  ['3650d', 315_360_000],
] as const;

for (const [expires, seconds] of LIFETIMES) {
  test(`--expires ${expires} gives a token that is valid for ${seconds} seconds`, async () => {
    const { iat = 0, exp = 0 } = decodeJwt(
      await issue(temporaryDirectory(), ['--expires', expires]),
    );
    assert.is(exp - iat, seconds);
  });
}

test('two tokens have different jti', async () => {
  const data = temporaryDirectory();
  const ids = [await issue(data), await issue(data)].map((token) => decodeJwt(token).jti);
  assert.is(new Set(ids).size, 2);
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

test('two directories have different secrets', async () => {
  const secrets: string[] = [];
  for (const data of [temporaryDirectory(), temporaryDirectory()]) {
    await issue(data);
    secrets.push(JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys[0].secret);
  }
  assert.is(new Set(secrets).size, 2);
});

const NO_KEYS = [
  '',
  'null',
  '{"keys":[]}',
  '{"keys":[{"kid":"a","secret":"c2hvcnQ"}]}',
  '{"keys":[{"secret":"c2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQ"}]}',
] as const;

for (const text of NO_KEYS) {
  test(`a key file without a valid key is refused and left unchanged: ${text || '(empty)'}`, async () => {
    const data = temporaryDirectory();
    const path = join(data, 'keys.json');
    writeFileSync(path, text, { mode: 0o600 });
    assertFailed(await run(data), path);
    assert.is(readFileSync(path, 'utf8'), text);
  });
}

test('the text of CATALOG_JWT_SECRET is used as the key, and no key file is created', async () => {
  const data = temporaryDirectory();
  const token = await issue(data, [], { CATALOG_JWT_SECRET: SECRET });
  await jwtVerify(token, new TextEncoder().encode(SECRET), { algorithms: ['HS256'] });
  assert.not.ok(existsSync(join(data, 'keys.json')));
});

test('CATALOG_JWT_SECRET needs at least 32 bytes, not characters', async () => {
  const data = temporaryDirectory();
  await issue(data, [], { CATALOG_JWT_SECRET: 'é'.repeat(16) });
  for (const secret of ['x'.repeat(31), `${'é'.repeat(15)}x`, 'x', '']) {
    assertFailed(await run(data, [], { CATALOG_JWT_SECRET: secret }), 'CATALOG_JWT_SECRET', '32');
  }
});

test.run();
