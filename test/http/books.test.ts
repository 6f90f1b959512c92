/** spec 1.5 and 3.6: the book endpoints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Sent, send, tokenFor } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

/** Books of the demo catalog: they have counts, which no request can set. */
const DEMO_BOOKS = 12;
const EMMA = { name: 'Emma', pub_date: '1815-12-23' };

let server: Service;

test.before(async () => {
  server = await openService({ demo: true });
});

test.after(closeServices);

/** Sends a request without a token. */
function ask(method: string, path: string, sent: Sent = {}) {
  return send(server, method, path, { token: null, ...sent });
}

async function makeBook(): Promise<number> {
  const created = await ask('POST', '/books/', { body: EMMA });
  assert.is(created.status, 201);
  return created.json.id;
}

async function answersNotFound(path: string): Promise<void> {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    // The book is looked up before the body is parsed: a malformed body is still 404.
    const body = method === 'PUT' || method === 'PATCH' ? { body: '{' } : {};
    const answer = await ask(method, path, body);
    assert.is(answer.status, 404, method);
    assert.is(answer.text, '{}', method);
    assert.is(answer.headers.get('content-type'), 'application/json', method);
  }
  const head = await ask('HEAD', path);
  assert.is(head.status, 404);
  assert.is(head.text, '');
}

test('POST creates a book with zero counts and no image, and Location is its path', async () => {
  const created = await ask('POST', '/books/', { body: EMMA });
  assert.is(created.status, 201);
  assert.equal(Object.entries(created.json), [
    ['id', DEMO_BOOKS + 1],
    ['name', 'Emma'],
    ['pub_date', '1815-12-23'],
    ['commentcount', 0],
    ['readcount', 0],
    ['image', ''],
  ]);
  assert.is(created.headers.get('location'), `/books/${DEMO_BOOKS + 1}/`);
  assert.is(created.headers.get('content-type'), 'application/json');
  const read = await ask('GET', `/books/${DEMO_BOOKS + 1}/`);
  assert.is(read.text, created.text);
});

test('GET returns one book with its fields in the order of the specification', async () => {
  const { status, json, headers } = await ask('GET', '/books/1/');
  assert.is(status, 200);
  assert.is(headers.get('content-type'), 'application/json');
  assert.equal(Object.entries(json), [
    ['id', 1],
    ['name', 'Pride and Prejudice'],
    ['pub_date', '1813-01-28'],
    ['commentcount', 418],
    ['readcount', 9240],
    ['image', ''],
  ]);
});

test('PUT replaces name and pub_date and keeps counts and image', async () => {
  const body = { name: 'The Whale', pub_date: '1851-11-14' };
  const replaced = await ask('PUT', '/books/4/', { body });
  assert.is(replaced.status, 200);
  assert.equal(Object.entries(replaced.json), [
    ['id', 4],
    ['name', 'The Whale'],
    ['pub_date', '1851-11-14'],
    ['commentcount', 164],
    ['readcount', 3970],
    ['image', ''],
  ]);
  assert.is((await ask('GET', '/books/4/')).text, replaced.text);
});

test('PATCH changes only the fields that were sent', async () => {
  const before = (await ask('GET', '/books/5/')).json;
  const changed = await ask('PATCH', '/books/5/', { body: { pub_date: '1859-11-25' } });
  assert.is(changed.status, 200);
  assert.equal(changed.json, { ...before, pub_date: '1859-11-25' });
  const same = await ask('PATCH', '/books/5/', { body: {} });
  assert.is(same.status, 200);
  assert.is(same.text, changed.text);
});

test('counts, image, id and unknown members of a body are ignored and never stored', async () => {
  const extra = { id: 1, commentcount: 7, readcount: 7, image: 'x.png', price: 7 };
  const created = await ask('POST', '/books/', { body: { ...extra, ...EMMA } });
  assert.is(created.status, 201);
  const { id } = created.json;
  assert.is.not(id, 1);
  const expected = { id, ...EMMA, commentcount: 0, readcount: 0, image: '' };
  assert.equal(created.json, expected);
  for (const method of ['PUT', 'PATCH']) {
    const written = await ask(method, `/books/${id}/`, { body: { ...extra, ...EMMA } });
    assert.is(written.status, 200, method);
    assert.equal(written.json, expected, method);
  }
  assert.equal((await ask('GET', `/books/${id}/`)).json, expected);
});

test('DELETE is 204 without a body; afterwards the book is 404 for every method', async () => {
  const id = await makeBook();
  const deleted = await ask('DELETE', `/books/${id}/`);
  assert.is(deleted.status, 204);
  assert.is(deleted.text, '');
  assert.is(deleted.headers.get('content-type'), null);
  await answersNotFound(`/books/${id}/`);
  const { json } = await ask('GET', '/books/');
  assert.not.ok(json.some((book: { id: number }) => book.id === id));
});

test('an unknown book is 404 with an empty object for every method', async () => {
  for (const pk of ['99999', '0', '99999999999999999999999'])
    await answersNotFound(`/books/${pk}/`);
});

test('books can be read and written with a valid token, with a bad one and without one', async () => {
  const viewer = await tokenFor('viewer');
  for (const token of [null, 'nonsense', viewer]) {
    const created = await ask('POST', '/books/', { body: EMMA, token });
    assert.is(created.status, 201, String(token));
    const path = `/books/${created.json.id}/`;
    assert.is((await ask('GET', path, { token })).status, 200);
    assert.is((await ask('PUT', path, { body: EMMA, token })).status, 200);
    assert.is((await ask('DELETE', path, { token })).status, 204);
  }
});

test('an id is never used again, even after a deletion and a restart', async () => {
  const first = await makeBook();
  const second = await makeBook();
  assert.is(second, first + 1);
  await ask('DELETE', `/books/${second}/`);
  const third = await makeBook();
  assert.is(third, first + 2);
  await ask('DELETE', `/books/${third}/`);
  const before = await ask('GET', '/books/');
  await server.stop();
  server = await openService({ data: server.data });
  assert.is((await ask('GET', '/books/')).text, before.text);
  await answersNotFound(`/books/${third}/`);
  assert.is(await makeBook(), first + 3);
});

test.run();
