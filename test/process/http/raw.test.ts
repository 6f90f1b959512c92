/** HTTP/1.1 as bytes: what belongs to which request, and what is no request at all. */
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { without } from '../../support/catalog.ts';
import { send, tokenFor } from '../../support/client.ts';
import { type Answered, answersIn, exchangeRaw, request } from '../../support/raw.ts';
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

/** Sends it all at once; the last request asks for the connection to be closed. */
async function converse(chunks: readonly string[], heads: readonly number[] = []) {
  const text = await exchangeRaw(server, chunks);
  const answers = answersIn(text, heads);
  for (const { headers } of answers) {
    assert.is(headers['server'] ?? headers['x-powered-by'], undefined, 'it tells of the runtime');
  }
  return answers;
}

const statuses = (answers: readonly Answered[]) => answers.map(({ status }) => status);

/** A refusal in the shape of every other (spec 3.1), after which the connection ends. */
function assertRefused(answers: readonly Answered[], status: number, what: string): void {
  assert.equal(statuses(answers), [status], what);
  const [answer] = answers;
  assert.is(answer?.headers['content-type'], 'application/json', what);
  assert.is(answer?.headers['connection'], 'close', what);
  assert.is(answer?.headers['x-content-type-options'], 'nosniff', what);
  assert.type(JSON.parse(answer?.body ?? '').error, 'string', what);
}

/** Sends what is there of a request, then no more: the client ends its side. */
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

test('pipelined requests are answered in their order', async () => {
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

test('fifty pipelined requests in pieces of seven bytes are answered one for one', async () => {
  const one = request('GET /books/99999/');
  const all = `${one.repeat(49)}${request('GET /books/99999/', [LAST])}`;
  const pieces = all.match(/[^]{1,7}/g) ?? [];
  const answers = await converse(pieces);
  assert.equal(
    statuses(answers),
    Array.from({ length: 50 }, () => 404),
  );
});

test('a pipelined request sees what the one before it wrote', async () => {
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
  'to an unknown item': ['PUT /books/99999/', 404],
  'with a method that the path does not have': ['PUT /books/', 405],
  'that reads': ['GET /books/', 200],
};

for (const [what, [line, status]] of Object.entries(EARLY)) {
  test(`the body of a request ${what} is not taken for the next request`, async () => {
    await send(server, 'POST', '/books/', { body: BOOK });
    const before = await bookCount();
    const last = request('GET /openapi.json', [LAST]);
    const framings = [request(line, [], BAIT), request(line, [CHUNKED], chunked(BAIT))];
    for (const first of framings) {
      for (const chunks of [[first + last], [first.slice(0, -20), first.slice(-20), last]]) {
        const text = await exchangeRaw(server, chunks);
        const [answer, next, ...more] = answersIn(text);
        assert.is(answer?.status, status, text);
        assert.equal(more, []);
        // The connection survives, or the answer says that it does not.
        if (next === undefined) assert.is(answer?.headers['connection'], 'close');
        else assert.is(next.status, 200, text);
      }
    }
    assert.is(await bookCount(), before);
    assert.is((await send(server, 'GET', '/books/1/')).status, 200);
  });
}

test('a body that is cut off is 400 or the end of the connection, and nothing is written', async () => {
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
    for (const { status } of answersIn(received)) {
      assert.ok(status === 400 || status === 401, `${text}: ${received}`);
    }
  }
  assert.is(await bookCount(), before);
});

test('an absolute target is the same as its path', async () => {
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

test('an absolute target without a path is the root (RFC 9110, section 4.2.3)', async () => {
  const root = await send(server, 'GET', '/');
  const [answer] = await converse([request('GET http://catalog', [LAST])]);
  assert.is(answer?.status, 200);
  assert.is(answer?.body, root.text);
});

test('headers that are too large are 431', async () => {
  const large = request('GET /books/', [`X-Large: ${'x'.repeat(20_000)}`]);
  assertRefused(await converse([large]), 431, 'one header');
  const many = Array.from({ length: 1000 }, (_, index) => `X-${index}: ${'x'.repeat(20)}`);
  assertRefused(await converse([request('GET /books/', many)]), 431, 'many headers');
  const target = request(`GET /books/?${'x'.repeat(20_000)}`);
  assertRefused(await converse([target]), 431, 'target');
});

const NO_REQUESTS: Readonly<Record<string, string>> = {
  'is no HTTP': 'hello there\r\n\r\n',
  'is a TLS greeting': '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03',
  'has an unknown version': 'GET /books/ HTTP/3.7\r\nHost: catalog\r\n\r\n',
  'has no target': 'GET HTTP/1.1\r\nHost: catalog\r\n\r\n',
  'has no Host': 'GET /books/ HTTP/1.1\r\n\r\n',
  'has a space before a colon': request('GET /books/', ['X-Header : 1']),
  'has a header without a colon': request('GET /books/', ['X-Header']),
  'has both framings': request('POST /books/', ['Content-Length: 5', CHUNKED], `0\r\n\r\n${BAIT}`),
  'has two lengths': request('POST /books/', ['Content-Length: 5', 'Content-Length: 6'], 'abcdef'),
  'has a negative length': request('POST /books/', ['Content-Length: -5']),
  'has a length that is no number': request('POST /books/', ['Content-Length: 5x'], 'abcde'),
  'has an unknown transfer coding': request('POST /books/', ['Transfer-Encoding: gzip'], BOOK),
  'has a chunk without a size': request('POST /books/', [CHUNKED], `zz\r\n${BOOK}\r\n0\r\n\r\n`),
};

for (const [what, text] of Object.entries(NO_REQUESTS)) {
  test(`a request that ${what} is 400 as JSON, and the connection ends`, async () => {
    const before = await bookCount();
    assertRefused(await converse([text]), 400, what);
    assert.is(await bookCount(), before);
  });
}

test('an expectation that is unknown is 417 as JSON', async () => {
  const [answer] = await converse([request('POST /books/', ['Expect: 200-ok', LAST], BOOK)]);
  assert.is(answer?.status, 417);
  assert.is(answer?.headers['content-type'], 'application/json');
  assert.type(JSON.parse(answer?.body ?? '').error, 'string');
});

const EXPECT = 'Expect: 100-continue';

test('Expect: 100-continue is answered before the body is read', async () => {
  const head = request('POST /books/', [EXPECT, `Content-Length: ${BOOK.length}`, LAST]);
  const { hostname, port } = new URL(server.url);
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let sent = false;
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (sent || !text.includes('\r\n\r\n')) return;
      sent = true;
      socket.write(BOOK);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.on('connect', () => socket.write(head));
  });
  assert.equal(statuses(answersIn(received)), [100, 201]);
});

test('a refused request that expects 100-continue does not get 100', async () => {
  const length = `Content-Length: ${BOOK.length}`;
  const refused = [
    ['POST /admin/skus/', length, 401],
    ['POST /nowhere/', length, 404],
    ['PUT /books/', length, 405],
    ['POST /books/', 'Content-Length: 9999999', 413],
    ['POST /books/', `${length}\r\nContent-Type: text/plain`, 415],
  ] as const;
  for (const [line, headers, status] of refused) {
    // No body follows: the answer has to come without it.
    assertRefused(await converse([request(line, [EXPECT, headers])]), status, line);
  }
});

/** Bytes of a body that are taken, unless `--max-body` says otherwise. */
const MEBIBYTE = 1024 * 1024;

const TOO_LARGE: Readonly<Record<string, readonly string[]>> = {
  'that Content-Length declares too large': [request('POST /books/', [], 'x'.repeat(MEBIBYTE + 1))],
  'in chunks that grow too large': [
    request('POST /books/', [CHUNKED]),
    ...Array.from({ length: 20 }, () => `10000\r\n${'x'.repeat(65_536)}\r\n`),
    '0\r\n\r\n',
  ],
};

for (const [what, chunks] of Object.entries(TOO_LARGE)) {
  test(`a body ${what} is 413, and what follows is answered or the connection ends`, async () => {
    const [answer, ...more] = await converse([...chunks, request('GET /books/', [LAST])]);
    assert.is(answer?.status, 413);
    const ends = answer?.headers['connection'] === 'close';
    assert.equal(statuses(more), ends ? [] : [200]);
  });
}

test('a body of 1 MiB is read, and so is one in chunks', async () => {
  const whole = await converse([request('POST /books/', [LAST], BOOK.padEnd(MEBIBYTE))]);
  const pieces = `5\r\n${BOOK.slice(0, 5)}\r\n${chunked(BOOK.slice(5))}`;
  const inChunks = await converse([request('POST /books/', [CHUNKED, LAST], pieces)]);
  assert.equal(statuses([...whole, ...inChunks]), [201, 201]);
});

test('HEAD has the headers of GET, Content-Length included, and no body', async () => {
  const { id } = (await send(server, 'POST', '/books/', { body: BOOK })).json;
  const targets = ['/books/', `/books/${id}/`, '/books/99999/', '/admin/brands/', '/openapi.json'];
  for (const target of [...targets, '/docs/', '/', '/nowhere/', '/pages/skus/1.html']) {
    const heads = request(`HEAD ${target}`, [authorization]);
    const [head, get] = await converse(
      [heads + request(`GET ${target}`, [authorization, LAST])],
      [0],
    );
    assert.is(head?.status, get?.status, target);
    const lasting = ({ headers }: Answered) => without(headers, 'date', 'connection', 'keep-alive');
    assert.equal(lasting(head as Answered), lasting(get as Answered), target);
    assert.is(head?.headers['content-length'], String(get?.body.length), target);
    assert.ok(Number(get?.body.length) > 0, target);
  }
});

test('an answer without a body has no length and leaves the connection usable', async () => {
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

test('HTTP/1.0 is answered, and the connection ends', async () => {
  const [answer, ...more] = await converse(['GET /books/ HTTP/1.0\r\n\r\n']);
  assert.is(answer?.status, 200);
  assert.equal(more, []);
});

/** Clients that go away in the middle of a body. */
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

test('clients that close the connection in the middle of a body leave no state', async () => {
  const before = await bookCount();
  await abandon(20);
  assert.is(await bookCount(), before);
});

test('an idle connection does not delay the end of the server', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(request('GET /books/99999/'));
  await new Promise((resolve) => socket.once('data', resolve));
  // The grace of this server is minutes.
  await server.stop();
  server = await listen({ data: server.data });
  socket.destroy();
});

test('clients that have closed their connection do not delay the end of the server', async () => {
  await abandon(20);
  // The server has seen the connections end by the time it has answered this.
  await bookCount();
  // The grace of this server is minutes.
  await server.stop();
  server = await listen({ data: server.data });
});

test.run();
