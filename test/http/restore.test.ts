/** spec 8.16: the accounts and tokens of a restored catalog. */
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { callProgram, type CallOptions } from '../support/program.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

async function run(args: readonly string[], options?: CallOptions): Promise<string> {
  const { status, stdout, stderr } = await callProgram(args, options);
  assert.equal([status, stderr], [0, '']);
  return stdout.trim();
}

test('after a restore accounts can log in, tokens are valid, and revoked tokens stay revoked', async () => {
  const folder = temporaryDirectory();
  const [data, restored, file] = ['data', 'restored', 'b.json'].map((name) => join(folder, name));
  assert.ok(data && restored && file);
  const PASSWORD = 'correct horse';
  await run(['migrate', '--data', data, '--demo']);
  await run(['users', 'add', 'ann', '--role', 'admin', '--data', data], { input: PASSWORD });
  const [kept, revoked] = [
    await run(['issue-token', '--data', data, '--subject', 'carol']),
    await run(['issue-token', '--data', data, '--subject', 'bob']),
  ];
  await run(['tokens', 'revoke', '--subject', 'bob', '--data', data]);
  const identity = await generateX25519Identity();
  writeFileSync(join(folder, 'id'), identity, { mode: 0o600 });
  const recipient = await identityToRecipient(identity);
  await run(['backup', file, '--data', data, '--recipient', recipient]);
  await run(['restore', file, '--data', restored, '--identity-file', join(folder, 'id')]);

  const server = await openService({ data: restored, ownKeys: true });
  const list = (token: string) => send(server, 'GET', '/admin/skus/', { token });
  assert.is((await list(kept)).status, 200);
  assert.is((await list(revoked)).status, 401);
  const login = { body: { username: 'ann', password: PASSWORD }, token: null };
  assert.is((await send(server, 'POST', '/admin/tokens/', login)).status, 201);
  await server.stop();
});

test.run();
