/** `--protect-books`: writing books requires the role editor; reading needs no token. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

test.after(closeServices);

const BOOK = { name: 'Emma', pub_date: '1815-12-23' };

let server: Service;

test.before(async () => {
  server = await openService({ protectBooks: true });
});

const WRITES: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/books/', BOOK],
  ['PUT', '/books/1/', BOOK],
  ['PATCH', '/books/1/', { name: 'Emma II' }],
  ['DELETE', '/books/1/'],
  ['DELETE', '/1.0/books/1/'],
];

for (const [method, path, body] of WRITES) {
  test(`${method} ${path} is 401 without a valid token, and 403 for a viewer`, async () => {
    const refused = await send(server, method, path, { body, token: null });
    assert.is(refused.status, 401);
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer /);
    assert.is(refused.headers.get('cache-control'), 'no-store');
    const token = await tokenFor('viewer');
    assert.is((await send(server, method, path, { body, token })).status, 403);
    const malformed = await send(server, method, path, { body, token: 'x' });
    assert.is(malformed.status, 401);
  });
}

test('an editor may write books, and the response to POST has Cache-Control: no-store', async () => {
  const token = await tokenFor('editor');
  const created = await send(server, 'POST', '/books/', { body: BOOK, token });
  assert.is(created.status, 201);
  assert.is(created.headers.get('cache-control'), 'no-store');
  const path = `/books/${created.json.id}/`;
  const etag = created.headers.get('etag') ?? '';
  const headers = { 'If-Match': etag };
  const changed = await send(server, 'PATCH', path, { body: { name: 'Emma II' }, token, headers });
  assert.is(changed.status, 200);
  assert.is((await send(server, 'DELETE', path, { token, headers })).status, 412);
  assert.is((await send(server, 'DELETE', path, { token })).status, 204);
});

test('reading books needs no token, and conditional requests work', async () => {
  const token = await tokenFor('editor');
  const { id } = (await send(server, 'POST', '/books/', { body: BOOK, token })).json;
  const read = await send(server, 'GET', `/books/${id}/`, { token: null });
  assert.is(read.status, 200);
  assert.is(read.headers.get('cache-control'), 'no-cache');
  const headers = { 'If-None-Match': read.headers.get('etag') ?? '' };
  assert.is((await send(server, 'GET', `/books/${id}/`, { token: null, headers })).status, 304);
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    assert.is((await send(server, method, '/books/', { token: null })).status, 200, method);
  }
  assert.is((await send(server, 'PUT', '/healthz', { token: null })).status, 405);
});

test('with --protect-books the API description requires a token for writing books', async () => {
  const { json } = await send(server, 'GET', '/openapi.json', { token: null });
  assert.equal(json.paths['/books/'].get.security, []);
  assert.equal(json.paths['/books/'].post.security, [{ token: [] }]);
  assert.equal(json.paths['/books/{pk}/'].delete.security, [{ token: [] }]);
  assert.ok('401' in json.paths['/books/'].post.responses);
  const open = await openService();
  const described = (await send(open, 'GET', '/openapi.json', { token: null })).json;
  assert.equal(described.paths['/books/'].post.security, []);
  await open.stop();
});

test.run();
