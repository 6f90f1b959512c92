/** spec 6.8: a token of an account is renewed without the password. */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AccessDraft, changeAccess } from '../../src/auth/access.ts';
import { addAccount, changeAccount, endToken, removeAccount } from '../../src/auth/accounts.ts';
import { type Received, send, tokenFor } from '../support/client.ts';
import { accountOf } from '../support/credentials.ts';
import { quickDisk } from '../support/disk.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const TOKENS = '/admin/tokens/';
const RENEWAL = '/admin/tokens/renewal/';
const DAY = 24 * 3600;

let server: Service;

test.before(async () => {
  server = await openService({ verifyPassword: () => Promise.resolve(true) });
});

test.after(closeServices);

const changing = (change: (draft: AccessDraft, now: number) => unknown) =>
  changeAccess(quickDisk, server.data, change);

/** Adds an account and logs in. @returns the token. */
async function loggedIn(username: string, more: object = {}): Promise<string> {
  await changing((draft) => addAccount(draft, accountOf(username)));
  const body = { username, password: 'any', ...more };
  return (await send(server, 'POST', TOKENS, { body, token: null })).json.token;
}

const renew = (token: string | null, body?: unknown): Promise<Received> =>
  send(server, 'POST', RENEWAL, { token, body });

const reads = async (token: string) =>
  (await send(server, 'GET', '/admin/skus/', { token })).status;

/** A token like the renewal of a login of the account `age` seconds ago. */
function tokenOfLogin(sub: string, age: number): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return tokenFor('editor', { sub, jti: `old-${age}`, auth_time: now - age });
}

test('a renewed token is another token of the same account with the same lifetime', async () => {
  const token = await loggedIn('ann', { expires: '2h' });
  for (const body of [undefined, {}]) {
    const { status, headers, json } = await renew(token, body);
    assert.is(status, 201);
    assert.equal(Object.keys(json), ['token', 'expires_at']);
    const before = decodeJwt(token);
    const { jti, exp = 0, iat = 0, ...rest } = decodeJwt(json.token);
    assert.is.not(jti, before.jti);
    assert.is(exp - iat, 7200, 'as long as the login asked for');
    assert.equal(rest, {
      sub: 'ann',
      role: 'editor',
      auth_time: before.iat,
      iss: 'catalog-server',
      aud: 'catalog-admin',
    });
    assert.is(json.expires_at, new Date(exp * 1000).toISOString().replace('.000Z', 'Z'));
    assert.is(headers.get('location'), `${TOKENS}${jti}/`);
    assert.is(headers.get('cache-control'), 'no-store');
    assert.is(await reads(json.token), 200);
  }
  assert.is(await reads(token), 200, 'the first one stays valid');
});

test('a renewed token can be renewed again, and keeps the time of the login', async () => {
  const token = await loggedIn('chain');
  const { json: second } = await renew(token);
  const { status, json: third } = await renew(second.token);
  assert.is(status, 201);
  assert.is(decodeJwt(third.token)['auth_time'], decodeJwt(token)['auth_time']);
});

test('a renewed token has the current role of the account', async () => {
  await changing((draft) => addAccount(draft, accountOf('demoted', { role: 'viewer' })));
  const { json } = await renew(await tokenOfLogin('demoted', 0));
  assert.is(decodeJwt(json.token)['role'], 'viewer');
});

test('renewals end 30 days after the login, and so does the last renewed token', async () => {
  await changing((draft) => addAccount(draft, accountOf('old')));
  const { status, json } = await renew(await tokenOfLogin('old', 30 * DAY - 60));
  assert.is(status, 201);
  const { exp = 0, auth_time: login = 0 } = decodeJwt(json.token) as Record<string, number>;
  assert.is(exp - login, 30 * DAY);
  const token = await tokenOfLogin('old', 30 * DAY);
  const refused = await renew(token);
  assert.is(refused.status, 401);
  assert.match(refused.json.error, 'the login was more than 30 days ago; log in again');
  assert.match(
    refused.headers.get('www-authenticate') ?? '',
    'error="insufficient_user_authentication", max_age="2592000"',
  );
  assert.is(await reads(token), 200, 'it lives until it expires');
});

test('the renewal of a token that was issued without a login is 403', async () => {
  await changing((draft) => addAccount(draft, accountOf('robot')));
  const refused = await renew(await tokenFor('editor', { sub: 'robot' }));
  assert.is(refused.status, 403);
  assert.match(refused.json.error, 'POST /admin/tokens/');
});

test('a renewal without a valid token is 401', async () => {
  assert.is((await renew(null)).status, 401);
  assert.is((await renew('x.y.z')).status, 401);
});

test('a token whose auth_time is not a date is 401, also for an account that may renew', async () => {
  await changing((draft) => addAccount(draft, accountOf('undated')));
  for (const auth_time of ['yesterday', -1]) {
    const token = await tokenFor('editor', { sub: 'undated', auth_time });
    assert.is((await renew(token)).status, 401);
    assert.is(await reads(token), 401);
  }
});

test('a renewal is 401 for a disabled or removed account, and for a revoked token', async () => {
  for (const [name, end] of [
    ['disabled', (draft, now) => changeAccount(draft, 'disabled', { disabled: true }, now)],
    ['removed', (draft, now) => removeAccount(draft, 'removed', now)],
  ] as const satisfies (readonly [string, (draft: AccessDraft, now: number) => unknown])[]) {
    const token = await loggedIn(name);
    await changing(end);
    assert.is((await renew(token)).status, 401, name);
  }
  const token = await loggedIn('ended');
  const { json } = await renew(token);
  await changing((draft) => endToken(draft, decodeJwt(token).jti ?? '', null));
  assert.is((await renew(token)).status, 401);
  assert.is((await renew(json.token)).status, 201, 'the other one was not ended');
});

test('a renewal is 401 for a subject that has no account', async () => {
  assert.is((await renew(await tokenOfLogin('stranger', 0))).status, 401);
});

test('the body of a renewal may be a JSON object; malformed JSON is 400, an array is 422', async () => {
  const token = await loggedIn('body');
  assert.is((await renew(token, 'no JSON')).status, 400);
  assert.is((await renew(token, [])).status, 422);
  assert.is((await renew(token, { expires: '9d' })).status, 201);
});

test.run();
