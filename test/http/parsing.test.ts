/**
 * What is nearly a request, nearly JSON, or more than it seems: each has a stated outcome
 * (docs/api.md, "What is taken, and what is not").
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, read } from '../support/catalog.ts';
import { linksOf, type Received, send, tokenFor } from '../support/client.ts';
import { type Answered, answersIn, exchangeRaw, request } from '../support/raw.ts';
import { killServers, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const BOOK = '{"name":"Emma","pub_date":"1815-12-23"}';
const LAST = 'Connection: close';
const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = `${BOOK.length.toString(16)}\r\n${BOOK}\r\n0\r\n\r\n`;
/** Longer than any answer takes: who waits that long has found a connection that hangs. */
const PATIENCE = 10_000;

let server: TestServer;
let authorization: string;
let sku: number;

test.before(async () => {
  server = await startServer();
  authorization = `Authorization: Bearer ${await tokenFor('admin')}`;
  ({ sku } = await createCatalog(server));
});

test.after(killServers);

/** Sends bytes, one for each character. */
async function converse(text: string, to: TestServer = server): Promise<Answered[]> {
  const received = await exchangeRaw(to, [Buffer.from(text, 'latin1')], PATIENCE);
  assert.ok(received.closed, `the connection hangs: ${received.text}`);
  return answersIn(received.text);
}

const bookCount = async (): Promise<number> => (await read(server, '/books/')).length;

function assertRefused(answers: readonly Answered[], status: number): void {
  const [answer, ...more] = answers;
  assert.is(answer?.status, status, answer?.body);
  assert.is(answer?.headers['content-type'], 'application/json');
  assert.type(JSON.parse(answer?.body ?? '').error, 'string');
  assert.equal(more, []);
}

// Targets and methods

const TARGETS: readonly (readonly [line: string, status: number])[] = [
  // The asterisk form speaks of no resource, and there is none to speak of.
  ['OPTIONS *', 400],
  ['GET *', 400],
  // The absolute form is its path, whatever host it names.
  ['GET http://elsewhere:81/books/?limit=1', 200],
  ['GET http://[::1]:8000/books/', 200],
  ['GET HTTPS://catalog/books/', 200],
  ['GET http://catalog?limit=1', 200],
  ['OPTIONS http://catalog', 200],
  ['GET http://catalog//books/', 404],
  ['GET http://catalog/../books/', 404],
  ['GET http:///books/', 400],
  ['GET http://:80/books/', 400],
  ['GET http://ann@catalog/books/', 400],
  ['GET http://ann:secret@catalog/books/', 400],
  ['GET http:books/', 400],
  ['GET ftp://catalog/books/', 400],
  ['GET file:///etc/passwd', 400],
  // The authority form belongs to CONNECT, which is for proxies.
  ['GET catalog:80', 400],
  ['CONNECT catalog:80', 400],
  ['CONNECT /books/', 400],
  // A path without its first slash, and one with two.
  ['GET books/', 400],
  ['GET ?limit=1', 400],
  ['GET //catalog/books/', 404],
  ['GET /books//1/', 404],
  // Nothing in a path is decoded.
  ['GET /books%2f', 404],
  ['GET /%2Fbooks/', 404],
  ['GET /books/%31/', 404],
  ['GET /books/%', 404],
  ['GET /books/%00', 404],
  ['GET /books/%0d%0aX-Injected:%201/', 404],
  ['GET /books/%c0%af', 404],
  ['GET /books/%252e%252e/', 404],
  ['GET /admin/tokens/%00/', 404],
  // Bytes that a target does not have.
  ['GET /books/\0', 400],
  ['GET /books/\t', 400],
  ['GET /books/\x7f', 400],
  ['GET /b\xf6\xf6ks/', 400],
  ['GET /books/?x=\xc3\xa9', 400],
  ['GET /books/#top', 404],
  // Numbers of any length are numbers; zeros in front count for nothing, but name no page.
  [`GET /books/${'9'.repeat(400)}/`, 404],
  ['GET /admin/skus/9007199254740993/', 404],
  ['GET /admin/skus/0001/', 200],
  ['GET /pages/skus/0001.html', 404],
  // Methods: those that HTTP knows are not allowed, others are none.
  ['TRACE /books/', 405],
  ['PROPFIND /books/', 405],
  ['get /books/', 400],
  ['FETCH /books/', 400],
];

for (const [line, status] of TARGETS) {
  const shown = JSON.stringify(line).slice(1, 61);
  test(`${shown} is ${status}`, async () => {
    const answers = await converse(request(line, [authorization, LAST]));
    if (status >= 400 && !line.includes('/books/9')) assertRefused(answers, status);
    assert.equal(
      answers.map((answer) => answer.status),
      [status],
    );
  });
}

// Queries

const QUERIES: readonly (readonly [query: string, status: number])[] = [
  ['limit=%31', 200],
  ['%6cimit=1', 200],
  ['limit=%', 400],
  ['limit=%zz', 400],
  ['limit=%00', 400],
  ['limit=1%00', 400],
  ['limit=1%0d%0aX-Injected:%201', 400],
  ['limit=%EF%BC%91', 400],
  ['limit=1&%6cimit=1', 400],
  ['limit=1#top', 400],
  ['limit=1e0', 400],
  ['limit=0x1', 400],
  ['limit=+1', 400],
  [`limit=${'9'.repeat(400)}`, 400],
  [`offset=${'9'.repeat(400)}`, 200],
  ['page=9007199254740993', 200],
  ['keyword=%00', 200],
  ['keyword=%ff', 400],
  ['keyword=%c0%af', 400],
  ['keyword=%ed%a0%80', 400],
  ['keyword=%f4%90%80%80', 400],
  ['keyword=%0d%0aX-Injected:%201', 200],
  ['goods_id=9007199254740993', 200],
  ['goods_id=%31%00', 400],
  ['sortby=__proto__', 400],
  ['sortby=constructor', 400],
  ['order=toString', 400],
  ['__proto___id=1', 400],
  // What is unknown is passed over, whatever it is.
  ['%', 200],
  ['x=%ff', 200],
  ['%ff=1', 200],
  ['__proto__=1', 200],
  ['__proto__[limit]=1', 200],
  ['constructor=1', 200],
  ['=1', 200],
  ['&&&', 200],
  ['?limit=0', 200],
];

for (const [query, status] of QUERIES) {
  test(`the query ${query.slice(0, 60)} is ${status}`, async () => {
    const line = `GET /admin/skus/?${query}`;
    const [answer, ...more] = await converse(request(line, [authorization, LAST]));
    assert.is(answer?.status, status, answer?.body);
    assert.is(answer?.headers['x-injected'], undefined);
    assert.equal(more, []);
  });
}

// Framing and headers

const FAULTS: Readonly<Record<string, string>> = {
  'two hosts': request('POST /books/', ['Host: elsewhere'], BOOK),
  'the same host twice': request('POST /books/', ['host: catalog'], BOOK),
  'a host with a path': request('POST /books/', [], BOOK).replace('catalog', 'catalog/x'),
  'a host with a user': request('POST /books/', [], BOOK).replace('catalog', 'ann@catalog'),
  'a host with a space': request('POST /books/', [], BOOK).replace('catalog', 'cata log'),
  'two hosts in one header': request('POST /books/', [], BOOK).replace('catalog', 'a, b'),
  'a host beyond ASCII': request('POST /books/', [], BOOK).replace('catalog', 'caf\xe9'),
  'a coding that is not chunked': request('POST /books/', ['Transfer-Encoding: x'], CHUNKS),
  'a coding in front of chunked': request(
    'POST /books/',
    ['Transfer-Encoding: gzip, chunked'],
    CHUNKS,
  ),
  'two codings': request('POST /books/', ['Transfer-Encoding: gzip', CHUNKED], CHUNKS),
  'chunked twice': request('POST /books/', ['Transfer-Encoding: chunked, chunked'], CHUNKS),
  'an empty coding': request('POST /books/', ['Transfer-Encoding:', 'Content-Length: 39'], BOOK),
  'a coding in HTTP/1.0': request('POST /books/', [CHUNKED], CHUNKS).replace('/1.1', '/1.0'),
  'a length with a sign': request('POST /books/', ['Content-Length: +39'], BOOK),
  'a length in hexadecimal': request('POST /books/', ['Content-Length: 0x27'], BOOK),
  'a list of lengths': request('POST /books/', ['Content-Length: 39, 39'], BOOK),
  'an empty length': request('POST /books/', ['Content-Length:'], BOOK),
  'a length beyond 2^64': request('POST /books/', ['Content-Length: 99999999999999999999'], BOOK),
  'a chunk size with a space': request('POST /books/', [CHUNKED], CHUNKS.replace('\r', ' \r')),
  'a chunk size with a prefix': request('POST /books/', [CHUNKED], `0x${CHUNKS}`),
  'a chunk size beyond 2^64': request('POST /books/', [CHUNKED], `ffffffffffffffff${CHUNKS}`),
  'a chunk that is longer than it says': request(
    'POST /books/',
    [CHUNKED],
    `2\r\n{}{}\r\n0\r\n\r\n`,
  ),
  'a length behind its chunks': request(
    'POST /books/',
    [CHUNKED],
    CHUNKS.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n'),
  ),
  'lines that end with LF': request('POST /books/', [], BOOK).replaceAll('\r', ''),
  'lines that end with CR': request('POST /books/', [], BOOK).replaceAll('\n', ''),
  'a header that goes on in the next line': request('POST /books/', ['X: a\r\n b'], BOOK),
  'NUL in a header': request('POST /books/', ['X: a\0b'], BOOK),
  'CR in a header': request('POST /books/', ['X: a\rb'], BOOK),
  'NUL in the name of a header': request('POST /books/', ['X\0: a'], BOOK),
  'two spaces in its first line': request('POST  /books/', [], BOOK),
  'a space in front': ` ${request('POST /books/', [], BOOK)}`,
  'a version in small letters': request('POST /books/', [], BOOK).replace('HTTP', 'http'),
  'the version 1.2': request('POST /books/', [], BOOK).replace('/1.1', '/1.2'),
  'the version 0.9': 'POST /books/\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

for (const [what, text] of Object.entries(FAULTS)) {
  test(`a request with ${what} is 400, and neither it nor what follows is carried out`, async () => {
    const before = await bookCount();
    const answers = await converse(text + request('POST /books/', [LAST], BOOK));
    assertRefused(answers, 400);
    assert.is(answers[0]?.headers['connection'], 'close');
    assert.is(await bookCount(), before);
  });
}

test('what waits behind a request that two readers could take differently is not carried out', async () => {
  const book = request('POST /books/', [], BOOK);
  for (const what of ['two hosts', 'an empty coding', 'a coding in front of chunked']) {
    const before = await bookCount();
    // Those in front take their time, so that all are read before the faulty one has its turn.
    const answers = await converse(book + book + FAULTS[what] + book + book);
    assert.equal(
      answers.map(({ status }) => status),
      [201, 201, 400],
      what,
    );
    assert.is(await bookCount(), before + 2, what);
  }
});

const TAKEN: Readonly<Record<string, string>> = {
  'empty lines in front': `\r\n\r\n${request('POST /books/', [LAST], BOOK)}`,
  'an empty host': request('POST /books/', [LAST], BOOK).replace('catalog', ''),
  'a host in brackets': request('POST /books/', [LAST], BOOK).replace('catalog', '[::1]:80'),
  'the same length twice': request(
    'POST /books/',
    ['Content-Length: 39', 'Content-Length: 39', LAST],
    BOOK,
  ),
  'chunked in capitals': request('POST /books/', ['Transfer-Encoding: CHUNKED', LAST], CHUNKS),
  'an extension of a chunk': request(
    'POST /books/',
    [CHUNKED, LAST],
    CHUNKS.replace('\r', ';a="b"\r'),
  ),
  'a trailer': request('POST /books/', [CHUNKED, LAST], CHUNKS.replace(/\r\n$/, 'X: y\r\n\r\n')),
  'a header beyond ASCII': request('POST /books/', ['X: caf\xe9', LAST], BOOK),
  'an offer to speak another protocol': request(
    'POST /books/',
    ['Upgrade: h2c', 'Connection: Upgrade, close'],
    BOOK,
  ),
};

for (const [what, text] of Object.entries(TAKEN)) {
  test(`a request with ${what} is a request`, async () => {
    const answers = await converse(text);
    assert.equal(
      answers.map(({ status }) => status),
      [201],
    );
  });
}

const NO_REQUESTS: Readonly<Record<string, string>> = {
  'no request': 'hello there\r\n\r\n',
  'a request for a tunnel': request('CONNECT catalog:80'),
  'headers that are too large': request('GET /books/', [`X: ${'x'.repeat(20_000)}`]),
  'a request whose chunks are none': request('POST /books/', [CHUNKED], 'zz\r\n'),
};

for (const [what, text] of Object.entries(NO_REQUESTS)) {
  test(`the refusal of ${what} leaves behind the answers to what came before`, async () => {
    const before = await bookCount();
    const book = request('POST /books/', [], BOOK);
    const answers = await converse(book + book + request('GET /books/99999/') + text);
    assert.equal(
      answers.map(({ status }) => status),
      [201, 201, 404, what.startsWith('headers') ? 431 : 400],
    );
    assert.is(await bookCount(), before + 2);
  });
}

test('of a header that is given twice, the first counts', async () => {
  const other = 'Authorization: Bearer x';
  const first = await converse(request('GET /admin/skus/', [authorization, other, LAST]));
  assert.is(first[0]?.status, 200);
  assertRefused(await converse(request('GET /admin/skus/', [other, authorization, LAST])), 401);
});

for (const [header, status] of [
  ['Authorization: Bearer \xe9.\xff.\xe9', 401],
  ['Idempotency-Key: caf\xe9', 400],
  ['Idempotency-Key: "a\tb"', 400],
  ['Content-Type: application/json\xe9', 415],
  ['If-Match: "\xe9"', 412],
  ['Content-Encoding: gzip', 415],
  ['Content-Encoding: identity, br', 415],
  ['Content-Encoding: Identity', 201],
  ['Accept: \xe9/\xff', 201],
  ['X-Request-Id: \xe9\xff', 201],
  ['Origin: http://\xe9\xff', 201],
] as const) {
  test(`POST with ${JSON.stringify(header)} is ${status}`, async () => {
    const headers = header.startsWith('Auth') ? [header, LAST] : [authorization, header, LAST];
    const [answer] = await converse(request('POST /admin/brands/', headers, '{"name":"Acme"}'));
    assert.is(answer?.status, status, answer?.body);
    const head = JSON.stringify(answer?.headers);
    assert.not.match(head, /[^\x20-\x7e]/, 'no header repeats what was sent');
  });
}

// Bodies

interface Endpoint {
  readonly method: string;
  readonly path: () => string;
  /** A good body, `TEXT` where it holds a string, `NUMBER` where it holds a number. */
  readonly body: string;
  readonly good: number;
  /** Its own answers to values that are no good everywhere. */
  readonly own?: Readonly<Record<string, number>>;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'a book': {
    method: 'POST',
    path: () => '/books/',
    body: '{"name":"TEXT","pub_date":"1815-12-23"}',
    good: 201,
  },
  'a brand': {
    method: 'POST',
    path: () => '/admin/brands/',
    body: '{"name":"TEXT"}',
    good: 201,
  },
  brands: {
    method: 'POST',
    path: () => '/admin/brands/',
    body: '[{"name":"Acme"},{"name":"TEXT"}]',
    good: 201,
  },
  'a change of a SKU': {
    method: 'PATCH',
    path: () => `/admin/skus/${sku}/`,
    body: '{"name":"TEXT","price":NUMBER}',
    good: 200,
  },
  'changes of SKUs': {
    method: 'PATCH',
    path: () => '/admin/skus/',
    body: '[{"id":1,"caption":"TEXT","price":NUMBER}]',
    good: 200,
  },
  // No account has such a name; a name that nobody could have is no other case.
  'a login': {
    method: 'POST',
    path: () => '/admin/tokens/',
    body: '{"username":"TEXT","password":"secret"}',
    good: 401,
    own: { 'an unpaired surrogate': 401 },
  },
  'a page build': {
    method: 'POST',
    path: () => '/admin/page-builds/',
    body: '{"skus":[NUMBER]}',
    good: 202,
  },
};

/** What `TEXT` or `NUMBER` becomes, and the status; the good one of the endpoint where null. */
const VALUES: Readonly<Record<string, readonly [what: 'TEXT' | 'NUMBER', string, number | null]>> =
  {
    'a byte that is no UTF-8': ['TEXT', 'a\xffb', 400],
    'an overlong encoding': ['TEXT', '\xc0\xaf', 400],
    'a surrogate in UTF-8': ['TEXT', '\xed\xa0\x80', 400],
    'a character beyond U+10FFFF': ['TEXT', '\xf4\x90\x80\x80', 400],
    'an unpaired surrogate': ['TEXT', 'a\\ud800b', 422],
    'a pair of surrogates': ['TEXT', '\\ud83d\\ude00', null],
    'a bare NUL': ['TEXT', 'a\0b', 400],
    'an escaped NUL': ['TEXT', 'a\\u0000b', null],
    'a bare line break': ['TEXT', 'a\nb', 400],
    'escaped line breaks': ['TEXT', 'a\\r\\nX-Injected: 1', null],
    'a character that is none': ['TEXT', '\\uffff', null],
    'an unknown escape': ['TEXT', '\\x41', 400],
    'a number of 1e400': ['NUMBER', '1e400', 422],
    'a number of -1e400': ['NUMBER', '-1e400', 422],
    'a number of 30 digits': ['NUMBER', '123456789012345678901234567890', 422],
    'a number of 2^53': ['NUMBER', '9007199254740992', 422],
    'a fraction': ['NUMBER', '1.5', 422],
    'a number that is next to none': ['NUMBER', '4.9e-324', 422],
    'an exponent': ['NUMBER', '1e0', null],
    'a number in quotes': ['NUMBER', '"1"', 422],
    'a leading zero': ['NUMBER', '01', 400],
    'a leading plus': ['NUMBER', '+1', 400],
    NaN: ['NUMBER', 'NaN', 400],
    Infinity: ['NUMBER', 'Infinity', 400],
  };

const fill = (body: string, text = 'Acme', number = '1') =>
  body.replace('TEXT', () => text).replace('NUMBER', () => number);

async function post({ method, path }: Endpoint, body: string): Promise<Received> {
  return send(server, method, path(), { body: Buffer.from(body, 'latin1') });
}

for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
  test(`${name} with each value is what the value is`, async () => {
    for (const [what, [where, value, status]] of Object.entries(VALUES)) {
      if (!endpoint.body.includes(where)) continue;
      const filled =
        where === 'TEXT' ? fill(endpoint.body, value) : fill(endpoint.body, 'Acme', value);
      const expected = endpoint.own?.[what] ?? status ?? endpoint.good;
      const answer = await post(endpoint, filled);
      assert.is(answer.status, expected, `${what}: ${answer.text}`);
    }
  });

  test(`${name} with members of every JavaScript object is ${name}`, async () => {
    const poison =
      '"__proto__":{"stale":1,"name":1,"id":1},"constructor":{"prototype":{"x":1}},"toString":1';
    const answer = await post(endpoint, fill(endpoint.body).replace('{', `{${poison},`));
    assert.is(answer.status, endpoint.good, answer.text);
    assert.not.match(answer.text, 'prototype');
    const inherited = endpoint.body.replace(/\{(.*?)\}/, '{"__proto__":{$1}}');
    const missing = await post(endpoint, fill(inherited));
    // What is only inherited was not sent: nothing is changed, or what is required is missing.
    const optional = endpoint.method === 'PATCH' || name === 'a page build';
    const lacking = name === 'changes of SKUs' ? 422 : optional ? endpoint.good : 422;
    assert.is(missing.status, lacking, missing.text);
  });

  test(`${name} whose unknown member is nested too deep is 422, below that it is passed over`, async () => {
    const nested = (depth: number) =>
      fill(endpoint.body).replace('{', `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`);
    assert.is((await post(endpoint, nested(20))).status, endpoint.good);
    const answer = await post(endpoint, nested(50_000));
    assert.is(answer.status, 422);
    assert.match(answer.json.error, /^the body is nested more than \d+ levels deep$/);
  });
}

test('of duplicate keys the last counts, at every endpoint and at every depth', async () => {
  const cases: readonly (readonly [Endpoint | undefined, string, number])[] = [
    [ENDPOINTS['brands'], '[{"name":1,"name":"Acme"}]', 201],
    [ENDPOINTS['brands'], '[{"name":"Acme","name":1}]', 422],
    [ENDPOINTS['a change of a SKU'], '{"price":"x","price":7}', 200],
    [ENDPOINTS['a change of a SKU'], '{"specs":[{"spec_id":1,"spec_id":"x"}]}', 422],
    [ENDPOINTS['a login'], '{"username":1,"username":"ann","password":"secret"}', 401],
    [ENDPOINTS['a login'], '{"username":"ann","username":1,"password":"secret"}', 422],
    [ENDPOINTS['a page build'], '{"skus":"x","skus":[1]}', 202],
    [ENDPOINTS['a page build'], '{"stale":true,"stale":"x"}', 422],
    // The same name, written in another way.
    [ENDPOINTS['a brand'], '{"name":"Acme","n\\u0061me":1}', 422],
  ];
  for (const [endpoint, body, status] of cases) {
    const answer = await post(endpoint as Endpoint, body);
    assert.is(answer.status, status, `${body}: ${answer.text}`);
  }
  assert.is((await read(server, `/admin/skus/${sku}/`)).price, 7);
});

test('a token may be named as members of every JavaScript object are', async () => {
  for (const jti of ['__proto__', 'constructor', 'toString']) {
    const token = await tokenFor('viewer', { jti });
    const ask = async () => (await send(server, 'GET', '/admin/brands/', { token })).status;
    assert.is(await ask(), 200, jti);
    assert.is((await send(server, 'DELETE', `/admin/tokens/${jti}/`)).status, 204);
    assert.is(await ask(), 401, jti);
  }
  assert.is((await send(server, 'GET', '/admin/brands/')).status, 200);
});

// What was stored, and comes out again

/** Ends a line, a header, a text and a line of a log; turns text around; leaves Latin-1. */
const HOSTILE =
  'Acme\0\r\nX-Injected: 1\r\n\r\n\u0085\u2028\u202e\u001b[2J\u{e0001}\u00e9\u{1f600}';

test('a stored text is in no header of any answer that shows it', async () => {
  const headers = { 'idempotency-key': 'stored-text' };
  const sent = { body: { name: HOSTILE, logo: HOSTILE }, headers };
  const created = await send(server, 'POST', '/admin/brands/', sent);
  assert.is(created.status, 201);
  assert.is(created.json.name, HOSTILE, 'it is stored as it was sent');
  const replayed = await send(server, 'POST', '/admin/brands/', sent);
  assert.is(replayed.headers.get('idempotent-replayed'), 'true');
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { name: HOSTILE } });
  const { id } = created.json;
  const targets = [
    `/admin/brands/${id}/`,
    '/admin/brands/?sortby=name&per_page=1',
    `/admin/skus/${sku}/`,
    `/admin/skus/?keyword=${encodeURIComponent(HOSTILE)}`,
    '/admin/audits/?order=desc',
    `/pages/skus/${sku}.html`,
  ];
  for (const target of targets) {
    const [answer, ...more] = await converse(request(`GET ${target}`, [authorization, LAST]));
    assert.is(answer?.status, 200, target);
    assert.equal(more, [], target);
    const head = JSON.stringify(answer?.headers);
    assert.not.match(head, /[^\x20-\x7e]|x-injected"/, target);
    assert.not.match(head, /Acme[^%]/, target);
  }
});

test('what was searched for is in the links, percent-encoded, and finds the same again', async () => {
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { name: HOSTILE } });
  const target = `/admin/skus/?keyword=${encodeURIComponent(HOSTILE)}&%0d%0aX-Injected:%201=%00`;
  const first = await send(server, 'GET', target);
  assert.is(first.headers.get('x-injected'), null);
  const [, next = ''] = linksOf(first).find(([rel]) => rel === 'first') ?? [];
  assert.match(next, /^[\x21-\x7e]+$/);
  assert.match(next, '%0D%0AX-Injected');
  assert.is((await send(server, 'GET', next)).text, first.text);
  assert.is(first.json[0].name, HOSTILE);
});

test('a stored text ends no element of a page', async () => {
  await send(server, 'PATCH', `/admin/skus/${sku}/`, {
    body: { name: `Bolt ${HOSTILE}</title></script>` },
  });
  let page = '';
  await until('the page has the name', async () => {
    page = (await send(server, 'GET', `/pages/skus/${sku}.html`, { token: null })).text;
    return page.includes('Bolt Acme');
  });
  assert.is(page.match(/<\/title>/g)?.length, 1);
  const data = [...page.matchAll(/<script type="application\/ld\+json">([^]*?)<\/script>/g)];
  assert.ok(data.length > 0);
  for (const [, text = ''] of data) assert.is(JSON.parse(text)['@context'], 'https://schema.org');
});

for (const format of ['json', 'text']) {
  test(`no subject, id, path or name forges a line of the log as ${format}`, async () => {
    const args = ['--log-level', 'debug', '--log-format', format, '--trust-proxy', 'loopback'];
    const logged = await startServer({ args });
    const token = await tokenFor('admin', { sub: HOSTILE });
    const sent = { token, body: { name: HOSTILE }, headers: { 'idempotency-key': 'a' } };
    assert.is((await send(logged, 'POST', '/admin/brands/', sent)).status, 201);
    const hostile = [
      'X-Request-Id: a\x85b',
      'X-Forwarded-For: 1.2.3.4\x85\x1f',
      'User-Agent: \x9b2J',
    ];
    const lines = [request('GET /books/%0a%0d/', [...hostile, LAST]), 'G\x85T / HTTP/1.1\r\n\r\n'];
    for (const text of lines) await converse(text, logged);
    const { stderr } = await logged.stop();
    assert.not.match(stderr.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
    const begins = format === 'json' ? /^\{"level":/ : /^\d\d:\d\d:\d\d\.\d{3} [A-Z]{4,5} +\w/;
    const told = stderr.split('\n').filter((line) => line !== '');
    for (const line of told) assert.match(line, begins);
    assert.ok(told.length >= 3, stderr);
    if (format === 'text') return;
    const subjects = told.map((line) => JSON.parse(line).subject);
    assert.ok(subjects.includes(HOSTILE), 'nothing is lost by it');
  });
}

test('none of this was a fault of the server', async () => {
  const { status, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stderr, '');
});

test.run();
