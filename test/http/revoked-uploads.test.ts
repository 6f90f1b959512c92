/** A token that is revoked while the body of its request arrives changes nothing (spec 6.3). */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Received, send, streamOf, tokenFor } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

let server: Service;

test.before(async () => {
  server = await openService();
});

test.after(closeServices);

/** Sends a request whose body ends after `meanwhile`. */
async function upload(
  path: string,
  text: string,
  { token, type }: { readonly token: string | null; readonly type: string },
  meanwhile: () => Promise<void>,
): Promise<Received> {
  let hasBegun = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    hasBegun = true;
    yield Buffer.from(text.slice(0, 5));
    await ended;
    yield Buffer.from(text.slice(5));
  }
  const headers = { 'content-type': type };
  const answer = send(server, 'POST', path, { body: streamOf(pieces()), headers, token });
  await until('the upload has begun', () => hasBegun);
  await meanwhile();
  end();
  return answer;
}

const JSON_TYPE = 'application/json';

const UPLOADS = {
  'an item': ['/admin/brands/', JSON_TYPE, '{"name":"Ondine","logo":"","first_letter":"O"}', 201],
  'a bulk write': [
    '/admin/brands/bulk/',
    JSON_TYPE,
    '[{"name":"Ondine","logo":"","first_letter":"O"}]',
    201,
  ],
  'an account': [
    '/admin/users/',
    JSON_TYPE,
    '{"name":"backdoor","role":"admin","password":"correct horse"}',
    201,
  ],
  'an import': ['/admin/brands/imports/', 'text/csv', 'name\nOndine\n', 202],
} as const;

async function revoke(token: string): Promise<void> {
  const { status } = await send(server, 'DELETE', `/admin/tokens/${decodeJwt(token).jti}/`);
  assert.is(status, 204);
}

const counts = () =>
  Promise.all(
    ['/admin/brands/', '/admin/users/', '/admin/imports/', '/admin/audits/'].map(async (path) =>
      (await send(server, 'GET', path)).headers.get('x-total-count'),
    ),
  );

for (const [what, [path, type, text, status]] of Object.entries(UPLOADS)) {
  test(`a token that is revoked while ${what} arrives is 401, and nothing is written`, async () => {
    const token = await tokenFor('admin');
    const before = await counts();
    const refused = await upload(path, text, { token, type }, () => revoke(token));
    assert.is(refused.status, 401, refused.text);
    assert.is(refused.json.error, 'the token was revoked; get a new one');
    assert.match(refused.headers.get('www-authenticate') ?? '', 'error="invalid_token"');
    assert.equal(await counts(), before);
  });

  test(`a token that stays valid while ${what} arrives slowly writes it`, async () => {
    const token = await tokenFor('admin');
    const accepted = await upload(path, text, { token, type }, async () => {});
    assert.is(accepted.status, status, accepted.text);
  });
}

test.run();
