/** spec 6.4 and 8.6: `issue-token`, and the keys that it uses. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  type Finished,
  killServers,
  runCommand,
  SECRET,
  startServer,
} from '../../support/server.ts';
import { ENTRY } from '../../support/paths.ts';

test.after(killServers);

type Env = Readonly<Record<string, string>>;

function run(data: string, args: readonly string[] = [], env: Env = {}): Promise<Finished> {
  return runCommand(['issue-token', '--data', data, '--subject', 'ann', ...args], { env });
}

/** The token that a run prints; it must print nothing else. */
async function issue(data: string, args: readonly string[] = [], env: Env = {}): Promise<string> {
  const { status, stdout, stderr } = await run(data, args, env);
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trim();
}

function assertFailed({ status, stdout, stderr }: Finished, ...says: readonly string[]): void {
  assert.is(status, 1, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.match(stderr, what);
}

test('issue-token prints one HS256 token with every claim and nothing else', async () => {
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
  test(`--expires ${expires} gives a token that lives ${seconds} seconds`, async () => {
    const { iat = 0, exp = 0 } = decodeJwt(
      await issue(temporaryDirectory(), ['--expires', expires]),
    );
    assert.is(exp - iat, seconds);
  });
}

test('no two tokens have one jti', async () => {
  const data = temporaryDirectory();
  const ids = [await issue(data), await issue(data)].map((token) => decodeJwt(token).jti);
  assert.is(new Set(ids).size, 2);
});

test('the subject is carried as it was given', async () => {
  const subject = ' Анна "ann" 李 ';
  const data = temporaryDirectory();
  const { status, stdout } = await runCommand([
    'issue-token',
    '--data',
    data,
    '--subject',
    subject,
  ]);
  assert.is(status, 0);
  assert.is(decodeJwt(stdout.trim()).sub, subject);
});

/** What a token of each role gets: reading, writing. */
const ROLES = [
  ['viewer', 200, 403],
  ['editor', 200, 201],
  ['admin', 200, 201],
] as const;

/** A server that has its keys from the file of its directory. */
async function serveWithKeyFile(data: string): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [ENTRY, 'serve', '--data', data, '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (line) => resolve(/^listening on (\S+)\n/.exec(`${line}`)?.[1] ?? ''));
    child.on('close', (status) => reject(new Error(`serve ended with ${status}`)));
  });
  return { url, stop: () => child.kill('SIGKILL') };
}

test('a token of each role works on a server of the same directory, as far as its role allows', async () => {
  const data = temporaryDirectory();
  const early = await issue(data);
  const server = await serveWithKeyFile(data);
  try {
    assert.is((await send(server, 'GET', '/admin/skus/', { token: early })).status, 200);
    for (const [role, reading, writing] of ROLES) {
      const token = await issue(data, ['--role', role]);
      assert.is(decodeJwt(token)['role'], role);
      assert.is((await send(server, 'GET', '/admin/brands/', { token })).status, reading, role);
      const body = { name: role };
      const answer = await send(server, 'POST', '/admin/brands/', { token, body });
      assert.is(answer.status, writing, role);
    }
    const other = await issue(temporaryDirectory());
    assert.is((await send(server, 'GET', '/admin/skus/', { token: other })).status, 401);
  } finally {
    server.stop();
  }
});

test('the key file is made at first need, for its owner alone, and used again', async () => {
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

test('two directories have two secrets', async () => {
  const secrets: string[] = [];
  for (const data of [temporaryDirectory(), temporaryDirectory()]) {
    await issue(data);
    secrets.push(JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys[0].secret);
  }
  assert.is(new Set(secrets).size, 2);
});

test('processes that create the keys at the same moment all use the same', async () => {
  const data = temporaryDirectory();
  const tokens = await Promise.all(Array.from({ length: 6 }, () => issue(data)));
  const [key] = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys;
  const secret = Buffer.from(key.secret, 'base64url');
  for (const token of tokens) await jwtVerify(token, secret);
  assert.equal(readdirSync(data), ['keys.json']);
});

test('a key file that others may read is refused, with the command that helps', async () => {
  const data = temporaryDirectory();
  await issue(data);
  const path = join(data, 'keys.json');
  for (const mode of [0o640, 0o604, 0o644]) {
    chmodSync(path, mode);
    assertFailed(await run(data), `chmod 600 ${path}`);
  }
});

const NO_KEYS = [
  '',
  'null',
  '{"keys":[]}',
  '{"keys":[{"kid":"a","secret":"c2hvcnQ"}]}',
  '{"keys":[{"secret":"c2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQc2hvcnQ"}]}',
] as const;

for (const text of NO_KEYS) {
  test(`a key file that holds no good key is refused and kept: ${text || '(empty)'}`, async () => {
    const data = temporaryDirectory();
    const path = join(data, 'keys.json');
    writeFileSync(path, text, { mode: 0o600 });
    assertFailed(await run(data), path);
    assert.is(readFileSync(path, 'utf8'), text);
  });
}

test('CATALOG_JWT_SECRET takes the place of the key file, as the text itself', async () => {
  const data = temporaryDirectory();
  const token = await issue(data, [], { CATALOG_JWT_SECRET: SECRET });
  await jwtVerify(token, new TextEncoder().encode(SECRET), { algorithms: ['HS256'] });
  assert.not.ok(existsSync(join(data, 'keys.json')));
  const server = await startServer({ data });
  assert.is((await send(server, 'GET', '/admin/skus/', { token })).status, 200);
  assert.not.ok(existsSync(join(data, 'keys.json')));
  await server.stop();
});

test('a secret is measured in bytes: 32 are enough, 31 are not', async () => {
  const data = temporaryDirectory();
  await issue(data, [], { CATALOG_JWT_SECRET: 'é'.repeat(16) });
  for (const secret of ['x'.repeat(31), `${'é'.repeat(15)}x`, 'x', '']) {
    assertFailed(await run(data, [], { CATALOG_JWT_SECRET: secret }), 'CATALOG_JWT_SECRET', '32');
  }
});

test('serve refuses a short secret at start and says nothing of it', async () => {
  const data = temporaryDirectory();
  const env = { CATALOG_JWT_SECRET: 'hunter2-hunter2' };
  const finished = await runCommand(['serve', '--data', data, '--port', '0'], { env });
  assertFailed(finished, 'CATALOG_JWT_SECRET', '32');
  assert.not.match(finished.stderr, 'hunter2');
});

test.run();
