/** spec 6.9: accounts over HTTP, for admins. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeAccess } from '../../src/auth/access.ts';
import { addAccount, changeAccount } from '../../src/auth/accounts.ts';
import { machineDisk } from '../../src/disk/disk.ts';
import { linksOf, type Received, type Sent, send, tokenFor } from '../support/client.ts';
import { accountOf } from '../support/credentials.ts';
import { quickDisk } from '../support/disk.ts';
import { RefusingDisk } from '../support/refusing-disk.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const USERS = '/admin/users/';
const PASSWORD = 'correct horse battery';

let server: Service;

test.before.each(async () => {
  server = await openService();
  await account('root', 'admin');
});

test.after.each(closeServices);

const account = (name: string, role: 'viewer' | 'editor' | 'admin', to = server) =>
  changeAccess(quickDisk, to.data, (draft) => addAccount(draft, accountOf(name, { role })));

const call = (method: string, path: string, body?: unknown, sent: Sent = {}): Promise<Received> =>
  send(server, method, `${USERS}${path}`, { ...sent, ...(body !== undefined && { body }) });

const login = (username: string, password: string) =>
  send(server, 'POST', '/admin/tokens/', { token: null, body: { username, password } });

async function trail(): Promise<readonly Record<string, unknown>[]> {
  const { json, text } = await send(server, 'GET', '/admin/audits/?resource=users&per_page=1000');
  assert.not.match(text, /argon2|correct horse|another horse/);
  return json;
}

const stored = () => readFileSync(join(server.data, 'access.json'), 'utf8');

test('a new account can log in with its role', async () => {
  const { status, headers, json, text } = await call('POST', '', {
    name: 'ann',
    role: 'editor',
    password: PASSWORD,
  });
  assert.is(status, 201);
  assert.equal(Object.keys(json), ['name', 'role', 'disabled', 'created']);
  assert.equal([json.name, json.role, json.disabled], ['ann', 'editor', false]);
  assert.not.match(text, 'password');
  assert.is(headers.get('location'), `${USERS}ann/`);
  const { json: issued } = await login('ann', PASSWORD);
  assert.is(decodeJwt(issued.token)['role'], 'editor');
  const read = await call('GET', 'ann/');
  assert.equal(read.json, json);
  assert.is(read.headers.get('etag'), headers.get('etag'));
  assert.equal(linksOf(read).slice(0, 2), [
    ['collection', USERS],
    ['up', USERS],
  ]);
});

test('a new account that is disabled cannot log in', async () => {
  const { json } = await call('POST', '', {
    name: 'ann',
    role: 'editor',
    disabled: true,
    password: PASSWORD,
  });
  assert.is(json.disabled, true);
  assert.is((await login('ann', PASSWORD)).status, 401);
});

test('of two concurrent creations with the same name, one is 422', async () => {
  const create = () => call('POST', '', { name: 'ann', role: 'editor', password: PASSWORD });
  const answers = await Promise.all([create(), create()]);
  const [refused, ...others] = answers.filter(({ status }) => status !== 201);
  assert.is(others.length, 0);
  assert.is(refused?.status, 422);
  assert.equal(refused?.json.fields, { name: ['is the name of another user'] });
});

test('the list of accounts is paged and sorted, and contains nothing of the passwords', async () => {
  for (const [name, role] of [
    ['cleo', 'viewer'],
    ['ann', 'viewer'],
    ['bob', 'editor'],
  ] as const) {
    await account(name, role);
  }
  const names = ({ json }: Received) => json.map(({ name }: { name: string }) => name);
  const all = await call('GET', '');
  assert.equal(names(all), ['ann', 'bob', 'cleo', 'root']);
  assert.is(all.headers.get('x-total-count'), '4');
  assert.ok(linksOf(all).some(([rel, to]) => rel === 'last' && to.endsWith('page=1&per_page=20')));
  assert.not.match(all.text, /argon2|password/);
  const second = await call('GET', '?per_page=2&page=2');
  assert.equal(names(second), ['cleo', 'root']);
  assert.ok(
    linksOf(second).some(([rel, to]) => rel === 'prev' && to.endsWith('page=1&per_page=2')),
  );
  assert.equal(names(await call('GET', '?limit=1&offset=1')), ['bob']);
  assert.equal(names(await call('GET', '?sortby=role')), ['root', 'bob', 'ann', 'cleo']);
  assert.equal(names(await call('GET', '?sortby=role&order=desc')), ['ann', 'cleo', 'bob', 'root']);
  assert.equal(names(await call('GET', '?order=desc')), ['root', 'cleo', 'bob', 'ann']);
  for (const query of ['?sortby=password', '?page=1&limit=1', '?per_page=1001', '?nme=1']) {
    assert.is((await call('GET', query)).status, 400, query);
  }
});

test('accounts are sorted by the code points of their names', async () => {
  // The UTF-16 units of the last one are below those of the second.
  const expected = ['root', 'ｗide', '𠮷田'];
  for (const name of expected.slice(1).reverse()) await account(name, 'viewer');
  const names = async (query: string) =>
    (await call('GET', query)).json.map(({ name }: { name: string }) => name);
  assert.equal(await names(''), expected);
  assert.equal(await names('?order=desc'), expected.toReversed());
  assert.equal(await names('?sortby=disabled&order=desc'), expected);
});

test('every problem of a body is reported, without the password', async () => {
  for (const [body, fields] of [
    [{}, ['name', 'role', 'password']],
    [
      { name: 'a b', role: 'owner', password: 'secret7', disabled: 1 },
      ['name', 'role', 'password', 'disabled'],
    ],
    [{ name: '', role: 'viewer', password: PASSWORD }, ['name']],
    [{ name: '-x', role: 'viewer', password: PASSWORD }, ['name']],
    [{ name: '..', role: 'viewer', password: PASSWORD }, ['name']],
    [{ name: 'x'.repeat(65), role: 'viewer', password: PASSWORD }, ['name']],
    [{ name: 'x', role: 'viewer', password: 'secret7'.repeat(200) }, ['password']],
    [{ name: 'x', role: 'viewer', password: 12_345_678 }, ['password']],
    [{ name: 'root', role: 'viewer', password: PASSWORD }, ['name']],
  ] as const) {
    const { status, json, text } = await call('POST', '', body);
    assert.is(status, 422, text);
    assert.equal(Object.keys(json.fields).sort(), [...fields].sort(), text);
    assert.not.match(text, /secret7|12345678/);
    if (body.name === '..') assert.match(text, 'other than . and ..');
  }
  assert.is((await call('PATCH', 'root/', { role: null, password: '' })).status, 422);
  assert.equal(await trail(), []);
});

test('a name may contain letters of any language and @ . + _ -, and is normalized to NFC', async () => {
  for (const name of ['ann@example.com', 'Zoë', '李雷', 'a+b_c-d.e', 'Zo\u0065\u0308x']) {
    const body = { name, role: 'viewer', password: PASSWORD };
    const { status, headers, json } = await call('POST', '', body);
    assert.is(status, 201, name);
    assert.is(json.name, name.normalize('NFC'));
    const path = (headers.get('location') ?? '').slice(USERS.length);
    assert.is((await call('GET', path)).json.name, json.name);
    assert.is((await call('GET', `${encodeURIComponent(name)}/`)).json.name, json.name);
    assert.is((await call('DELETE', path)).status, 204);
    assert.is((await call('GET', path)).status, 404);
  }
  assert.is((await call('GET', '%ff/')).status, 404);
  assert.is((await call('GET', 'nobody/')).status, 404);
});

test('a repeated creation is 422 whatever its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'once' };
  const body = { name: 'ann', role: 'viewer', password: PASSWORD };
  assert.is((await call('POST', '', body, { headers })).status, 201);
  const before = stored();
  for (const changed of [{}, { role: 'admin', password: 'another horse battery' }]) {
    const again = await call('POST', '', { ...body, ...changed }, { headers });
    assert.equal(
      [again.status, again.json.fields],
      [422, { name: ['is the name of another user'] }],
    );
    assert.is(again.headers.get('idempotent-replayed'), null);
  }
  assert.is(stored(), before);
});

test('a change of role, password or disabled revokes the tokens; only a new password can log in', async () => {
  await call('POST', '', { name: 'ann', role: 'editor', password: PASSWORD });
  const reading = async (token: string) =>
    (await send(server, 'GET', '/admin/skus/', { token })).status;
  for (const change of [{ role: 'viewer' }, { password: 'another horse' }, { disabled: true }]) {
    await changeAccess(quickDisk, server.data, (draft, now) =>
      changeAccount(draft, 'ann', { role: 'editor' }, now),
    );
    const { token } = (await login('ann', PASSWORD)).json;
    assert.is(await reading(token), 200);
    const { status, json } = await call('PATCH', 'ann/', change);
    assert.is(status, 200);
    assert.not.match(JSON.stringify(json), 'password');
    assert.is(await reading(token), 401, JSON.stringify(change));
    if (change.password === undefined) continue;
    assert.is((await login('ann', PASSWORD)).status, 401);
    assert.is((await login('ann', change.password)).status, 201);
    await call('PATCH', 'ann/', { password: PASSWORD });
  }
  assert.is((await login('ann', PASSWORD)).status, 401, 'it is disabled');
  assert.is((await call('PATCH', 'ann/', { disabled: false })).json.disabled, false);
  assert.is((await login('ann', PASSWORD)).status, 201);
});

test('a PATCH that changes nothing writes nothing and leaves no entry', async () => {
  const before = stored();
  const { status, json } = await call('PATCH', 'root/', { role: 'admin', disabled: false });
  assert.is(status, 200);
  assert.is(json.role, 'admin');
  assert.is((await call('PATCH', 'root/', {})).status, 200);
  assert.is(stored(), before);
  assert.equal(await trail(), []);
});

test('DELETE of the tokens of an account revokes them, and the account can log in again', async () => {
  await call('POST', '', { name: 'ann', role: 'viewer', password: PASSWORD });
  const { token } = (await login('ann', PASSWORD)).json;
  assert.is((await call('DELETE', 'ann/tokens/')).status, 204);
  assert.is((await send(server, 'GET', '/admin/skus/', { token })).status, 401);
  assert.is((await login('ann', PASSWORD)).status, 201, 'it can log in again');
  assert.is((await call('DELETE', 'nobody/tokens/')).status, 404);
  assert.is((await call('GET', 'ann/tokens/')).status, 405);
});

test('removing, demoting or disabling the last active admin is 409', async () => {
  await account('other', 'admin');
  assert.is((await call('PATCH', 'other/', { disabled: true })).status, 200);
  for (const [method, body] of [
    ['DELETE', undefined],
    ['PATCH', { role: 'editor' }],
    ['PATCH', { disabled: true }],
  ] as const) {
    const { status, json } = await call(method, 'root/', body);
    assert.is(status, 409, method);
    assert.match(json.error, 'root is the last active user with the role admin');
  }
  assert.is((await call('PATCH', 'root/', { password: PASSWORD })).status, 200);
  assert.is((await call('PATCH', 'other/', { disabled: false })).status, 200);
  assert.is((await call('DELETE', 'root/')).status, 204);
  assert.is((await call('DELETE', 'other/')).status, 409);
});

test('if both of two admins are removed at the same time, one removal is 409', async () => {
  await account('other', 'admin');
  const answers = await Promise.all([call('DELETE', 'root/'), call('DELETE', 'other/')]);
  assert.equal(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 409],
  );
});

test('If-Match with an outdated tag of an account is 412, also for concurrent changes', async () => {
  await account('ann', 'viewer');
  const { headers } = await call('GET', 'ann/');
  const etag = headers.get('etag') ?? '';
  const conditional = { headers: { 'if-match': etag } };
  assert.is(
    (await call('GET', 'ann/', undefined, { headers: { 'if-none-match': etag } })).status,
    304,
  );
  assert.is((await call('PATCH', 'ann/', { role: 'editor' }, conditional)).status, 200);
  assert.is((await call('PATCH', 'ann/', { role: 'viewer' }, conditional)).status, 412);
  assert.is((await call('DELETE', 'ann/', undefined, conditional)).status, 412);
  const racing = { headers: { 'if-match': (await call('GET', 'ann/')).headers.get('etag') ?? '' } };
  const answers = await Promise.all([
    call('PATCH', 'ann/', { role: 'admin' }, racing),
    call('PATCH', 'ann/', { role: 'viewer' }, racing),
  ]);
  assert.equal(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 412],
  );
});

test('every change of an account is in the audit trail, without the password', async () => {
  await call('POST', '', { name: 'ann', role: 'viewer', password: PASSWORD });
  await call('PATCH', 'ann/', { role: 'editor', password: 'another horse' });
  await call('DELETE', 'ann/tokens/');
  await call('DELETE', 'ann/');
  const entries = await trail();
  const { created } = (entries[0]?.['after'] ?? {}) as { created?: string };
  const ann = { name: 'ann', role: 'viewer', disabled: false, created };
  const editor = { ...ann, role: 'editor' };
  assert.equal(
    entries.map(({ subject, action, before, after }) => [subject, action, before, after]),
    [
      ['tester', 'create', null, ann],
      ['tester', 'update', ann, { ...editor, password_changed: true }],
      ['tester', 'update', editor, { ...editor, tokens_ended: true }],
      ['tester', 'delete', editor, null],
    ],
  );
  const [number] = entries.map(({ resource_id }) => resource_id);
  const own = await send(
    server,
    'GET',
    `/admin/audits/?resource=users&resource_id=${String(number)}`,
  );
  assert.is(own.json.length, 4, 'all of one account have one number');
});

test('the reversal of an entry about an account is 404', async () => {
  await call('POST', '', { name: 'ann', role: 'viewer', password: PASSWORD });
  const [{ id } = { id: 0 }] = await trail();
  const answer = await send(server, 'POST', `/admin/audits/${String(id)}/reversal/`);
  assert.is(answer.status, 404);
  assert.match(answer.json.error, 'about an account');
});

test('if the audit entry cannot be written, the account is not changed', async () => {
  await server.stop();
  const disk = new RefusingDisk();
  server = await openService({ disk });
  await account('root', 'admin');
  const before = stored();
  disk.refusal = (step, path) => (step === 'link' && path.includes('/changes/') ? 'ENOSPC' : null);
  assert.is((await call('PATCH', 'root/', { password: PASSWORD })).status, 500);
  assert.is(stored(), before);
});

test('if an account cannot be written, the audit trail gets an entry that reverts the change', async () => {
  await server.stop();
  const disk = new RefusingDisk();
  server = await openService({ disk });
  await account('ann', 'viewer');
  disk.refusal = (step, path) =>
    step === 'rename' && path.endsWith('access.json') ? 'ENOSPC' : null;
  assert.is((await call('PATCH', 'ann/', { role: 'editor' })).status, 500);
  assert.is((await call('DELETE', 'ann/')).status, 500);
  disk.refusal = null;
  assert.is((await call('GET', 'ann/')).json.role, 'viewer');
  const entries = await trail();
  assert.equal(
    entries.map(({ action }) => action),
    ['update', 'update', 'delete', 'create'],
  );
  assert.equal(entries[0]?.['before'], entries[1]?.['after']);
});

test('concurrent changes by commands and by requests are all kept', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `user-${index}`);
  for (const name of names) await account(name, 'viewer');
  await Promise.all(
    names.map((name, index) =>
      index % 2 === 0
        ? call('PATCH', `${name}/`, { role: 'editor' })
        : changeAccess(machineDisk, server.data, (draft, now) =>
            changeAccount(draft, name, { role: 'editor' }, now),
          ),
    ),
  );
  for (const name of names) assert.is((await call('GET', `${name}/`)).json.role, 'editor', name);
});

test('a token that is revoked while a password waits to be hashed is 401, and no account is changed', async () => {
  await server.stop();
  let verifications = 0;
  let logins = 0;
  const released = Promise.withResolvers<boolean>();
  server = await openService({
    clock: { now: () => ((verifications += 1), Date.now()) },
    verifyPassword: () => ((logins += 1), released.promise),
  });
  await account('root', 'admin');
  const token = await tokenFor('admin');
  // Its signature is verified now, so that the requests below read the clock once each time.
  assert.is((await call('GET', '', undefined, { token })).status, 200);
  const entries = await trail();
  const { users } = JSON.parse(stored());
  const hashing = [login('root', 'one'), login('root', 'two')];
  await until('two passwords are hashed, the maximum', () => logins === 2);
  verifications = 0;
  const input = { name: 'eve', role: 'admin', password: PASSWORD };
  const waiting = [
    call('POST', '', input, { token }),
    call('PATCH', 'root/', { password: PASSWORD }, { token }),
  ];
  await until('both bodies have arrived', () => verifications >= 4);
  const { jti } = decodeJwt(token);
  assert.is((await send(server, 'DELETE', `/admin/tokens/${jti}/`)).status, 204);
  released.resolve(false);
  await Promise.all(hashing);
  for (const { status, json } of await Promise.all(waiting)) {
    assert.equal([status, json.error], [401, 'the token was revoked; get a new one']);
  }
  assert.equal(await trail(), entries);
  assert.equal(JSON.parse(stored()).users, users);
});

test('with an audit size of 0 accounts can be changed', async () => {
  await server.stop();
  server = await openService({ auditSize: 0 });
  await account('root', 'admin');
  assert.is((await call('PATCH', 'root/', { password: PASSWORD })).status, 200);
  assert.equal(await trail(), []);
});

test('if the file of accounts is invalid, requests are 500, and the file is not changed', async () => {
  writeFileSync(join(server.data, 'access.json'), '{}', { mode: 0o600 });
  assert.is((await call('GET', '')).status, 500);
  assert.is((await call('DELETE', 'root/')).status, 500);
  assert.is(stored(), '{}');
});

test.run();
