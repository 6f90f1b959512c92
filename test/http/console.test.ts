/** spec 13.1 and 13.2: the files of the console. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { APP_JS, INDEX_HTML, smallConsole } from '../support/console.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

const SCRIPT = '/console/app-3f9c1b2a.js';

let server: Service;

test.before(async () => {
  server = await openService({ openConsole: smallConsole });
});

test.after(closeServices);

const read = (path: string, headers = {}) => send(server, 'GET', path, { token: null, headers });

/** The bytes of a body, which `send` reads as text. */
async function bytesOf(path: string, encoding: string): Promise<Response & { body: unknown }> {
  return server.fetch(`${server.url}${path}`, { headers: { 'accept-encoding': encoding } });
}

test('the console and its files need no token', async () => {
  const index = await read('/console/');
  assert.is(index.status, 200);
  assert.is(index.text, INDEX_HTML);
  assert.is(index.headers.get('content-type'), 'text/html; charset=utf-8');
  const script = await read(SCRIPT);
  assert.is(script.text, APP_JS);
  assert.is(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
  const head = await send(server, 'HEAD', SCRIPT, { token: null });
  assert.is(head.status, 200);
  assert.is(head.headers.get('etag'), script.headers.get('etag'));
});

test('a path under /console/ that does not name a file returns the page of the console', async () => {
  for (const path of [
    'index.html',
    'skus',
    'skus/17',
    'skus/17/',
    'skus?q=phone&sortby=price',
    'users/ann%40example%2Ecom',
    "a/b/c/d-e_f~g!$&'()*+,;=:@",
    'version-1.2/notes',
  ]) {
    const answer = await read(`/console/${path}`);
    assert.is(answer.status, 200, path);
    assert.is(answer.text, INDEX_HTML, path);
  }
});

test('a file that does not exist is 404', async () => {
  for (const path of [
    'app.js',
    'skus/app-3f9c1b2a.js',
    'favicon.ico',
    '.env',
    '../etc/passwd',
    'skus/../17',
    'skus//17',
    '/skus',
  ]) {
    assert.is((await read(`/console/${path}`)).status, 404, path);
  }
});

test('the console is read-only: other methods are 405 with Allow', async () => {
  for (const path of ['/console/', SCRIPT, '/console/skus/17']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await send(server, method, path, { token: null });
      assert.is(answer.status, 405, `${method} ${path}`);
      assert.is(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
  }
});

test('every file has the Content-Security-Policy, no-referrer and nosniff', async () => {
  for (const path of ['/console/', SCRIPT, '/console/skus/17']) {
    const { headers } = await read(path);
    assert.is(headers.get('content-security-policy'), POLICY, path);
    assert.is(headers.get('referrer-policy'), 'no-referrer', path);
    assert.is(headers.get('x-content-type-options'), 'nosniff', path);
  }
});

test('a file with a digest in its name is immutable; the page has to be revalidated', async () => {
  for (const [path, caching] of [
    ['/console/', 'no-cache'],
    ['/console/skus/17', 'no-cache'],
    [SCRIPT, 'public, max-age=31536000, immutable'],
  ] as const) {
    const first = await read(path);
    assert.is(first.headers.get('cache-control'), caching, path);
    const again = await read(path, { 'if-none-match': first.headers.get('etag') ?? '' });
    assert.is(again.status, 304, path);
    assert.is(again.text, '');
    assert.is(again.headers.get('cache-control'), caching, path);
    assert.is(again.headers.get('vary'), 'Accept-Encoding');
  }
});

test('a file is sent with the content coding that the client accepts, each with its own ETag', async () => {
  const tags = new Set<string>();
  for (const [accepted, coding, decode] of [
    ['identity', null, (bytes: Uint8Array) => bytes],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
  ] as const) {
    const answer = await bytesOf(SCRIPT, accepted);
    assert.is(answer.headers.get('content-encoding'), coding, accepted);
    assert.is(answer.headers.get('vary'), 'Accept-Encoding');
    assert.is(Buffer.from(decode(await answer.bytes())).toString(), APP_JS);
    const etag = answer.headers.get('etag') ?? '';
    tags.add(etag);
    const headers = { 'accept-encoding': accepted, 'if-none-match': etag };
    assert.is((await read(SCRIPT, headers)).status, 304);
    const described = await read(SCRIPT, { 'accept-encoding': accepted });
    assert.is(described.status, 200);
  }
  assert.is(tags.size, 3);
});

test('with a base path, the page of the console refers to its files below it', async () => {
  const based = await openService({ basePath: '/api', openConsole: smallConsole });
  for (const path of ['/api/console/', '/api/1.0/console/', '/api/console/skus/17']) {
    const answer = await send(based, 'GET', path, { token: null });
    assert.match(answer.text, 'src="/api/console/app-3f9c1b2a.js"', path);
    assert.is(answer.headers.get('content-encoding'), null);
    const again = await send(based, 'GET', path, {
      token: null,
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    assert.is(again.status, 304, path);
  }
  assert.is((await send(based, 'GET', `/api${SCRIPT}`, { token: null })).text, APP_JS);
  await based.stop();
});

test('if the console cannot be opened, this is logged, and the next request tries again', async () => {
  let attempts = 0;
  const failing = await openService({
    openConsole() {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('no compiler')) : smallConsole();
    },
  });
  assert.is((await send(failing, 'GET', '/console/', { token: null })).status, 500);
  assert.is((await send(failing, 'GET', '/console/', { token: null })).status, 200);
  assert.is((await send(failing, 'GET', '/console/', { token: null })).status, 200);
  assert.is(attempts, 2);
  assert.match(failing.log.join('\n'), 'no compiler');
  await failing.stop();
});

test.run();
