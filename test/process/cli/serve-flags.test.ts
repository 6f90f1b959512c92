/** spec 11.3 to 11.5: flags and variables of `serve` for body sizes, CORS, books and pages. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Received, send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { killServers, startServer } from '../../support/server.ts';

test.after(killServers);

const SHOP = 'https://shop.example';

/** The body of a book with exactly this size in bytes. */
function bookOf(size: number): string {
  const shortest = JSON.stringify({ name: 'E', pub_date: '1815-12-23', x: '' }).length;
  return JSON.stringify({ name: 'E', pub_date: '1815-12-23', x: 'x'.repeat(size - shortest) });
}

type Server = Parameters<typeof send>[0];

const post = (server: Server, size: number) =>
  send(server, 'POST', '/books/', { body: bookOf(size) });

/** Checks that the limit is exactly this number of bytes. */
async function assertLimit(server: Server, bytes: number): Promise<void> {
  assert.is((await post(server, bytes)).status, 201, `${bytes} bytes`);
  const over = await post(server, bytes + 1);
  assert.is(over.status, 413, `${bytes + 1} bytes`);
  assert.match(over.json.error, `${bytes} bytes`);
}

async function allowedFor(server: Server, origin: string): Promise<string | null> {
  const answer: Received = await send(server, 'GET', '/books/', { headers: { origin } });
  assert.is(answer.status, 200);
  return answer.headers.get('access-control-allow-origin');
}

const SIZES: readonly (readonly [text: string, bytes: number])[] = [
  ['100', 100],
  ['1KiB', 1024],
  ['2MiB', 2 * 1024 * 1024],
];

for (const [text, bytes] of SIZES) {
  test(`--max-body ${text} accepts ${bytes} bytes, and one more is 413`, async () => {
    const server = await startServer({ args: ['--max-body', text] });
    await assertLimit(server, bytes);
    await server.stop();
  });
}

test('CATALOG_MAX_BODY is used unless --max-body is given; an empty one counts as unset', async () => {
  const variable = await startServer({ env: { CATALOG_MAX_BODY: '200' } });
  await assertLimit(variable, 200);
  await variable.stop();
  for (const CATALOG_MAX_BODY of ['200', 'x']) {
    const flag = await startServer({ env: { CATALOG_MAX_BODY }, args: ['--max-body', '300'] });
    await assertLimit(flag, 300);
    await flag.stop();
  }
  const empty = await startServer({ env: { CATALOG_MAX_BODY: '' } });
  await assertLimit(empty, 1024 * 1024);
  await empty.stop();
});

test('CATALOG_CORS_ORIGIN is a list with commas, and spaces around them are ignored', async () => {
  const value = `${SHOP} , http://localhost:5173,https://other.example:8443`;
  const server = await startServer({ env: { CATALOG_CORS_ORIGIN: value } });
  for (const origin of [SHOP, 'http://localhost:5173', 'https://other.example:8443']) {
    assert.is(await allowedFor(server, origin), origin);
  }
  for (const origin of ['http://shop.example', 'http://localhost', value, '*']) {
    assert.is(await allowedFor(server, origin), null, origin);
  }
  await server.stop();
});

test('--cors-origin replaces the origins of CATALOG_CORS_ORIGIN', async () => {
  for (const CATALOG_CORS_ORIGIN of ['https://variable.example', '*', 'x']) {
    const server = await startServer({
      env: { CATALOG_CORS_ORIGIN },
      args: ['--cors-origin', SHOP],
    });
    assert.is(await allowedFor(server, SHOP), SHOP, CATALOG_CORS_ORIGIN);
    assert.is(await allowedFor(server, 'https://variable.example'), null, CATALOG_CORS_ORIGIN);
    await server.stop();
  }
});

test('an empty CATALOG_CORS_ORIGIN counts as unset', async () => {
  const server = await startServer({ env: { CATALOG_CORS_ORIGIN: '' } });
  assert.is(await allowedFor(server, SHOP), null);
  await server.stop();
});

test('CATALOG_PROTECT_BOOKS is yes or no, and --protect-books overrides it', async () => {
  const write = async (args: readonly string[], value: string) => {
    const server = await startServer({ args, env: { CATALOG_PROTECT_BOOKS: value } });
    const body = { name: 'Emma', pub_date: '1815-12-23' };
    const { status } = await send(server, 'POST', '/books/', { body, token: null });
    await server.stop();
    return status;
  };
  assert.is(await write([], 'yes'), 401);
  assert.is(await write([], 'no'), 201);
  assert.is(await write([], ''), 201);
  assert.is(await write(['--protect-books'], 'no'), 401);
  assert.is(await write(['--protect-books', 'no'], 'yes'), 201);
});

test('page settings of flags override those of variables, and are stored in pages.json', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'own'));
  writeFileSync(join(directory, 'own', 'style.css'), '');
  const data = join(directory, 'data');
  const server = await startServer({
    data,
    args: ['--currency', 'EUR', '--public-url', 'https://shop.example/a//'],
    env: {
      CATALOG_CURRENCY: 'JPY',
      CATALOG_LOCALE: 'DE-de',
      CATALOG_SHOP_NAME: '',
      CATALOG_TEMPLATES: join(directory, 'own'),
    },
  });
  assert.is((await server.stop()).status, 0);
  assert.equal(JSON.parse(readFileSync(join(data, 'pages.json'), 'utf8')), {
    publicUrl: 'https://shop.example/a',
    currency: 'EUR',
    locale: 'de-DE',
    shopName: 'Catalog',
    templates: join(directory, 'own'),
  });
});

test.run();
