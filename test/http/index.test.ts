/** `GET /` (spec 5.7): the index for clients, an HTML page for browsers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const JSON_TYPE = 'application/json';
const VENDOR = 'application/vnd.catalog+json; version=1.0';
const HTML = 'text/html; charset=utf-8';

let server: Service;

test.before(async () => {
  server = await openService();
});

test.after(closeServices);

const ask = (accept: string | null, headers: Record<string, string> = {}, method = 'GET') =>
  send(server, method, '/', {
    token: null,
    headers: { ...(accept !== null && { accept }), ...headers },
  });

const CHOICES: readonly (readonly [accept: string | null, type: string])[] = [
  [null, JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/*', JSON_TYPE],
  [VENDOR, VENDOR],
  ['text/html, application/json', JSON_TYPE],
  ['application/json, text/html;q=0.9', JSON_TYPE],
  ['text/html;q=0.5, application/json;q=0.4', HTML],
  ['text/html', HTML],
  ['text/*, */*;q=0.1', HTML],
  [BROWSER, HTML],
];

for (const [accept, type] of CHOICES) {
  test(`for Accept: ${accept ?? 'none'} the index responds with ${type}`, async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(accept, {}, method);
      assert.is(answer.status, 200);
      assert.is(answer.headers.get('content-type'), type);
      assert.match(answer.headers.get('vary') ?? '', 'Accept');
    }
  });
}

test('the page links to shop, console and documentation, shows first steps, and has no script', async () => {
  const { text, headers } = await ask(BROWSER);
  for (const path of ['pages/', 'console/', 'docs/', 'openapi.json', 'books/']) {
    assert.match(text, `href="${path}"`);
  }
  assert.match(text, 'users add');
  assert.match(text, '/admin/tokens/');
  assert.not.match(text, /<script|style=|onclick/);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, "default-src 'none'");
  assert.not.match(policy, 'unsafe-inline');
});

test('every link of the page but pages/ is 200, also with a base path and a version', async () => {
  const based = await openService({ basePath: '/api' });
  for (const [on, base] of [
    [server, '/'],
    [server, '/1.0/'],
    [based, '/api/'],
    [based, '/api/1.0/'],
  ] as const) {
    const { text } = await send(on, 'GET', base, { headers: { accept: 'text/html' } });
    const targets = [...text.matchAll(/href="([^"#:]+)"/g)].map(([, target = '']) => target);
    assert.ok(targets.length >= 5);
    for (const target of targets.filter((each) => each !== 'pages/')) {
      const answer = await send(on, 'GET', `${base}${target}`);
      assert.is(answer.status, 200, `${base}${target}`);
    }
  }
  await based.stop();
});

test('the page and the index have different entity tags, each valid only for its type', async () => {
  const page = (await ask(BROWSER)).headers.get('etag') ?? '';
  const index = (await ask(null)).headers.get('etag') ?? '';
  assert.is.not(page, index);
  for (const [accept, etag, status] of [
    [BROWSER, page, 304],
    [BROWSER, index, 200],
    [null, index, 304],
    [null, page, 200],
  ] as const) {
    assert.is((await ask(accept, { 'if-none-match': etag })).status, status);
  }
});

test('a path other than the index is 406 if Accept is text/html', async () => {
  for (const path of ['/books/', '/openapi.json']) {
    const answer = await send(server, 'GET', path, { headers: { accept: 'text/html' } });
    assert.is(answer.status, 406, path);
  }
});

test.run();
