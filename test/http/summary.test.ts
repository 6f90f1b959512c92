/** spec 13.3: the summary of the catalog. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backup } from '../../src/cli/commands/backup/backup.ts';
import { send, tokenFor } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { RefusingDisk } from '../support/refusing-disk.ts';
import { closeServices, contextOf, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const DAY = 24 * 3_600_000;
const PLENTY = 100 * 1024 ** 3;

test.after.each(closeServices);

const read = async (server: Service, token?: string) => {
  const answer = await send(server, 'GET', '/admin/summary/', token === undefined ? {} : { token });
  assert.is(answer.status, 200, answer.text);
  return answer.json;
};

const codesOf = async (server: Service, token?: string): Promise<readonly string[]> =>
  (await read(server, token)).warnings.map(({ code }: { code: string }) => code);

/** Makes a backup of the data directory of a service, as the command does. */
const backUp = (data: string) =>
  backup({ data, file: join(temporaryDirectory(), 'backup.json') }, contextOf());

const freeSpace = () => Promise.resolve(PLENTY);

test('the summary has the count of every collection, the waiting pages and the bytes of the store', async () => {
  const server = await openService({ demo: true, freeSpace });
  await until('the pages are made', async () => (await read(server)).pages.waiting === 0);
  const { counts, pages, store } = await read(server);
  assert.equal(Object.keys(counts).sort(), [
    'books',
    'brands',
    'categories',
    'goods',
    'options',
    'skus',
    'specs',
  ]);
  for (const [name, count] of Object.entries(counts)) {
    const path = name === 'books' ? '/books/?limit=1' : `/admin/${name}/?limit=1`;
    assert.is((await send(server, 'GET', path)).headers.get('x-total-count'), String(count), name);
  }
  assert.equal(pages, { waiting: 0, failed: 0 });
  assert.ok(store.bytes > 1000);
});

test('every role may read the summary; only admins see the latest 20 changes', async () => {
  const server = await openService({ freeSpace });
  for (const name of Array.from({ length: 22 }, (_, index) => `Brand "${index}"`)) {
    await send(server, 'POST', '/admin/brands/', { body: { name } });
  }
  await send(server, 'POST', '/admin/users/', {
    body: { name: 'ann', role: 'viewer', password: 'correct horse battery' },
  });
  await send(server, 'DELETE', '/admin/brands/1/');
  for (const role of ['viewer', 'editor']) {
    assert.is((await read(server, await tokenFor(role))).changes, null, role);
  }
  const { changes } = await read(server);
  assert.is(changes.length, 20);
  const [deleted, user, brand] = changes;
  assert.equal(
    { ...deleted, time: '' },
    {
      id: 24,
      time: '',
      subject: 'tester',
      action: 'delete',
      resource: 'brands',
      resource_id: 1,
      label: 'Brand "0"',
    },
  );
  assert.equal([user.action, user.resource, user.label], ['create', 'users', 'ann']);
  assert.equal([brand.action, brand.resource_id, brand.label], ['create', 22, 'Brand "21"']);
  assert.is((await send(server, 'GET', '/admin/summary/', { token: null })).status, 401);
});

test('an empty store on a disk with free space has no warnings', async () => {
  assert.equal(await codesOf(await openService({ freeSpace })), []);
});

test('the summary warns if the disk is nearly full, or if its free space is unknown', async () => {
  const server = await openService({ freeSpace: () => Promise.resolve(900 * 1024 ** 2) });
  const { warnings } = await read(server);
  assert.equal(warnings, [
    { code: 'disk_nearly_full', message: 'The disk is nearly full: 900 MiB are left.' },
  ]);
  const unknown = await openService({ freeSpace: () => Promise.reject(new Error('no statfs')) });
  assert.equal(await codesOf(unknown), ['disk_unknown']);
  assert.match(unknown.log.join('\n'), 'no statfs');
  assert.equal(await codesOf(await openService()), [], 'the disk of the tests has space');
});

test('the summary warns if there is no backup, if the last is 9 days old, or if that is unknown', async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const token = await tokenFor('admin', { exp: Math.floor((now + 30 * DAY) / 1000) });
  const server = await openService({ freeSpace, clock });
  assert.equal(await codesOf(server, token), []);
  await send(server, 'POST', '/books/', { body: { name: 'A book', pub_date: '2026-01-01' } });
  now += 20_000;
  assert.equal((await read(server, token)).warnings, [
    { code: 'no_backup', message: 'No backup has been made yet.' },
  ]);
  await backUp(server.data);
  now += 20_000;
  assert.equal(await codesOf(server, token), []);
  now += 6 * DAY;
  assert.equal(await codesOf(server, token), []);
  now += 3 * DAY;
  assert.equal((await read(server, token)).warnings, [
    { code: 'no_backup', message: 'The last backup was made 9 days ago.' },
  ]);
  writeFileSync(join(server.data, 'backup.json'), '{}');
  now += 20_000;
  assert.equal(await codesOf(server, token), ['backup_unknown']);
  assert.match(server.log.join('\n'), 'backup.json');
});

test('the summary contains the currency of the server', async () => {
  assert.is((await read(await openService({ freeSpace }))).currency, 'USD');
  const pages = { currency: 'JPY' };
  assert.is((await read(await openService({ freeSpace, pages }))).currency, 'JPY');
});

test('the summary warns if memory is scarce', async () => {
  const server = await openService({ freeSpace, isMemoryScarce: () => true });
  assert.equal(await codesOf(server), ['memory_scarce']);
});

test('the summary warns if pages cannot be written', async () => {
  const disk = new RefusingDisk();
  const server = await openService({ disk, freeSpace });
  disk.refusal = (_, path) => (path.includes('pages') ? 'ENOSPC' : null);
  await send(server, 'POST', '/admin/categories/', { body: { name: 'Phones' } });
  await until('a page fails', async () => (await read(server)).pages.failed > 0);
  assert.ok((await codesOf(server)).includes('pages_failing'));
  disk.refusal = null;
});

test('the summary warns if writes are rejected', async () => {
  const disk = new RefusingDisk();
  const server = await openService({ disk, freeSpace });
  assert.equal(await codesOf(server), []);
  disk.refusal = (step, path) => (step === 'link' && path.includes('/changes/') ? 'ENOSPC' : null);
  const body = { name: 'Phones' };
  assert.is((await send(server, 'POST', '/admin/categories/', { body })).status, 500);
  assert.equal((await read(server)).warnings, [
    { code: 'not_ready', message: 'The server is not ready: the disk refused a write.' },
  ]);
  disk.refusal = null;
  assert.is((await send(server, 'POST', '/admin/categories/', { body })).status, 201);
  assert.not.ok((await codesOf(server)).includes('not_ready'));
});

test('the summary contains no path of the host', async () => {
  const server = await openService({ freeSpace: () => Promise.reject(new Error('/secret/path')) });
  writeFileSync(join(server.data, 'backup.json'), 'no JSON');
  const { text } = await send(server, 'GET', '/admin/summary/');
  assert.not.match(text, /secret|\/tmp|backup\.json/);
});

test.run();
