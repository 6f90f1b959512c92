/** Repeated imports: `Idempotency-Key` on imports (spec 12.6). */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalDe } from '../../src/console/browser/api/german/refusals-de.ts';
import { make, read } from '../support/catalog.ts';
import { type Received, send, tokenFor } from '../support/client.ts';
import { type ImportOptions, postImport } from '../support/imports.ts';
import { RefusingDisk } from '../support/refusing-disk.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const KEY = 'a key of 255 characters at most'.replaceAll(' ', '-');
const FILE = 'name\r\nQuill\r\nInk\r\n';

let server: Service;

test.before.each(async () => {
  server = await openService();
});

test.after.each(closeServices);

const post = (file = FILE, options: ImportOptions = {}, to = server) =>
  postImport(to, 'brands', file, { key: KEY, ...options });

const replayed = ({ headers }: Received) => headers.get('idempotent-replayed');

const location = ({ headers }: Received) => headers.get('location') ?? '';

function assertFirst(answer: Received): void {
  assert.is(answer.status, 202, answer.text);
  assert.is(replayed(answer), null);
}

function assertReplay(answer: Received, first: Received): void {
  assert.is(answer.status, 202, answer.text);
  assert.is(replayed(answer), 'true');
  assert.is(answer.text, first.text);
  assert.is(location(answer), location(first));
}

function assertReused(answer: Received, what: string): void {
  assert.is(answer.status, 422, `${what} ${answer.text}`);
  assert.match(answer.json.error, /^the Idempotency-Key was used with another request/);
}

/** An import that has ended is shown once its file is removed, which the list does not wait for. */
async function atRest(to = server): Promise<void> {
  await until('all imports have ended', async () => {
    const listed: { id: number }[] = await read(to, '/admin/imports/');
    const all = await Promise.all(listed.map(({ id }) => read(to, `/admin/imports/${id}/`)));
    return all.every(({ state }) => !['checking', 'writing'].includes(state));
  });
}

const brands = async (to = server): Promise<string[]> =>
  (await read(to, '/admin/brands/')).map(({ name }: { name: string }) => name);

const importFiles = ({ data }: Service) =>
  readdirSync(join(data, 'imports'))
    .filter((name) => name !== 'namespace')
    .sort();

test('a file that is sent again with the same key is imported once, and the response is replayed', async () => {
  const first = await post();
  assertFirst(first);
  assertReplay(await post(), first);
  await atRest();
  assertReplay(await post(), first);
  assert.equal(await brands(), ['Quill', 'Ink']);
  assert.equal(importFiles(server), [`${first.json.id}.json`], 'no copy of the file is left');
  assert.is((await read(server, location(first))).state, 'done');
});

test('after a restart the same key and file are still a replay', async () => {
  const first = await post();
  await atRest();
  await server.stop();
  const again = await openService({ data: server.data });
  assertReplay(await post(FILE, {}, again), first);
  assert.equal(await brands(again), ['Quill', 'Ink']);
});

test('where the id of the first response is another import, it is not replayed', async () => {
  const first = await post();
  await atRest();
  await server.stop();
  // As after a restore, and as on another host that takes over.
  rmSync(join(server.data, 'imports'), { recursive: true });
  const after = await openService({ data: server.data });
  const other = await postImport(after, 'brands', 'name\r\nPaper\r\n');
  assert.is(other.json.id, first.json.id);
  const again = await post(FILE, {}, after);
  assert.is(again.status, 422, again.text);
  assert.match(again.json.error, /^the file was received .* by another host, or before a restore/);
  assert.match(
    refusalDe(again.json.error) ?? '',
    /^Ein anderer Server hat diese Datei schon angenommen/,
  );
  const anew = await post(FILE, { key: 'another' }, after);
  assertFirst(anew);
  assertReplay(await post(FILE, { key: 'another' }, after), anew);
  await atRest(after);
  assert.equal(await brands(after), ['Quill', 'Ink', 'Paper', 'Quill', 'Ink']);
});

test('of concurrent requests with the same key and file one is imported', async () => {
  const answers = await Promise.all([post(), post(), post(), post()]);
  const [first, ...more] = answers.filter((answer) => replayed(answer) === null);
  assert.ok(first !== undefined && more.length === 0);
  for (const answer of answers) if (answer !== first) assertReplay(answer, first);
  await atRest();
  assert.equal(await brands(), ['Quill', 'Ink']);
});

test('without a key the same file is imported each time', async () => {
  const file = (to = server) => postImport(to, 'brands', FILE);
  assertFirst(await file());
  assertFirst(await file());
  await atRest();
  assert.equal(await brands(), ['Quill', 'Ink', 'Quill', 'Ink']);
});

test('another file, format, collection or parameter with the same key is 422, and is not imported', async () => {
  const first = await post();
  assertFirst(first);
  await atRest();
  assertReused(await post('name\r\nQuill\r\n'), 'file');
  assertReused(await post(FILE, { format: 'ndjson' }), 'format');
  assertReused(await post(FILE, { query: 'match=name' }), 'match');
  assertReused(await post(FILE, { query: 'dry_run=true' }), 'dry run');
  assertReused(await post(FILE, { query: 'create_missing=brands' }), 'what is created');
  assertReused(await postImport(server, 'categories', FILE, { key: KEY }), 'collection');
  const create = { body: { name: 'Quill' }, headers: { 'idempotency-key': KEY } };
  assertReused(await send(server, 'POST', '/admin/brands/', create), 'an object');
  assertReplay(await post(), first);
  assert.equal(await brands(), ['Quill', 'Ink']);
  assert.equal(importFiles(server), [`${first.json.id}.json`]);
});

test('another order of the values of create_missing is a replay', async () => {
  const [one, other] = ['create_missing=brands,specs', 'create_missing=specs,brands'];
  const first = await post(FILE, { query: one });
  assertFirst(first);
  assertReplay(await post(FILE, { query: other }), first);
});

test('a key belongs to the subject of the token', async () => {
  const ann = await tokenFor('editor', { sub: 'ann' });
  const bob = await tokenFor('editor', { sub: 'bob' });
  const first = await post(FILE, { token: ann });
  assertFirst(first);
  assertFirst(await post('name\r\nHis\r\n', { token: bob }));
  assertReplay(await post(FILE, { token: ann }), first);
});

test('a failed request is not remembered, and its key can be used again', async () => {
  const small = await openService({ maxImport: 100 });
  const malformed = await post(FILE, { key: '"' }, small);
  assert.is(malformed.status, 400);
  assert.match(malformed.json.error, /^Idempotency-Key must be/);
  assert.is((await post(`name\r\n${'x'.repeat(200)}\r\n`, {}, small)).status, 413);
  assert.is((await post(FILE, { query: 'match=shape' }, small)).status, 400);
  assertFirst(await post(FILE, {}, small));
});

test('if the key cannot be stored, the response is 500, nothing is imported, and no file is left', async () => {
  const disk = new RefusingDisk();
  const full = await openService({ disk });
  disk.refusal = (step, path) => (step === 'link' && path.includes('/changes/') ? 'ENOSPC' : null);
  const answer = await post(FILE, {}, full);
  assert.is(answer.status, 500, answer.text);
  disk.refusal = null;
  assert.equal(importFiles(full), []);
  assert.equal(await read(full, '/admin/imports/'), []);
  assertFirst(await post(FILE, {}, full));
  await atRest(full);
  assert.equal(await brands(full), ['Quill', 'Ink']);
});

test('a key with which an object was created is 422 for an import', async () => {
  const headers = { 'idempotency-key': KEY };
  await send(server, 'POST', '/admin/brands/', { body: { name: 'First' }, headers });
  assertReused(await post(), 'a file');
  await make(server, '/admin/brands/', { name: 'Second' });
  assert.equal(await brands(), ['First', 'Second']);
});

test.run();
