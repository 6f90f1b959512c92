/** `tokens revoke` ends one token or all tokens of a subject, durably, while a server runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { killServers, SECRET, startServer, type TestServer } from '../../support/server.ts';
import { callProgram, directoryWithStore } from '../../support/program.ts';

test.after(killServers);

const env = { CATALOG_JWT_SECRET: SECRET };

const revoke = (data: string, ...args: readonly string[]) =>
  callProgram(['tokens', 'revoke', '--data', data, ...args]);

async function issue(data: string, subject: string): Promise<string> {
  const { stdout } = await callProgram(['issue-token', '--data', data, '--subject', subject], {
    env,
  });
  return stdout.trim();
}

const reading = async (server: TestServer, token: string) =>
  (await send(server, 'GET', '/admin/skus/', { token })).status;

test('revoking one token leaves the other tokens of its subject valid', async () => {
  const server = await startServer();
  const [one, two] = [await issue(server.data, 'ann'), await issue(server.data, 'ann')];
  assert.is(await reading(server, one), 200);
  const jti = decodeJwt(one).jti ?? '';
  const { status, stdout, stderr } = await revoke(server.data, jti);
  assert.equal([status, stdout, stderr], [0, `revoked the token ${jti}\n`, '']);
  assert.is(await reading(server, one), 401);
  assert.is(await reading(server, two), 200);
  await server.stop();
});

test('revoking a subject ends all its tokens; a token issued right afterwards is valid', async () => {
  const server = await startServer();
  const tokens = [await issue(server.data, 'ann'), await issue(server.data, 'ann')];
  const bob = await issue(server.data, 'bob');
  for (const token of tokens) assert.is(await reading(server, token), 200);
  for (let time = 0; time < 3; time += 1) {
    const { status, stdout } = await revoke(server.data, '--subject', 'ann');
    assert.equal([status, stdout], [0, 'revoked all tokens of ann\n']);
    for (const token of tokens) assert.is(await reading(server, token), 401);
    const next = await issue(server.data, 'ann');
    assert.is(await reading(server, next), 200, `${time}`);
    tokens.push(next);
  }
  assert.is(await reading(server, bob), 200);
  await server.stop();
});

test('a revocation survives a kill of the server', async () => {
  const first = await startServer();
  const [one, two] = [await issue(first.data, 'ann'), await issue(first.data, 'bob')];
  await revoke(first.data, decodeJwt(one).jti ?? '');
  await revoke(first.data, '--subject', 'bob');
  await first.kill();
  const second = await startServer({ data: first.data });
  assert.is(await reading(second, one), 401);
  assert.is(await reading(second, two), 401);
  await second.stop();
});

test('tokens revoke accepts any characters in a jti and a subject', async () => {
  const data = await directoryWithStore();
  assert.is((await revoke(data, ' a/b "ü" ')).status, 0);
  assert.is((await revoke(data, '--subject', ' a/b "ü" ')).status, 0);
  const { revoked_tokens: tokens, revoked_subjects: subjects } = JSON.parse(
    readFileSync(join(data, 'access.json'), 'utf8'),
  );
  assert.equal(tokens, [{ jti: ' a/b "ü" ', expires: null }]);
  assert.is(subjects[0].subject, ' a/b "ü" ');
});

test('a subject that is typed with combining marks is the account of that name', async () => {
  const server = await startServer();
  const token = await issue(server.data, 'Ju\u0308rgen');
  assert.is(decodeJwt(token).sub, 'J\u00fcrgen');
  assert.is(await reading(server, token), 200);
  assert.is((await revoke(server.data, '--subject', 'Ju\u0308rgen')).status, 0);
  assert.is(await reading(server, token), 401);
  await server.stop();
});

test('tokens revoke needs either one jti or one subject, of 1 to 255 characters', async () => {
  const data = temporaryDirectory();
  for (const args of [
    [],
    ['one', '--subject', 'ann'],
    [''],
    ['x'.repeat(256)],
    ['--subject='],
    ['a', 'b'],
  ]) {
    const { status, stderr } = await revoke(data, ...args);
    assert.is(status, 2, args.join(' '));
    assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  }
  assert.equal(readdirSync(data), []);
});

test.run();
