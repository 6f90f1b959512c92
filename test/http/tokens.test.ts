/** `/admin/tokens/`: login with a user name and a password, and revocation. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Account, changeAccess } from '../../src/auth/access.ts';
import { addAccount } from '../../src/auth/accounts.ts';
import type { PasswordCheck } from '../../src/auth/passwords.ts';
import type { Role } from '../../src/auth/roles.ts';
import { type Received, send, tokenFor } from '../support/client.ts';
import { accountOf } from '../support/credentials.ts';
import { quickDisk } from '../support/disk.ts';
import { RefusingDisk } from '../support/refusing-disk.ts';
import {
  closeServices,
  openService,
  type Service,
  type ServiceOptions,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const TOKENS = '/admin/tokens/';
const PASSWORD = 'correct horse battery';

let server: Service;

test.before(async () => {
  server = await openWith({ viewer: 'viewer', editor: 'editor', admin: 'admin' });
});

test.after(closeServices);

/** The stored hash of {@link PASSWORD}: hashing takes long, and is tested elsewhere. */
const { password: HASH } = accountOf('anybody');
const verifyPassword: PasswordCheck = (password, hash) =>
  Promise.resolve(password === PASSWORD && hash === HASH);

/** A service with these accounts. */
async function openWith(
  accounts: Readonly<Record<string, Role>>,
  options: ServiceOptions = {},
): Promise<Service> {
  const service = await openService({ ...options, verifyPassword });
  for (const [name, role] of Object.entries(accounts)) await add(service.data, name, { role });
  return service;
}

async function add(data: string, name: string, changes: Partial<Account>): Promise<void> {
  await changeAccess(quickDisk, data, (draft) => addAccount(draft, accountOf(name, changes)));
}

function login(username: string, more: object = {}, to = server, address = '192.0.2.1') {
  const body = { username, password: PASSWORD, ...more };
  return send(to, 'POST', TOKENS, { body, token: null, address });
}

async function tokenOf(username: string, to = server): Promise<string> {
  const { status, json, text } = await login(username, {}, to);
  assert.is(status, 201, text);
  return json.token;
}

const reading = async (token: string, to = server) =>
  (await send(to, 'GET', '/admin/skus/', { token })).status;

const idOf = (token: string) => decodeJwt(token).jti ?? '';

test('a login returns a token with the name and the role of the account', async () => {
  const before = Math.floor(Date.now() / 1000);
  const { status, headers, json } = await login('editor');
  assert.is(status, 201);
  assert.equal(Object.keys(json), ['token', 'expires_at']);
  const { sub, role, iss, aud, iat = 0, exp = 0, jti } = decodeJwt(json.token);
  assert.equal(
    { sub, role, iss, aud },
    {
      sub: 'editor',
      role: 'editor',
      iss: 'catalog-server',
      aud: 'catalog-admin',
    },
  );
  const { alg, kid } = decodeProtectedHeader(json.token);
  assert.equal([alg, kid], ['HS256', 'environment']);
  assert.ok(iat >= before && iat <= before + 10);
  assert.is(exp - iat, 8 * 3600);
  assert.is(json.expires_at, new Date(exp * 1000).toISOString().replace('.000Z', 'Z'));
  assert.is(headers.get('location'), `${TOKENS}${jti}/`);
  assert.is(headers.get('cache-control'), 'no-store');
  assert.is(headers.get('content-type'), 'application/json');
});

test('the token of a login has the permissions of the role of the account', async () => {
  for (const [role, writing] of [
    ['viewer', 403],
    ['editor', 201],
    ['admin', 201],
  ] as const) {
    const token = await tokenOf(role);
    assert.is(await reading(token), 200);
    const written = await send(server, 'POST', '/admin/brands/', { token, body: { name: role } });
    assert.is(written.status, writing, role);
  }
});

test('expires sets the lifetime of the token', async () => {
  for (const [expires, seconds] of [
    ['1s', 1],
    ['90s', 90],
    ['30m', 1800],
    ['7d', 604_800],
    ['3650d', 315_360_000],
  ] as const) {
    const { json } = await login('viewer', { expires });
    const { iat = 0, exp = 0 } = decodeJwt(json.token);
    assert.is(exp - iat, seconds, expires);
  }
});

test('a wrong name, a wrong password and a disabled account get the same 401', async () => {
  await add(server.data, 'off', { role: 'admin', disabled: true });
  const seen = new Set<string>();
  for (const [username, password] of [
    ['viewer', 'wrong horse battery'],
    ['nobody', PASSWORD],
    ['off', PASSWORD],
    ['', PASSWORD],
    ['viewer', ''],
    ['viewer', `${PASSWORD} `],
    ['Viewer', PASSWORD],
    ['viewer', 'x'.repeat(100_000)],
    ['__proto__', PASSWORD],
    ['viewer\u0000', PASSWORD],
  ] as const) {
    const answer = await login(username, { password });
    assert.is(answer.status, 401, username);
    const headers = [...answer.headers].filter(([name]) => name !== 'date');
    seen.add(JSON.stringify([headers, answer.text]));
  }
  assert.is(seen.size, 1);
  const { headers, json } = await login('nobody');
  assert.is(headers.get('www-authenticate'), 'Bearer realm="catalog-admin"');
  assert.equal(json, { error: 'the user name or the password is wrong' });
});

test('a missing user name or password is 401, and does not count as a failed login (spec 6.6)', async () => {
  for (const [body, error] of [
    [{}, 'username: is required; password: is required'],
    [{ username: 'viewer' }, 'password: is required'],
    [{ username: 'viewer', password: null }, 'password: is required'],
    [{ username: null, password: PASSWORD }, 'username: is required'],
  ] as const) {
    // More attempts than the failures that a name may have.
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const answer = await send(server, 'POST', TOKENS, { body, token: null });
      assert.is(answer.status, 401, JSON.stringify(body));
      assert.is(answer.headers.get('www-authenticate'), 'Bearer realm="catalog-admin"');
      assert.equal(answer.json, { error });
    }
  }
  assert.is((await login('viewer')).status, 201);
});

const INVALID: readonly (readonly [body: unknown, fields: Readonly<Record<string, string[]>>])[] = [
  [
    { username: false, password: 7 },
    {
      username: ['must be a string, not a boolean'],
      password: ['must be a string, not a number'],
    },
  ],
  [
    { username: 'x'.repeat(256), password: PASSWORD },
    { username: ['must be at most 255 characters long'] },
  ],
  [
    { username: 'viewer', password: PASSWORD, expires: null },
    { expires: ['must be a string, not null'] },
  ],
  [
    { username: 'viewer', password: PASSWORD, expires: 28_800 },
    { expires: ['must be a string, not a number'] },
  ],
  [[], {}],
  ['text', {}],
  [null, {}],
];

for (const [body, fields] of INVALID) {
  const shown = JSON.stringify(body).slice(0, 60);
  test(`an invalid body of a login is 422 with every problem: ${shown}`, async () => {
    const answer = await send(server, 'POST', TOKENS, { body: JSON.stringify(body), token: null });
    assert.is(answer.status, 422, answer.text);
    assert.equal(answer.json.fields, fields);
    assert.not.match(answer.text, PASSWORD);
  });
}

test('a malformed expires is 422', async () => {
  for (const expires of ['', 'soon', '8', '0h', '-1h', '1.5h', '8H', '3651d', '1y']) {
    const { status, json } = await login('viewer', { expires });
    assert.is(status, 422, expires);
    assert.equal(Object.keys(json.fields), ['expires']);
  }
});

test('if a subject has revoked 100 of its tokens, revoking one more revokes all of them', async () => {
  const busy = await openWith({ ann: 'viewer', admin: 'admin' });
  const kept = await tokenOf('ann', busy);
  for (let each = 0; each < 101; each += 1) {
    assert.is((await send(busy, 'GET', '/admin/brands/', { token: kept })).status, 200, `${each}`);
    const token = await tokenOf('ann', busy);
    const { jti } = decodeJwt(token);
    assert.is((await send(busy, 'DELETE', `${TOKENS}${jti}/`, { token })).status, 204);
  }
  assert.is((await send(busy, 'GET', '/admin/brands/', { token: kept })).status, 401);
  const file = JSON.parse(readFileSync(join(busy.data, 'access.json'), 'utf8'));
  assert.equal(file.revoked_tokens, []);
  const again = await tokenOf('ann', busy);
  assert.ok((decodeJwt(again).iat ?? 0) > 0);
  const token = await tokenOf('admin', busy);
  const body = { disabled: true };
  assert.is((await send(busy, 'PATCH', '/admin/users/ann/', { token, body })).status, 200);
});

test('unknown members of a login are ignored; an invalid body is 400, 413 or 415', async () => {
  assert.is((await login('viewer', { role: 'admin', remember: true })).status, 201);
  const { json } = await login('viewer', { role: 'admin' });
  assert.is(decodeJwt(json.token)['role'], 'viewer', 'the role is the account');
  const sent = (more: object) => send(server, 'POST', TOKENS, { token: null, ...more });
  assert.is((await sent({ body: '{' })).status, 400);
  assert.is((await sent({ body: '{}', headers: { 'content-type': 'text/plain' } })).status, 415);
  assert.is((await sent({ body: ' '.repeat(2 ** 20 + 1) })).status, 413);
  const get = await send(server, 'GET', TOKENS, { token: null });
  assert.equal([get.status, get.headers.get('allow')], [405, 'POST, OPTIONS']);
  const slash = await send(server, 'POST', '/admin/tokens', { token: null, body: {} });
  assert.is(slash.status, 404);
  assert.match(slash.json.error, 'did you mean /admin/tokens/ ?');
});

test('OPTIONS lists username and password as required, and expires as optional', async () => {
  const { status, json } = await send(server, 'OPTIONS', TOKENS, { token: null });
  assert.is(status, 200);
  assert.equal(
    Object.entries<{ required: boolean }>(json.attributes).map(([name, { required }]) => [
      name,
      required,
    ]),
    [
      ['username', true],
      ['password', true],
      ['expires', false],
    ],
  );
});

test('Location of a login has the base path and the version, and DELETE on it revokes the token', async () => {
  const based = await openWith({ ann: 'viewer' }, { basePath: '/api' });
  const body = { username: 'ann', password: PASSWORD };
  const answer = await send(based, 'POST', '/api/1.0/admin/tokens/', { body, token: null });
  const location = answer.headers.get('location') ?? '';
  const { token } = answer.json;
  assert.is(location, `/api/1.0/admin/tokens/${idOf(token)}/`);
  assert.is((await send(based, 'DELETE', location, { token })).status, 204);
  assert.is((await send(based, 'GET', '/api/admin/skus/', { token })).status, 401);
  await based.stop();
});

test('a client of any role can revoke its own token, at once and permanently', async () => {
  for (const role of ['viewer', 'editor', 'admin']) {
    const [token, other] = [await tokenOf(role), await tokenOf(role)];
    assert.is(await reading(token), 200);
    const path = `${TOKENS}${idOf(token)}/`;
    const ended = await send(server, 'DELETE', path, { token });
    assert.equal([ended.status, ended.text], [204, '']);
    assert.is(await reading(token), 401);
    assert.is(await reading(token), 401);
    assert.is((await send(server, 'DELETE', path, { token })).status, 401, 'it opens nothing more');
    assert.is(await reading(other), 200, 'the other goes on');
  }
});

test('an admin can revoke any token; another role is 403 for the tokens of others', async () => {
  const [viewer, editor, admin] = [
    await tokenOf('viewer'),
    await tokenOf('editor'),
    await tokenOf('admin'),
  ];
  const path = `${TOKENS}${idOf(viewer)}/`;
  const forbidden = await send(server, 'DELETE', path, { token: editor });
  assert.equal([forbidden.status, await reading(viewer)], [403, 200]);
  assert.match(forbidden.json.error, 'only its own token');
  assert.is((await send(server, 'DELETE', `${TOKENS}unknown/`, { token: viewer })).status, 403);
  assert.is((await send(server, 'DELETE', path, { token: admin })).status, 204);
  assert.is(await reading(viewer), 401);
  assert.is((await send(server, 'DELETE', path, { token: admin })).status, 204, 'once more');
  assert.is((await send(server, 'DELETE', `${TOKENS}unknown/`, { token: admin })).status, 204);
});

test('only a jti of up to 255 unreserved characters can be revoked', async () => {
  const token = await tokenOf('admin');
  for (const id of ['1', 'a', 'test-1', 'A_b.c-0', 'x'.repeat(255)]) {
    assert.is((await send(server, 'DELETE', `${TOKENS}${id}/`, { token })).status, 204, id);
  }
  const undescribed = 'the description knows no such id';
  for (const id of ['x'.repeat(256), 'a%20b', 'a/b', '.', '..a', 'a+b']) {
    const { status } = await send(server, 'DELETE', `${TOKENS}${id}/`, { token, undescribed });
    assert.ok(status === 404 || (id === '.' && status === 405), `${id}: ${status}`);
  }
  assert.is((await send(server, 'DELETE', `${TOKENS}abc`, { token })).status, 404);
});

test('a token is still revoked after a restart', async () => {
  const first = await openWith({ ann: 'viewer' });
  const token = await tokenOf('ann', first);
  await send(first, 'DELETE', `${TOKENS}${idOf(token)}/`, { token });
  await first.stop();
  const second = await openService({ data: first.data });
  assert.is(await reading(token, second), 401);
  const { revoked_tokens: revoked } = JSON.parse(
    readFileSync(join(first.data, 'access.json'), 'utf8'),
  );
  const { exp = 0, jti } = decodeJwt(token);
  const expires = new Date(exp * 1000).toISOString().replace('.000Z', 'Z');
  assert.equal(revoked, [{ jti, expires }], 'with the expiry, after which it can go');
  await second.stop();
});

test('tokens that are revoked at the same time are all revoked', async () => {
  const admin = await tokenOf('admin');
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, each) => tokenFor('viewer', { jti: `many-${each}` })),
  );
  const ended = await Promise.all(
    tokens.map((_, each) => send(server, 'DELETE', `${TOKENS}many-${each}/`, { token: admin })),
  );
  assert.ok(ended.every(({ status }) => status === 204));
  for (const token of tokens) assert.is(await reading(token), 401);
});

/** Fails to log in until that is 429. @returns the number of failures, and the response. */
async function failUntilSlowed(fail: () => Promise<Received>): Promise<[number, Received]> {
  for (let times = 0; ; times += 1) {
    const answer = await fail();
    if (answer.status === 429) return [times, answer];
    assert.is(answer.status, 401);
  }
}

test('after 10 failures an account is 429 from every address, and no other account is', async () => {
  const own = await openWith({ ann: 'viewer', bob: 'viewer' });
  for (const name of ['ann', 'nobody']) {
    const [times, answer] = await failUntilSlowed(() => login(name, { password: 'wrong' }, own));
    assert.is(times, 10, name);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 300, `${seconds}`);
    assert.equal(answer.json, {
      error: `too many login attempts; try again in ${seconds} seconds`,
    });
  }
  assert.is((await login('ann', {}, own)).status, 429, 'the right password does not help');
  assert.is((await login('ann', {}, own, '192.0.2.2')).status, 429, 'nor does another address');
  const token = await tokenOf('bob', own);
  assert.is(await reading(token, own), 200);
  await own.stop();
});

test('after 100 failures with any names an address is 429, and no other address is', async () => {
  const own = await openWith({ ann: 'viewer' });
  let name = 0;
  const [times] = await failUntilSlowed(async () => {
    name += 1;
    // A success in between makes no difference.
    if (name === 50) await tokenOf('ann', own);
    return login(`name ${name}`, { password: 'wrong' }, own);
  });
  assert.is(times, 100);
  assert.is((await login('ann', {}, own)).status, 429);
  assert.is((await login('ann', {}, own, '192.0.2.2')).status, 201);
  await own.stop();
});

test('60 concurrent successful logins are not slowed down', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => login('viewer')));
  assert.ok(answers.every(({ status }) => status === 201));
});

test('while the file of accounts cannot be read, every token and every login is 500', async () => {
  const own = await openWith({ ann: 'viewer' });
  const token = await tokenOf('ann', own);
  assert.is(await reading(token, own), 200);
  const path = join(own.data, 'access.json');
  const kept = readFileSync(path, 'utf8');
  for (const doubt of [() => chmodSync(path, 0o644), () => writeFileSync(path, '{')]) {
    doubt();
    // An edit by hand takes effect later; a command would wait until it does.
    await until('the doubt counts', async () => (await reading(token, own)) === 500);
    const refused = await send(own, 'GET', '/admin/skus/', { token });
    assert.equal([refused.status, refused.json.error], [500, 'internal server error']);
    assert.is((await login('ann', {}, own)).status, 500);
    assert.is((await send(own, 'GET', '/admin/skus/', { token: null })).status, 401);
    assert.is((await send(own, 'GET', '/books/', { token: null })).status, 200, 'books go on');
    chmodSync(path, 0o600);
    writeFileSync(path, kept);
    await until('it is right again', async () => (await reading(token, own)) === 200);
  }
  await own.stop();
  const told = own.log.join('\n');
  assert.match(told, `chmod 600 ${path}`);
  assert.match(told, `${path} is not a file of accounts`);
  assert.not.match(told, PASSWORD);
});

test('a revocation that cannot be written is 500, and the token stays valid until one succeeds', async () => {
  const disk = new RefusingDisk();
  const own = await openService({ disk });
  const token = await tokenFor('viewer', { jti: 'mine' });
  disk.refusal = (step, path) =>
    step === 'rename' && path.endsWith('access.json') ? 'ENOSPC' : null;
  assert.is((await send(own, 'DELETE', `${TOKENS}mine/`, { token })).status, 500);
  assert.is(await reading(token, own), 200);
  disk.refusal = null;
  assert.is((await send(own, 'DELETE', `${TOKENS}mine/`, { token })).status, 204);
  assert.is(await reading(token, own), 401);
  await own.stop();
  assert.match(own.log.join(), 'access.json cannot be written');
});

test.run();
