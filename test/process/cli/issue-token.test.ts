/** spec 6.4 and 8.6: `issue-token` while a server runs, and several at once. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, jwtVerify } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { runCommand, startServer } from '../../support/server.ts';

async function issue(data: string, args: readonly string[] = []): Promise<string> {
  const all = ['issue-token', '--data', data, '--subject', 'ann', ...args];
  const { status, stdout, stderr } = await runCommand(all);
  assert.is(status, 0, stderr);
  return stdout.trim();
}

/** The status of a read and of a write with a token of each role. */
const ROLES = [
  ['viewer', 200, 403],
  ['editor', 200, 201],
  ['admin', 200, 201],
] as const;

test('a token permits what its role allows, on a server of the same directory only', async () => {
  const data = temporaryDirectory();
  const early = await issue(data);
  const server = await startServer({ data, ownKeys: true });
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
    await server.kill();
  }
});

const AHEAD = 'after a clock that was ahead, the commands of troubleshooting.md permit new tokens';

const hasJq = Bun.which('jq') !== null;

(hasJq ? test : test.skip)(hasJq ? AHEAD : `${AHEAD} (skipped: jq is not installed)`, async () => {
  const data = temporaryDirectory();
  const revoked_subjects = [{ subject: 'ann', until: '2101-01-01T00:00:00Z' }];
  const access = { users: [], revoked_subjects, revoked_tokens: [] };
  writeFileSync(join(data, 'access.json'), JSON.stringify(access), { mode: 0o600 });
  const { status, stderr } = await runCommand(['issue-token', '--data', data, '--subject', 'ann']);
  assert.is(status, 1);
  assert.match(stderr, 'docs/troubleshooting.md');
  const document = readFileSync(join(ROOT, 'docs', 'troubleshooting.md'), 'utf8');
  const [, command = ''] = /^ {4}sudo -u catalog sh -c '(.+)'$/m.exec(document) ?? [];
  assert.is(spawnSync('sh', ['-c', command], { cwd: data }).status, 0);
  await issue(data);
});

test('processes that create the keys at the same time all sign with the same key', async () => {
  const data = temporaryDirectory();
  const tokens = await Promise.all(Array.from({ length: 6 }, () => issue(data)));
  const [key] = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8')).keys;
  const secret = Buffer.from(key.secret, 'base64url');
  for (const token of tokens) await jwtVerify(token, secret);
  assert.equal(readdirSync(data), ['keys.json']);
});

test('serve fails with a secret of 15 bytes, and does not print the secret', async () => {
  const data = temporaryDirectory();
  const env = { CATALOG_JWT_SECRET: 'hunter2-hunter2' };
  const finished = await runCommand(['serve', '--data', data, '--port', '0'], { env });
  assert.is(finished.status, 1);
  assert.is(finished.stdout, '');
  assert.match(finished.stderr, /^catalog-server: [^\n]*CATALOG_JWT_SECRET[^\n]* 32 [^\n]*\n$/);
  assert.not.match(finished.stderr, 'hunter2');
});

test.run();
