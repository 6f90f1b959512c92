/** The paths that followers read (spec 15.10 to 15.14). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keysPath, readKeys } from '../../src/auth/keys.ts';
import { issueToken } from '../../src/auth/tokens.ts';
import { backup } from '../../src/cli/commands/backup/backup.ts';
import { readHostRecord } from '../../src/store/hosts/host-record.ts';
import { send, tokenFor } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { quickDisk } from '../support/disk.ts';
import { closeServices, contextOf, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

test.after.each(closeServices);

const PATHS = ['state/', 'credentials/', 'base/', 'changes/?since=0'].map(
  (path) => `/admin/hosts/${path}`,
);

/** The lines that a stream begins with. */
async function firstLines(service: Service, since: number, count: number): Promise<string[]> {
  const headers = { Authorization: `Bearer ${await tokenFor('admin')}` };
  const url = `${service.url}/admin/hosts/changes/?since=${since}`;
  const { body } = await service.fetch(url, { headers });
  let text = '';
  const lines = () => text.split('\n').filter((line) => line !== '');
  for await (const piece of body ?? []) {
    text += Buffer.from(piece as Uint8Array).toString();
    if (lines().length >= count && text.endsWith('\n')) break;
  }
  return lines();
}

test('the paths under /admin/hosts/ are 401 without a token and 403 for an editor', async () => {
  const service = await openService({ demo: true });
  for (const path of PATHS) {
    assert.is((await send(service, 'GET', path, { token: null })).status, 401, path);
    const editor = await tokenFor('editor');
    assert.is((await send(service, 'GET', path, { token: editor })).status, 403, path);
  }
});

test('spec 15.14: the first GET of the state creates the history, which then does not change', async () => {
  const service = await openService({ demo: true });
  assert.is(readHostRecord(quickDisk, service.data), null);
  const { json } = await send(service, 'GET', '/admin/hosts/state/');
  assert.is(json.role, 'primary');
  assert.is(json.sequence, 1);
  assert.is(json.epochs.length, 1);
  const again = await send(service, 'GET', '/admin/hosts/state/');
  assert.equal(again.json, json);
  assert.is(readHostRecord(quickDisk, service.data)?.history, json.history);
});

test('spec 15.10: a base has the bytes of a backup', async () => {
  const service = await openService({ demo: true });
  const { text } = await send(service, 'GET', '/admin/hosts/base/');
  const { tables, sequence, sha256 } = JSON.parse(text);
  assert.is(sequence, 1);
  assert.is(tables.skus.length, 36);
  assert.match(sha256, /^[0-9a-f]{64}$/);
  const file = join(temporaryDirectory(), 'backup.json');
  await backup({ data: service.data, file }, contextOf());
  assert.is(text, readFileSync(file, 'utf8'));
  assert.is((await send(service, 'HEAD', '/admin/hosts/base/')).status, 200);
});

test('spec 15.10: the stream sends the stored change sets unchanged, then each new one', async () => {
  const service = await openService({ demo: true, emptyLineMs: 5 });
  const later = firstLines(service, 0, 2);
  assert.is(
    (await send(service, 'PATCH', '/admin/brands/1/', { body: { name: 'New' } })).status,
    200,
  );
  const lines = await later;
  for (const [index, line] of lines.entries()) {
    const path = `${service.data}/changes/00000000000${index + 1}.json`;
    assert.is(`${line}\n`, quickDisk.read(path)?.toString());
  }
  assert.equal(await firstLines(service, 1, 1), lines.slice(1));
});

test('a since after the last change set is 410; a malformed since or another parameter is 400', async () => {
  const service = await openService({ demo: true });
  assert.is((await send(service, 'GET', '/admin/hosts/changes/?since=7')).status, 410);
  assert.is((await send(service, 'GET', '/admin/hosts/changes/?since=x')).status, 400);
  assert.is((await send(service, 'GET', '/admin/hosts/changes/?after=1')).status, 400);
});

test('a since before the oldest change set that is kept is 410', async () => {
  const service = await openService({ history: 0, checkpointSize: 1 });
  const path = '/admin/hosts/changes/?since=';
  const addBrand = async () => {
    assert.is(
      (await send(service, 'POST', '/admin/brands/', { body: { name: 'New' } })).status,
      201,
    );
  };
  let oldest = 0;
  await until('change sets are removed', async () => {
    await addBrand();
    const headers = { Authorization: `Bearer ${await tokenFor('admin')}` };
    const answer = await service.fetch(`${service.url}${path}0`, { headers });
    if (answer.status === 410) return true;
    await answer.body?.cancel();
    return false;
  });
  // A checkpoint removes change sets meanwhile, so that what a 410 names may be gone soon as well,
  // and all of them, so that the stream has no line before the next write.
  let first: { sequence?: number } = {};
  await until('the change set after the oldest is sent', async () => {
    const { json } = await send(service, 'GET', `${path}0`);
    oldest = Number(/after (\d+) to \d+$/.exec(json.error)?.[1]);
    const lines = firstLines(service, oldest, 1);
    await addBrand();
    const [line = '{}'] = await lines;
    first = JSON.parse(line);
    return first.sequence !== undefined;
  });
  assert.is(first.sequence, oldest + 1);
  assert.is((await send(service, 'GET', `${path}${oldest - 1}`)).status, 410);
});

test('spec 15.12: the credentials contain keys and accounts, and their digest changes with them', async () => {
  const service = await openService({ demo: true, ownKeys: true, followers: true });
  const keys = readKeys(keysPath(service.data));
  assert.ok(keys !== null);
  const issued = Math.floor(Date.now() / 1000);
  const caller = { subject: 'replica', role: 'admin' } as const;
  const { token } = await issueToken(keys, caller, { issued, expires: issued + 600 });
  const read = () => send(service, 'GET', '/admin/hosts/credentials/', { token });
  const before = (await read()).json;
  assert.is(before.files.keys.keys.length, 1);
  const user = { name: 'ann', role: 'editor', password: 'a long enough password' };
  assert.is((await send(service, 'POST', '/admin/users/', { body: user, token })).status, 201);
  const { json } = await read();
  assert.is(json.files.access.users[0].name, 'ann');
  assert.is.not(json.digest, before.digest);
  const state = await send(service, 'GET', '/admin/hosts/state/', { token });
  assert.is(state.json.credentials, json.digest);
  assert.is(state.json.secret, null);
});

test('spec 15.10: without --followers the credentials are 403', async () => {
  const service = await openService({ demo: true });
  const { status, json } = await send(service, 'GET', '/admin/hosts/credentials/');
  assert.is(status, 403);
  assert.match(json.error, /--followers/);
});

test('spec 15.10: a secret from the environment is not sent, but the state has its digest', async () => {
  const service = await openService({ demo: true, followers: true });
  assert.is((await send(service, 'GET', '/admin/hosts/credentials/')).json.files.keys, null);
  const { json } = await send(service, 'GET', '/admin/hosts/state/');
  assert.match(json.secret, /^[0-9a-f]{64}$/);
});

test('spec 15.14: a primary that learns of a later epoch rejects writes, and cannot be restarted', async () => {
  const service = await openService({ demo: true });
  const { history } = (await send(service, 'GET', '/admin/hosts/state/')).json;
  const tell = (epoch: string) =>
    send(service, 'GET', '/admin/hosts/state/', { headers: { 'Catalog-Epoch': epoch } });
  const write = () => send(service, 'PATCH', '/admin/brands/1/', { body: { name: 'New' } });
  assert.is((await tell('nonsense')).status, 400);
  assert.is((await tell(`${'0'.repeat(32)} 2`)).json.role, 'primary', 'another history');
  assert.is((await tell(`${history} 1`)).json.role, 'primary');
  assert.is((await write()).status, 200);
  assert.is((await tell(`${history} 2`)).json.role, 'succeeded');
  const refused = await write();
  assert.is(refused.status, 503);
  assert.match(refused.json.error, /another host was made the primary/);
  assert.is((await send(service, 'GET', '/admin/brands/1/')).status, 200);
  const ready = await send(service, 'GET', '/readyz');
  assert.is(ready.status, 503);
  assert.match(ready.json.error, /another host is the primary now/);
  assert.match(service.log.join('\n'), /another host was made the primary in epoch 2/);
  await service.stop();
  const again = await openService({ data: service.data }).then(() => 'it is open', String);
  assert.match(again, /belonged to the primary until another host took over in epoch/);
});

test.run();
