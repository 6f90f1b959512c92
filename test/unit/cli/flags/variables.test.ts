/** Every flag has an environment variable, and the flag takes precedence (spec 8.2). */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandFacts, inertProgram } from '../../../../release/program-facts.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { callProgram } from '../../../support/program.ts';

test('every flag except check --archive has a variable of the same name', () => {
  let count = 0;
  const without: string[] = [];
  for (const { name, groups } of commandFacts(inertProgram())) {
    for (const { usage, variable } of groups.flatMap(({ flags }) => flags)) {
      const [flag = ''] = usage.split(' ');
      count += 1;
      if (variable === null) without.push(`${name} ${flag}`);
      else assert.is(variable, `CATALOG_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`);
    }
  }
  assert.ok(count > 100, `${count} flags`);
  assert.equal(without, ['check --archive']);
});

/** Claims of the token that `issue-token` prints. */
async function claims(args: readonly string[], env: Readonly<Record<string, string>>) {
  const data = temporaryDirectory();
  const { status, stdout, stderr } = await callProgram(['issue-token', '--data', data, ...args], {
    env,
  });
  assert.is(status, 0, stderr);
  const { sub, role, exp = 0, iat = 0 } = decodeJwt(stdout.trim());
  return { sub, role, lifetime: exp - iat };
}

test('variables set values, choices and required flags, and flags take precedence', async () => {
  const env = { CATALOG_SUBJECT: 'ann', CATALOG_ROLE: 'viewer', CATALOG_EXPIRES: '1h' };
  assert.equal(await claims([], env), { sub: 'ann', role: 'viewer', lifetime: 3600 });
  const args = ['--subject', 'bob', '--role', 'editor', '--expires', '2h'];
  assert.equal(await claims(args, env), { sub: 'bob', role: 'editor', lifetime: 7200 });
  const wrong = await callProgram(['issue-token'], { env: { ...env, CATALOG_ROLE: 'boss' } });
  assert.is(wrong.status, 2);
  assert.match(wrong.stderr, /CATALOG_ROLE.*viewer, editor, admin/);
  const none = await callProgram(['issue-token'], { env: { CATALOG_SUBJECT: '' } });
  assert.equal([none.status, none.stderr.split('\n').length], [2, 2]);
  assert.match(none.stderr, '--subject');
});

test('the variable of a flag without a value must be yes or no', async () => {
  const data = join(temporaryDirectory(), 'store');
  const migrate = (CATALOG_DRY_RUN: string) =>
    callProgram(['migrate', '--data', data], { env: { CATALOG_DRY_RUN } });
  assert.is((await migrate('yes')).status, 0);
  assert.not.ok(existsSync(data), 'a dry run leaves nothing');
  const wrong = await migrate('perhaps');
  assert.is(wrong.status, 2);
  assert.match(wrong.stderr, /CATALOG_DRY_RUN.*yes or no/);
  assert.is((await migrate('no')).status, 0);
  assert.ok(existsSync(data));
});

test('CATALOG_SUBJECT is ignored if tokens revoke has an argument', async () => {
  const data = temporaryDirectory();
  await callProgram(['migrate', '--data', data]);
  const env = { CATALOG_SUBJECT: 'ann' };
  const one = await callProgram(['tokens', 'revoke', '--data', data, 'some-jti'], { env });
  assert.equal([one.status, one.stdout], [0, 'revoked the token some-jti\n']);
  const all = await callProgram(['tokens', 'revoke', '--data', data], { env });
  assert.equal([all.status, all.stdout], [0, 'revoked all tokens of ann\n']);
});

test('a flag overrides the variable of a flag that it excludes, and two such variables are an error', async () => {
  const root = temporaryDirectory();
  const data = join(root, 'store');
  const file = join(root, 'backup.json');
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const identities = join(root, 'identity.txt');
  writeFileSync(identities, identity, { mode: 0o600 });
  await callProgram(['migrate', '--data', data]);
  await callProgram(['issue-token', '--data', data, '--subject', 'ann']);
  await callProgram(['backup', '--data', data, file, '--recipient', recipient]);
  const target = join(root, 'restored');
  const restore = ['restore', '--data', target, file];
  const env = { CATALOG_WITHOUT_KEYS: 'yes', CATALOG_PASSPHRASE_FILE: '' };
  const both = await callProgram(restore, { env: { ...env, CATALOG_PASSPHRASE_FILE: 'x' } });
  assert.is(both.status, 2);
  assert.match(both.stderr, /CATALOG_PASSPHRASE_FILE and CATALOG_WITHOUT_KEYS/);
  const { status, stderr } = await callProgram([...restore, '--identity-file', identities], {
    env,
  });
  assert.equal([status, stderr], [0, '']);
  assert.ok(existsSync(join(target, 'keys.json')));
});

test('the variable of a flag without a value excludes no other variable if it is no', async () => {
  const env = { CATALOG_WITHOUT_KEYS: 'no', CATALOG_IDENTITY_FILE: 'x' };
  const { status, stderr } = await callProgram(['restore', 'none.json'], { env });
  assert.is(status, 1);
  assert.match(stderr, 'there is no file none.json');
});

test('the variable of a flag that has no effect without another one is ignored', async () => {
  const data = temporaryDirectory();
  await callProgram(['migrate', '--data', data]);
  const env = { CATALOG_DATA: data, CATALOG_ARCHIVE_KEY: join(data, 'none') };
  const { status, stderr } = await callProgram(['check'], { env });
  assert.equal([status, stderr], [0, '']);
});

test('CATALOG_VERBOSE prints the stack of an error', async () => {
  const args = ['check', '--data', join(temporaryDirectory(), 'none')];
  const quiet = await callProgram(args, { env: { CATALOG_VERBOSE: 'no' } });
  assert.is(quiet.stderr.trim().split('\n').length, 1);
  const verbose = await callProgram(args, { env: { CATALOG_VERBOSE: 'yes' } });
  assert.match(verbose.stderr, /^ +at /m);
});

test.run();
