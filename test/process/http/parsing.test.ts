/**
 * Bytes that are almost a request, or ambiguous: each has a specified result (docs/api.md,
 * "Unusual requests").
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, read } from '../../support/catalog.ts';
import { type Reachable, send, tokenFor } from '../../support/client.ts';
import { exchangeRaw, type RawResponse, request, responsesIn } from '../../support/raw.ts';
import { closeListening, listen, type Listening } from '../../support/listening.ts';
import { killServers, startServer } from '../../support/server.ts';

const BOOK = '{"name":"Emma","pub_date":"1815-12-23"}';
const LAST = 'Connection: close';
const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = `${BOOK.length.toString(16)}\r\n${BOOK}\r\n0\r\n\r\n`;

let server: Listening;
let authorization: string;

test.before(async () => {
  server = await listen();
  authorization = `Authorization: Bearer ${await tokenFor('admin')}`;
  await createCatalog(server);
});

test.after(async () => {
  await closeListening();
  await killServers();
});

/** Sends each character of the text as one byte. */
async function converse(text: string, to: Reachable = server): Promise<RawResponse[]> {
  return responsesIn(await exchangeRaw(to, [Buffer.from(text, 'latin1')]));
}

const bookCount = async (): Promise<number> => (await read(server, '/books/')).length;

function assertRefused(answers: readonly RawResponse[], status: number): void {
  const [answer, ...more] = answers;
  assert.is(answer?.status, status, answer?.body);
  assert.is(answer?.headers['content-type'], 'application/json');
  assert.type(JSON.parse(answer?.body ?? '').error, 'string');
  assert.equal(more, []);
}

// Targets and methods

const TARGETS: readonly (readonly [line: string, status: number])[] = [
  // The asterisk form names no resource.
  ['OPTIONS *', 400],
  ['GET *', 400],
  // The absolute form means its path, whatever the host.
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
  // The authority form is for CONNECT, and CONNECT is for proxies.
  ['GET catalog:80', 400],
  ['CONNECT catalog:80', 400],
  ['CONNECT /books/', 400],
  // A path without its leading slash, and one with two slashes.
  ['GET books/', 400],
  ['GET ?limit=1', 400],
  ['GET //catalog/books/', 404],
  ['GET /books//1/', 404],
  // Percent-encoding in a path is not decoded.
  ['GET /books%2f', 404],
  ['GET /%2Fbooks/', 404],
  ['GET /books/%31/', 404],
  ['GET /books/%', 404],
  ['GET /books/%00', 404],
  ['GET /books/%0d%0aX-Injected:%201/', 404],
  ['GET /books/%c0%af', 404],
  ['GET /books/%252e%252e/', 404],
  ['GET /admin/tokens/%00/', 404],
  // Bytes that are not allowed in a target.
  ['GET /books/\0', 400],
  ['GET /books/\t', 400],
  ['GET /books/\x7f', 400],
  ['GET /b\xf6\xf6ks/', 400],
  ['GET /books/?x=\xc3\xa9', 400],
  ['GET /books/#top', 404],
  // Ids may have any number of digits. Leading zeros are ignored in an id, but not in a page name.
  [`GET /books/${'9'.repeat(400)}/`, 404],
  ['GET /admin/skus/9007199254740993/', 404],
  ['GET /admin/skus/0001/', 200],
  ['GET /pages/skus/0001.html', 404],
  // Methods that the path does not have, whether HTTP defines them or not. Those of HTTP in lower
  // case cannot be told from malformed bytes.
  ['TRACE /books/', 405],
  ['PROPFIND /books/', 405],
  ['get /books/', 400],
  ['FETCH /books/', 405],
  ['FETCH /books/?page=1', 405],
  ['FETCH /books', 404],
  ['FETCH /nowhere/', 404],
  ['FETCH http://catalog/books/', 400],
  ['FETCH /b\xf6\xf6ks/', 400],
  ['M-SEARCH2 *', 400],
  ['F(O /books/', 400],
  [' /books/', 400],
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

// Framing and headers

const FAULTS: Readonly<Record<string, string>> = {
  'two hosts': request('POST /books/', ['Host: elsewhere'], BOOK),
  'the same host twice': request('POST /books/', ['host: catalog'], BOOK),
  'a host with a path': request('POST /books/', [], BOOK).replace('catalog', 'catalog/x'),
  'a host with a user': request('POST /books/', [], BOOK).replace('catalog', 'ann@catalog'),
  'a host with a space': request('POST /books/', [], BOOK).replace('catalog', 'cata log'),
  'two hosts in one header': request('POST /books/', [], BOOK).replace('catalog', 'a, b'),
  'a host beyond ASCII': request('POST /books/', [], BOOK).replace('catalog', 'caf\xe9'),
  'a transfer coding that is not chunked': request(
    'POST /books/',
    ['Transfer-Encoding: x'],
    CHUNKS,
  ),
  'a transfer coding before chunked': request(
    'POST /books/',
    ['Transfer-Encoding: gzip, chunked'],
    CHUNKS,
  ),
  'two transfer codings': request('POST /books/', ['Transfer-Encoding: gzip', CHUNKED], CHUNKS),
  'chunked twice': request('POST /books/', ['Transfer-Encoding: chunked, chunked'], CHUNKS),
  'an empty transfer coding': request(
    'POST /books/',
    ['Transfer-Encoding:', 'Content-Length: 39'],
    BOOK,
  ),
  'a transfer coding in HTTP/1.0': request('POST /books/', [CHUNKED], CHUNKS).replace(
    '/1.1',
    '/1.0',
  ),
  'a length with a sign': request('POST /books/', ['Content-Length: +39'], BOOK),
  'a length in hexadecimal': request('POST /books/', ['Content-Length: 0x27'], BOOK),
  'a list of lengths': request('POST /books/', ['Content-Length: 39, 39'], BOOK),
  'an empty length': request('POST /books/', ['Content-Length:'], BOOK),
  'a length beyond 2^64': request('POST /books/', ['Content-Length: 99999999999999999999'], BOOK),
  'a chunk size with a space': request('POST /books/', [CHUNKED], CHUNKS.replace('\r', ' \r')),
  'a chunk size with a prefix': request('POST /books/', [CHUNKED], `0x${CHUNKS}`),
  'a chunk size beyond 2^64': request('POST /books/', [CHUNKED], `ffffffffffffffff${CHUNKS}`),
  'a chunk that is longer than its size': request(
    'POST /books/',
    [CHUNKED],
    `2\r\n{}{}\r\n0\r\n\r\n`,
  ),
  'the same length twice': request(
    'POST /books/',
    ['Content-Length: 39', 'Content-Length: 39'],
    BOOK,
  ),
  'a length after its chunks': request(
    'POST /books/',
    [CHUNKED],
    CHUNKS.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n'),
  ),
  'lines that end with LF': request('POST /books/', [], BOOK).replaceAll('\r', ''),
  'lines that end with CR': request('POST /books/', [], BOOK).replaceAll('\n', ''),
  'a header that continues on the next line': request('POST /books/', ['X: a\r\n b'], BOOK),
  'NUL in a header': request('POST /books/', ['X: a\0b'], BOOK),
  'CR in a header': request('POST /books/', ['X: a\rb'], BOOK),
  'NUL in the name of a header': request('POST /books/', ['X\0: a'], BOOK),
  'two spaces in the request line': request('POST  /books/', [], BOOK),
  'a space before the method': ` ${request('POST /books/', [], BOOK)}`,
  'the version in lower case': request('POST /books/', [], BOOK).replace('HTTP', 'http'),
  'the version 1.2': request('POST /books/', [], BOOK).replace('/1.1', '/1.2'),
  'the version 0.9': 'POST /books/\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

for (const [what, text] of Object.entries(FAULTS)) {
  test(`a request with ${what} is 400, and neither it nor the next request is carried out`, async () => {
    const before = await bookCount();
    const answers = await converse(text + request('POST /books/', [LAST], BOOK));
    assertRefused(answers, 400);
    assert.is(answers[0]?.headers['connection'], 'close');
    assert.is(await bookCount(), before);
  });
}

test('a request pipelined after an ambiguous request is not carried out', async () => {
  const book = request('POST /books/', [], BOOK);
  for (const what of [
    'two hosts',
    'an empty transfer coding',
    'a transfer coding before chunked',
  ]) {
    const before = await bookCount();
    // The first two take a while, so that all are read before the invalid one is handled.
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
  'empty lines before it': `\r\n\r\n${request('POST /books/', [LAST], BOOK)}`,
  'an empty host': request('POST /books/', [LAST], BOOK).replace('catalog', ''),
  'a host in brackets': request('POST /books/', [LAST], BOOK).replace('catalog', '[::1]:80'),
  '"chunked" in upper case': request('POST /books/', ['Transfer-Encoding: CHUNKED', LAST], CHUNKS),
  'a chunk extension': request('POST /books/', [CHUNKED, LAST], CHUNKS.replace('\r', ';a="b"\r')),
  'a trailer field': request(
    'POST /books/',
    [CHUNKED, LAST],
    CHUNKS.replace(/\r\n$/, 'X: y\r\n\r\n'),
  ),
  'a header beyond ASCII': request('POST /books/', ['X: caf\xe9', LAST], BOOK),
  'an offer to speak another protocol': request(
    'POST /books/',
    ['Upgrade: h2c', 'Connection: Upgrade, close'],
    BOOK,
  ),
};

for (const [what, text] of Object.entries(TAKEN)) {
  test(`a request with ${what} is accepted`, async () => {
    const answers = await converse(text);
    assert.equal(
      answers.map(({ status }) => status),
      [201],
    );
  });
}

const NO_REQUESTS: Readonly<Record<string, string>> = {
  'bytes that are not HTTP': 'hello there\r\n\r\n',
  'a CONNECT request': request('CONNECT catalog:80'),
  'headers that are too large': request('GET /books/', [`X: ${'x'.repeat(20_000)}`]),
  'a request with an invalid chunk size': request('POST /books/', [CHUNKED], 'zz\r\n'),
};

for (const [what, text] of Object.entries(NO_REQUESTS)) {
  test(`the error for ${what} is sent after the responses to the earlier requests`, async () => {
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

test('a Content-Type that is given twice is 415, and the body is not stored', async () => {
  const before = await bookCount();
  const type = 'Content-Type: application/json';
  const bare = request('POST /books/', [type, LAST], BOOK);
  const [once] = await converse(bare);
  const [twice] = await converse(bare.replace(type, `${type}\r\n${type}`));
  assert.is(once?.status, 201);
  assert.is(twice?.status, 415);
  assert.is(await bookCount(), before + 1);
});

test('if Authorization is given twice, neither is used', async () => {
  const other = 'Authorization: Bearer x';
  for (const headers of [
    [authorization, other],
    [other, authorization],
    [authorization, authorization],
  ]) {
    assertRefused(await converse(request('GET /admin/skus/', [...headers, LAST])), 401);
  }
});

// The log

/** Characters that end lines, headers and strings, reverse text, or are not Latin-1. */
const HOSTILE =
  'Acme\0\r\nX-Injected: 1\r\n\r\n\u0085\u2028\u202e\u001b[2J\u{e0001}\u00e9\u{1f600}';

for (const format of ['json', 'text']) {
  test(`no subject, request id, path or name can forge a line of the log as ${format}`, async () => {
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

test('none of these requests makes the server log an error', async () => {
  await server.stop();
  assert.equal(server.log, []);
});

test.run();
