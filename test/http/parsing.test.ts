/**
 * Unusual queries, headers and bodies: each has a documented outcome (docs/api.md, "Unusual
 * requests").
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, read } from '../support/catalog.ts';
import { linksOf, type Received, send, tokenFor } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

let server: Service;
let sku: number;

test.before(async () => {
  server = await openService();
  ({ sku } = await createCatalog(server));
});

test.after(closeServices);

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
  // Every unknown parameter is 400.
  ['%', 400],
  ['x=%ff', 400],
  ['%ff=1', 400],
  ['constructor=1', 400],
  ['=1', 400],
  ['?limit=0', 400],
  // A name that begins with an underscore is ignored.
  ['__proto___id=1', 200],
  ['__proto__=1', 200],
  ['__proto__[limit]=1', 200],
  ['&&&', 200],
];

for (const [query, status] of QUERIES) {
  test(`the query ${query.slice(0, 60)} is ${status}`, async () => {
    const answer = await send(server, 'GET', `/admin/skus/?${query}`);
    assert.is(answer.status, status, answer.text);
    assert.is(answer.headers.get('x-injected'), null);
  });
}

// Headers

for (const [name, value, status] of [
  ['Authorization', 'Bearer \xe9.\xff.\xe9', 401],
  ['Idempotency-Key', 'caf\xe9', 400],
  ['Idempotency-Key', '"a\tb"', 400],
  ['Content-Type', 'application/json\xe9', 415],
  ['Content-Type', 'text/json', 415],
  ['Content-Type', 'application/xjson', 415],
  ['Content-Type', '+json', 415],
  ['Content-Type', 'hal+json', 415],
  ['Content-Type', 'application/hal+jsonp', 415],
  ['Content-Type', '', 201],
  ['Content-Type', 'application/json ;charset=utf-8', 201],
  ['Content-Type', 'Application/Merge-Patch+JSON; charset=utf-8', 201],
  ['If-Match', '"\xe9"', 412],
  ['Content-Encoding', 'gzip', 415],
  ['Content-Encoding', 'identity, br', 415],
  ['Content-Encoding', 'Identity', 201],
  ['Accept', '\xe9/\xff', 201],
  ['X-Request-Id', '\xe9\xff', 201],
  ['Origin', 'http://\xe9\xff', 201],
] as const) {
  test(`POST with ${name}: ${JSON.stringify(value)} is ${status}`, async () => {
    // In lower case, so that it replaces the one that the client would send.
    const sent = { body: { name: 'Acme' }, headers: { [name.toLowerCase()]: value } };
    const answer = await send(server, 'POST', '/admin/brands/', sent);
    assert.is(answer.status, status, answer.text);
    const head = JSON.stringify(Object.fromEntries(answer.headers));
    assert.not.match(head, /[^\x20-\x7e]/, 'no header repeats what was sent');
  });
}

// Bodies

interface Endpoint {
  readonly method: string;
  readonly path: () => string;
  /** A valid body, with `TEXT` for a string and `NUMBER` for a number. */
  readonly body: string;
  readonly good: number;
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
    path: () => '/admin/brands/bulk/',
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
    path: () => '/admin/skus/bulk/',
    body: '[{"id":1,"caption":"TEXT","price":NUMBER}]',
    good: 200,
  },
  // No account has this name; a name that is invalid for an account is treated the same.
  'a login': {
    method: 'POST',
    path: () => '/admin/tokens/',
    body: '{"username":"TEXT","password":"secret"}',
    good: 401,
  },
  'a page build': {
    method: 'POST',
    path: () => '/admin/page-builds/',
    body: '{"skus":[NUMBER]}',
    good: 202,
  },
};

/** The replacement of `TEXT` or `NUMBER`, and the status; null means success. */
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
  test(`each unusual value in ${name} has its documented status`, async () => {
    for (const [what, [where, value, status]] of Object.entries(VALUES)) {
      if (!endpoint.body.includes(where)) continue;
      const filled =
        where === 'TEXT' ? fill(endpoint.body, value) : fill(endpoint.body, 'Acme', value);
      const expected = status ?? endpoint.good;
      const answer = await post(endpoint, filled);
      assert.is(answer.status, expected, `${what}: ${answer.text}`);
    }
  });

  test(`the names of inherited JavaScript members have no effect in ${name}`, async () => {
    const poison =
      '"__proto__":{"stale":1,"name":1,"id":1},"constructor":{"prototype":{"x":1}},"toString":1';
    const answer = await post(endpoint, fill(endpoint.body).replace('{', `{${poison},`));
    assert.is(answer.status, endpoint.good, answer.text);
    assert.not.match(answer.text, 'prototype');
    const inherited = endpoint.body.replace(/\{(.*?)\}/, '{"__proto__":{$1}}');
    const missing = await post(endpoint, fill(inherited));
    // Members of `__proto__` are not sent members: nothing changes, or a required one is missing.
    const optional = endpoint.method === 'PATCH' || name === 'a page build';
    const lacking = optional ? endpoint.good : 422;
    const exceptions: Readonly<Record<string, number>> = { 'changes of SKUs': 422, 'a login': 401 };
    assert.is(missing.status, exceptions[name] ?? lacking, missing.text);
  });

  test(`an unknown member of ${name} is ignored, or 422 if it is nested too deep`, async () => {
    const nested = (depth: number) =>
      fill(endpoint.body).replace('{', `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`);
    assert.is((await post(endpoint, nested(20))).status, endpoint.good);
    const answer = await post(endpoint, nested(50_000));
    assert.is(answer.status, 422);
    assert.match(answer.json.error, /^the body is nested more than \d+ levels deep$/);
  });
}

test('if a key occurs twice in a body, the last value is used, at every endpoint and depth', async () => {
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

test('the error of a body that is not JSON is one line, and repeats at most a part of the body', async () => {
  for (const body of [`{"name":${'x'.repeat(200)}}`, '{"name":"\\u12\n"}']) {
    const { status, json } = await send(server, 'POST', '/admin/brands/', { body });
    assert.is(status, 400);
    assert.match(json.error, /^the body is not JSON: .{1,100}$/);
  }
});

test('a body that is not JSON is 400 with a short error also if it is long', async () => {
  for (const length of [5000, 70_000]) {
    const body = `{"name":"${'x'.repeat(length)}",}`;
    const { status, json } = await send(server, 'POST', '/admin/brands/', { body });
    assert.is(status, 400, `${length}`);
    assert.match(json.error, /^the body is not JSON: .{1,100}$/);
  }
});

test('the error of a body that is not JSON has whole characters', async () => {
  const { status, text, json } = await send(server, 'POST', '/books/', {
    body: '{"name":\u{1f600}}',
  });
  assert.is(status, 400);
  assert.is(json.error, "the body is not JSON: Unrecognized token '\ufffd'", text);
});

test('a jti may be the name of an inherited JavaScript member, and can be revoked', async () => {
  for (const jti of ['__proto__', 'constructor', 'toString']) {
    const token = await tokenFor('viewer', { jti });
    const ask = async () => (await send(server, 'GET', '/admin/brands/', { token })).status;
    assert.is(await ask(), 200, jti);
    assert.is((await send(server, 'DELETE', `/admin/tokens/${jti}/`)).status, 204);
    assert.is(await ask(), 401, jti);
  }
  assert.is((await send(server, 'GET', '/admin/brands/')).status, 200);
});

// Stored text in responses

/** Characters that end lines and headers, control a terminal, reverse text or exceed Latin-1. */
const HOSTILE =
  'Acme\0\r\nX-Injected: 1\r\n\r\n\u0085\u2028\u202e\u001b[2J\u{e0001}\u00e9\u{1f600}';

test('a stored text is in no header of the responses that show it', async () => {
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
    const answer = await send(server, 'GET', target);
    assert.is(answer.status, 200, target);
    const head = JSON.stringify(Object.fromEntries(answer.headers));
    assert.not.match(head, /[^\x20-\x7e]|x-injected"/, target);
    assert.not.match(head, /Acme[^%]/, target);
  }
});

test('the links contain the keyword percent-encoded, and find the same rows', async () => {
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { name: HOSTILE } });
  const target = `/admin/skus/?keyword=${encodeURIComponent(HOSTILE)}&_%0d%0aX-Injected:%201=%00`;
  const first = await send(server, 'GET', target);
  assert.is(first.headers.get('x-injected'), null);
  const [, next = ''] = linksOf(first).find(([rel]) => rel === 'first') ?? [];
  assert.match(next, /^[\x21-\x7e]+$/);
  assert.match(next, '%0D%0AX-Injected');
  assert.is((await send(server, 'GET', next)).text, first.text);
  assert.is(first.json[0].name, HOSTILE);
});

test('a stored text cannot end an element of a page', async () => {
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

test('none of these requests is logged as a fault', () => {
  assert.equal(server.log, []);
});

test.run();
