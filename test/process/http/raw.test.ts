/** HTTP/1.1 on the wire: how bytes are split into requests, and which bytes are rejected. */
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { without } from '../../support/catalog.ts';
import { send, tokenFor } from '../../support/client.ts';
import { exchangeRaw, type RawResponse, request, responsesIn } from '../../support/raw.ts';
import { listen, type Listening } from '../../support/listening.ts';

const BOOK = JSON.stringify({ name: 'Emma', pub_date: '1815-12-23' });
const LAST = 'Connection: close';
let server: Listening;
let authorization: string;

test.before(async () => {
  server = await listen();
  authorization = `Authorization: Bearer ${await tokenFor('admin')}`;
});

test.after(async () => {
  await server.stop();
});

/** Sends the chunks; the last request has to ask for the connection to be closed. */
async function converse(chunks: readonly string[], heads: readonly number[] = []) {
  const text = await exchangeRaw(server, chunks);
  const answers = responsesIn(text, heads);
  for (const { headers } of answers) {
    assert.is(headers['server'] ?? headers['x-powered-by'], undefined, 'it tells of the runtime');
  }
  return answers;
}

const statuses = (answers: readonly RawResponse[]) => answers.map(({ status }) => status);

/** One error response, in the common shape (spec 3.1), that closes the connection. */
function assertRefused(answers: readonly RawResponse[], status: number, what: string): void {
  assert.equal(statuses(answers), [status], what);
  const [answer] = answers;
  assert.is(answer?.headers['content-type'], 'application/json', what);
  assert.is(answer?.headers['connection'], 'close', what);
  assert.is(answer?.headers['x-content-type-options'], 'nosniff', what);
  assert.type(JSON.parse(answer?.body ?? '').error, 'string', what);
}

/** Sends the text and then half-closes the connection. */
function sendAndEnd(text: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let received = '';
    socket.on('data', (data) => (received += data.toString('latin1')));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
    socket.on('connect', () => socket.end(text));
  });
}

async function bookCount(): Promise<number> {
  return (await send(server, 'GET', '/books/')).json.length;
}

test('pipelined requests are answered in order', async () => {
  const targets = ['/books/', '/nowhere/', '/openapi.json', '/books/99999/', '/admin/skus/', '/'];
  const requests = targets.map((target, index) =>
    request(`GET ${target}`, index === targets.length - 1 ? [LAST] : []),
  );
  const answers = await converse([requests.join('')]);
  assert.equal(statuses(answers), [200, 404, 200, 404, 401, 200]);
  for (const [index, target] of targets.entries()) {
    const alone = await send(server, 'GET', target, { token: null });
    assert.is(answers[index]?.body, Buffer.from(alone.text).toString('latin1'), target);
  }
});

test('50 pipelined requests that arrive in pieces of 7 bytes get 50 responses', async () => {
  const one = request('GET /books/99999/');
  const all = `${one.repeat(49)}${request('GET /books/99999/', [LAST])}`;
  const pieces = all.match(/[^]{1,7}/g) ?? [];
  const answers = await converse(pieces);
  assert.equal(
    statuses(answers),
    Array.from({ length: 50 }, () => 404),
  );
});

test('a pipelined request sees what the request before it wrote', async () => {
  const created = await send(server, 'POST', '/books/', { body: BOOK });
  const next = created.json.id + 1;
  const answers = await converse([
    request('POST /books/', [], BOOK) +
      request(`GET /books/${next}/`) +
      request(`PATCH /books/${next}/`, [], '{"name":"Emma II"}') +
      request(`GET /books/${next}/`) +
      request(`DELETE /books/${next}/`) +
      request(`GET /books/${next}/`, [LAST]),
  ]);
  assert.equal(statuses(answers), [201, 200, 200, 200, 204, 404]);
  assert.is(JSON.parse(answers[3]?.body ?? '').name, 'Emma II');
});

const BAIT = request('DELETE /books/1/');
const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

const EARLY: Readonly<Record<string, readonly [line: string, status: number]>> = {
  'without a token': ['POST /admin/skus/', 401],
  'to an unknown path': ['POST /nowhere/', 404],
  'for an unknown item': ['PUT /books/99999/', 404],
  'with a method that the path does not support': ['PUT /books/', 405],
  'with the method GET': ['GET /books/', 200],
};

for (const [what, [line, status]] of Object.entries(EARLY)) {
  test(`the body of a request ${what} is not parsed as the next request`, async () => {
    await send(server, 'POST', '/books/', { body: BOOK });
    const before = await bookCount();
    const last = request('GET /openapi.json', [LAST]);
    const framings = [request(line, [], BAIT), request(line, [CHUNKED], chunked(BAIT))];
    for (const first of framings) {
      for (const chunks of [[first + last], [first.slice(0, -20), first.slice(-20), last]]) {
        const text = await exchangeRaw(server, chunks);
        const [answer, next, ...more] = responsesIn(text);
        assert.is(answer?.status, status, text);
        assert.equal(more, []);
        // The connection stays open, or the response announces that it is closed.
        if (next === undefined) assert.is(answer?.headers['connection'], 'close');
        else assert.is(next.status, 200, text);
      }
    }
    assert.is(await bookCount(), before);
    assert.is((await send(server, 'GET', '/books/1/')).status, 200);
  });
}

test('a truncated body is 400, 401 or a closed connection, and nothing is written', async () => {
  const before = await bookCount();
  const cut = [
    request('POST /books/', ['Content-Length: 500'], BOOK),
    request('POST /books/', ['Content-Length: 500']),
    request('POST /books/', [CHUNKED], `${BOOK.length.toString(16)}\r\n${BOOK}\r\n`),
    request('POST /books/', [CHUNKED], 'ff\r\n{"name"'),
    request('POST /admin/skus/', ['Content-Length: 500'], BOOK),
  ];
  for (const text of cut) {
    const received = await sendAndEnd(text);
    for (const { status } of responsesIn(received)) {
      assert.ok(status === 400 || status === 401, `${text}: ${received}`);
    }
  }
  assert.is(await bookCount(), before);
});

test('a request target in absolute form gets the same response as its path', async () => {
  const cases = [
    ['http://catalog/books/?limit=1', '/books/?limit=1', 200],
    ['http://elsewhere.example:81/books/99999/', '/books/99999/', 404],
    ['HTTP://catalog/openapi.json', '/openapi.json', 200],
    ['http://catalog/', '/', 200],
  ] as const;
  for (const [target, path, status] of cases) {
    const [answer, ...more] = await converse([request(`GET ${target}`, [LAST])]);
    assert.is(answer?.status, status, target);
    const { text } = await send(server, 'GET', path);
    assert.is(answer?.body, Buffer.from(text).toString('latin1'), target);
    assert.equal(more, []);
  }
  const [admin] = await converse([
    request('GET http://catalog/admin/brands/', [authorization, LAST]),
  ]);
  assert.is(admin?.status, 200);
});

test('an absolute target without a path means the root (RFC 9110, section 4.2.3)', async () => {
  const root = await send(server, 'GET', '/');
  const [answer] = await converse([request('GET http://catalog', [LAST])]);
  assert.is(answer?.status, 200);
  assert.is(answer?.body, root.text);
});

test('a header of 20,000 bytes is 431, and so are 1000 headers and a target of 30,000 bytes', async () => {
  const large = request('GET /books/', [`X-Large: ${'x'.repeat(20_000)}`]);
  assertRefused(await converse([large]), 431, 'one header');
  const many = Array.from({ length: 1000 }, (_, index) => `X-${index}: ${'x'.repeat(20)}`);
  assertRefused(await converse([request('GET /books/', many)]), 431, 'many headers');
  const target = (bytes: number) => request(`GET /books/?${'x'.repeat(bytes)}`);
  assertRefused(await converse([target(20_000)]), 414, 'a long target');
  assertRefused(await converse([target(30_000)]), 431, 'longer than both limits together');
});

const NO_REQUESTS: Readonly<Record<string, string>> = {
  'is not HTTP': 'hello there\r\n\r\n',
  'is a TLS ClientHello': '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03',
  'has an unknown version': 'GET /books/ HTTP/3.7\r\nHost: catalog\r\n\r\n',
  'has no target': 'GET HTTP/1.1\r\nHost: catalog\r\n\r\n',
  'has no Host': 'GET /books/ HTTP/1.1\r\n\r\n',
  'has a space before a colon': request('GET /books/', ['X-Header : 1']),
  'has a header without a colon': request('GET /books/', ['X-Header']),
  'has both Content-Length and Transfer-Encoding': request(
    'POST /books/',
    ['Content-Length: 5', CHUNKED],
    `0\r\n\r\n${BAIT}`,
  ),
  'has two different lengths': request(
    'POST /books/',
    ['Content-Length: 5', 'Content-Length: 6'],
    'abcdef',
  ),
  'has a negative length': request('POST /books/', ['Content-Length: -5']),
  'has a length that is not a number': request('POST /books/', ['Content-Length: 5x'], 'abcde'),
  'has an unknown transfer coding': request('POST /books/', ['Transfer-Encoding: gzip'], BOOK),
  'has a chunk without a size': request('POST /books/', [CHUNKED], `zz\r\n${BOOK}\r\n0\r\n\r\n`),
};

for (const [what, text] of Object.entries(NO_REQUESTS)) {
  test(`a request that ${what} is 400 as JSON and closes the connection`, async () => {
    const before = await bookCount();
    assertRefused(await converse([text]), 400, what);
    assert.is(await bookCount(), before);
  });
}

test('a target that is not percent-encoded is 400, and the error says so', async () => {
  for (const target of ['/books/?q=café', '/bücher/']) {
    const answers = await converse([request(`GET ${target}`)]);
    assertRefused(answers, 400, target);
    assert.match(answers[0]?.body ?? '', 'must be percent-encoded');
  }
});

test('an unknown expectation in Expect is 417 as JSON, also beside 100-continue', async () => {
  for (const expected of ['200-ok', '100-continue, 200-ok', '100-continue2']) {
    const headers = [`Expect: ${expected}`, LAST];
    assertRefused(await converse([request('POST /books/', headers, BOOK)]), 417, expected);
  }
});

test('a request whose Expect is an empty list is answered like one without it', async () => {
  for (const expected of ['', ' ', ' , ']) {
    const answers = await converse([request('POST /books/', [`Expect:${expected}`, LAST], BOOK)]);
    assert.equal(statuses(answers), [201], expected);
    assert.equal(
      statuses(await converse([request('GET /books/', [`Expect:${expected}`, LAST])])),
      [200],
    );
  }
});

const EXPECT = 'Expect: 100-continue';

/** Sends the body of a request when the server asks for it. @returns the statuses of its responses. */
async function statusesWithExpect(line: string, body: string, headers: readonly string[] = []) {
  const head = request(line, [EXPECT, `Content-Length: ${body.length}`, ...headers, LAST]);
  const { hostname, port } = new URL(server.url);
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let sent = false;
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (sent || !text.includes('\r\n\r\n')) return;
      sent = true;
      socket.write(body);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.on('connect', () => socket.write(head));
  });
  return statuses(responsesIn(received));
}

test('a request with Expect: 100-continue gets 100 before its body is sent, also one that is read as a stream', async () => {
  assert.equal(await statusesWithExpect('POST /books/', BOOK), [100, 201]);
  assert.equal(await statusesWithExpect('POST /books/', BOOK, [EXPECT]), [100, 201], 'twice');
  // As curl sends a large file.
  const headers = [authorization, 'Content-Type: text/csv'];
  const imported = await statusesWithExpect('POST /admin/brands/imports/', 'name\nA\n', headers);
  assert.equal(imported, [100, 202]);
});

test('a rejected request with Expect: 100-continue gets its error without a 100', async () => {
  const length = `Content-Length: ${BOOK.length}`;
  const refused = [
    ['POST /admin/skus/', length, 401],
    ['POST /nowhere/', length, 404],
    ['PUT /books/', length, 405],
    ['POST /books/', 'Content-Length: 9999999', 413],
    ['POST /books/', `${length}\r\nContent-Type: text/plain`, 415],
  ] as const;
  for (const [line, headers, status] of refused) {
    // No body is sent: the response must not wait for it.
    assertRefused(await converse([request(line, [EXPECT, headers])]), status, line);
  }
});

/** The default of `--max-body`, in bytes. */
const MEBIBYTE = 1024 * 1024;

const TOO_LARGE: Readonly<Record<string, readonly string[]>> = {
  'whose Content-Length is above 1 MiB': [request('POST /books/', [], 'x'.repeat(MEBIBYTE + 1))],
  'whose chunks add up to more than 1 MiB': [
    request('POST /books/', [CHUNKED]),
    ...Array.from({ length: 20 }, () => `10000\r\n${'x'.repeat(65_536)}\r\n`),
    '0\r\n\r\n',
  ],
};

for (const [what, chunks] of Object.entries(TOO_LARGE)) {
  test(`a body ${what} is 413, and the next request is answered or the connection is closed`, async () => {
    const [answer, ...more] = await converse([...chunks, request('GET /books/', [LAST])]);
    assert.is(answer?.status, 413);
    const ends = answer?.headers['connection'] === 'close';
    assert.equal(statuses(more), ends ? [] : [200]);
  });
}

test('a body of exactly 1 MiB is accepted, and so is a chunked body', async () => {
  const whole = await converse([request('POST /books/', [LAST], BOOK.padEnd(MEBIBYTE))]);
  const pieces = `5\r\n${BOOK.slice(0, 5)}\r\n${chunked(BOOK.slice(5))}`;
  const inChunks = await converse([request('POST /books/', [CHUNKED, LAST], pieces)]);
  assert.equal(statuses([...whole, ...inChunks]), [201, 201]);
});

test('HEAD returns the headers of GET, including Content-Length, and no body', async () => {
  const { id } = (await send(server, 'POST', '/books/', { body: BOOK })).json;
  const catalog = ['/books/', `/books/${id}/`, '/books/99999/', '/admin/brands/'];
  const targets = [...catalog, '/admin/tokens/', '/openapi.json'];
  for (const target of [...targets, '/docs/', '/', '/nowhere/', '/pages/skus/1.html']) {
    const heads = request(`HEAD ${target}`, [authorization]);
    const [head, get] = await converse(
      [heads + request(`GET ${target}`, [authorization, LAST])],
      [0],
    );
    assert.is(head?.status, get?.status, target);
    const lasting = ({ headers }: RawResponse) =>
      without(headers, 'date', 'connection', 'keep-alive');
    assert.equal(lasting(head as RawResponse), lasting(get as RawResponse), target);
    assert.is(head?.headers['content-length'], String(get?.body.length), target);
    assert.ok(Number(get?.body.length) > 0, target);
  }
});

test('a 304 or 204 has no length or transfer coding, and the connection stays usable', async () => {
  const { id } = (await send(server, 'POST', '/books/', { body: BOOK })).json;
  const etag = (await send(server, 'GET', '/books/1/')).headers.get('etag');
  const answers = await converse([
    request('GET /books/1/', [`If-None-Match: ${etag}`]),
    request(`DELETE /books/${id}/`),
    request('GET /books/', [LAST]),
  ]);
  assert.equal(statuses(answers), [304, 204, 200]);
  for (const { headers } of answers.slice(0, 2)) {
    assert.is(headers['content-length'], undefined);
    assert.is(headers['transfer-encoding'], undefined);
  }
});

test('an HTTP/1.0 request is answered, and then the connection is closed', async () => {
  const [answer, ...more] = await converse(['GET /books/ HTTP/1.0\r\n\r\n']);
  assert.is(answer?.status, 200);
  assert.equal(more, []);
});

/** Connections that their clients reset in the middle of a body. */
async function abandon(count: number): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const text = request('POST /books/', ['Content-Length: 500'], BOOK);
  const one = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(text, () => socket.resetAndDestroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  await Promise.all(Array.from({ length: count }, one));
}

test('a request whose client disconnects in the middle of the body is not carried out', async () => {
  const before = await bookCount();
  await abandon(20);
  assert.is(await bookCount(), before);
});

test('an idle connection does not delay the shutdown', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(request('GET /books/99999/'));
  await new Promise((resolve) => socket.once('data', resolve));
  // Fails if a request counts as under way.
  await server.stop();
  server = await listen({ data: server.data });
  socket.destroy();
});

test('clients that disconnected in the middle of a body do not delay the shutdown', async () => {
  await abandon(20);
  // When this request is answered, the server has seen that the connections are closed.
  await bookCount();
  // Fails if their requests count as under way.
  await server.stop();
  server = await listen({ data: server.data });
});

test.run();
