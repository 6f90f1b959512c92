/** SPEC 4.1: the book endpoints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;

test.before(async () => {
  server = await startServer();
});

test.after(async () => {
  await server.stop();
});

test('POST creates a book with zero counts and no image, and names its place', async () => {
  const body = { name: 'Emma', pub_date: '1815-12-23' };
  const created = await send(server, 'POST', '/books/', { body, token: null });
  assert.is(created.status, 201);
  assert.equal(Object.entries(created.json), [
    ['id', 1],
    ['name', 'Emma'],
    ['pub_date', '1815-12-23'],
    ['commentcount', 0],
    ['readcount', 0],
    ['image', ''],
  ]);
  assert.is(created.headers.get('location'), '/books/1/');
});

test('an unknown book is 404 with an empty object, whatever the method', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    // The lookup comes before the body is validated: what is no JSON at all is still a 404.
    const body = method === 'PUT' || method === 'PATCH' ? { body: '{' } : {};
    const answer = await send(server, method, '/books/99/', { ...body, token: null });
    assert.is(answer.status, 404, method);
    assert.is(answer.text, '{}', method);
  }
});

test.run();
