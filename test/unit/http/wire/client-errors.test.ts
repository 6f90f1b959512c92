/** spec 11.2: bytes that are not a request, among requests on the same connection. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { responsesIn } from '../../../support/raw.ts';
import { until } from '../../../support/until.ts';
import { Stage, staged } from '../../../support/wire.ts';

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
const LAST_GET = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
const GARBAGE = 'garbage\r\n\r\n';
/** Its body has a chunk without a size. */
const MALFORMED_POST = 'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n';
const LIMIT = 4;

/** An application whose POSTs wait for the test. */
function held() {
  const gates: (() => void)[] = [];
  const application = async ({ method, body }: HttpRequest): Promise<HttpResponse> => {
    if (method === 'POST') {
      await body.bytes(null);
      await new Promise<void>((resolve) => void gates.push(resolve));
      return { status: 201, headers: {}, body: 'written' };
    }
    return { status: 200, headers: {}, body: 'read' };
  };
  return { application, gates };
}

const statusesOf = (text: string) => responsesIn(text).map(({ status }) => status);

/** Serves a second connection, which gives the first one time for a wrong response. */
async function serveAnother(stage: Stage): Promise<void> {
  const other = stage.connect();
  other.socket.write(LAST_GET);
  assert.equal(statusesOf(await other.end()), [200]);
}

/** Waits until no request is active, so that a shutdown does not wait. */
async function assertIdle({ server }: Stage): Promise<void> {
  await until('no request is active', () => server.requests === 0);
}

test('garbage after too many pipelined requests is not answered in place of a pending write', () => {
  const { application, gates } = held();
  return staged(
    application,
    async (stage) => {
      const client = stage.connect();
      client.socket.write(POST + GET.repeat(LIMIT + 2) + GARBAGE);
      await until('the write has begun', () => gates.length === 1);
      await serveAnother(stage);
      assert.is(client.text, '');
      gates[0]?.();
      assert.equal(statusesOf(await client.end()), [201, 200, 200, 200, 200, 503]);
      await assertIdle(stage);
    },
    { pipelined: LIMIT },
  );
});

test('a request whose handler waits for the rest of a malformed body is 400', () => {
  const { application, gates } = held();
  return staged(application, async (stage) => {
    const client = stage.connect();
    client.socket.write(MALFORMED_POST);
    assert.equal(statusesOf(await client.end()), [400]);
    await assertIdle(stage);
    assert.is(gates.length, 0);
  });
});

test('a request with a malformed body is not begun after the one before it, which is answered first', () => {
  const { application, gates } = held();
  let begun = 0;
  const counting = (request: HttpRequest) => {
    begun += 1;
    return application(request);
  };
  return staged(counting, async (stage) => {
    const client = stage.connect();
    client.socket.write(POST + MALFORMED_POST);
    await until('the write has begun', () => gates.length === 1);
    await serveAnother(stage);
    assert.is(client.text, '');
    gates[0]?.();
    assert.equal(statusesOf(await client.end()), [201, 400]);
    await assertIdle(stage);
    assert.is(begun, 2, 'the write and the request of the other connection');
  });
});

for (const when of ['is in progress', 'has ended'] as const) {
  test(`a write that does not read its body gets its own response if the body is malformed while its handler ${when}`, () => {
    const { promise: handled, resolve: handle } = Promise.withResolvers<void>();
    let effects = 0;
    const application = async ({ method }: HttpRequest): Promise<HttpResponse> => {
      if (method === 'GET') return { status: 200, headers: {}, body: 'read' };
      effects += 1;
      if (when === 'is in progress') await handled;
      return { status: 204, headers: {}, body: null };
    };
    return staged(application, async (stage) => {
      const client = stage.connect();
      const [head, rest = ''] = MALFORMED_POST.split(/(?<=\r\n\r\n)/);
      client.socket.write(`${head}`);
      await until('it has begun', () => effects === 1);
      client.socket.write(rest + GET);
      await serveAnother(stage);
      handle();
      const [answer, ...more] = responsesIn(await client.end());
      assert.is(answer?.status, 204);
      assert.is(answer?.headers['connection'], 'close');
      assert.equal(more, []);
      await assertIdle(stage);
      const records = stage.records.filter(({ method }) => method === 'POST');
      assert.equal(
        records.map(({ status }) => status),
        [204],
      );
      assert.equal(stage.errors, []);
    });
  });
}

test('a read with a malformed body is 400, although its handler does not read the body', () => {
  const { application } = held();
  return staged(application, async (stage) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const client = stage.connect();
      client.socket.write(MALFORMED_POST.replace('POST', method));
      assert.equal(statusesOf(await client.end()), [400], method);
    }
    await assertIdle(stage);
    assert.equal(stage.errors, []);
  });
});

test('after garbage on a connection a shutdown still waits for requests on other connections', () => {
  const { application, gates } = held();
  return staged(
    application,
    async (stage) => {
      const client = stage.connect();
      client.socket.write(POST + GET.repeat(LIMIT + 2) + GARBAGE);
      await until('the write has begun', () => gates.length === 1);
      gates[0]?.();
      await client.end();
      const live = stage.connect();
      live.socket.write(POST);
      await until('a write is under way', () => gates.length === 2);
      const closing = stage.server.close(60_000);
      await until('new connections are refused', async () => {
        const late = stage.connect();
        await until('it is settled', () => late.closed || late.socket.readyState === 'open');
        late.socket.destroy();
        return late.closed || stage.server.connections <= 1;
      });
      assert.not.ok(live.closed, 'the connection is not cut');
      gates[1]?.();
      assert.equal(statusesOf(await live.end()), [201]);
      await closing;
    },
    { pipelined: LIMIT },
  );
});

test('for any mix of requests and garbage, responses keep their order and no request stays active', async () => {
  const parts = fc.array(
    fc.constantFrom(
      { text: GET, status: 200 },
      { text: POST, status: 201 },
      { text: GARBAGE, status: 400 },
      { text: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
    ),
    { maxLength: LIMIT },
  );
  const many = fc.integer({ min: 0, max: 2 * LIMIT }).map((count) => {
    return Array.from({ length: count }, () => ({ text: GET, status: 200 }));
  });
  const stage = new Stage();
  const { application, gates } = held();
  const seen = new Set<number>();
  const property = fc.asyncProperty(
    fc.tuple(parts, many, parts).map((all) => all.flat()),
    fc.boolean(),
    async (requests, leaves) => {
      const sent = [...requests, { text: LAST_GET, status: 200 }];
      const client = stage.connect();
      client.socket.write(sent.map(({ text }) => text).join(''));
      if (leaves) {
        await until('it is read', () => stage.server.requests > 0 || client.received > 0);
        client.socket.resetAndDestroy();
      }
      await until('everything is done', () => {
        for (const release of gates.splice(0)) release();
        return stage.server.requests === 0 && client.closed;
      });
      if (leaves) return;
      const error = sent.findIndex(({ status }) => status === 400);
      const expected = sent.slice(0, error < 0 ? sent.length : error + 1).map((s) => s.status);
      const received = statusesOf(client.text);
      for (const status of received) seen.add(status);
      // How many requests wait depends on the network: one beyond the limit is 503, and the last.
      if (received.at(-1) === 503) expected.splice(received.length - 1, expected.length, 503);
      // Twice as many requests close the connection at once.
      if (sent.length > 2 * LIMIT + 2) expected.splice(received.length);
      assert.equal(received, expected);
    },
  );
  await stage.start(application, { pipelined: LIMIT });
  try {
    await fc.assert(property, { numRuns: 200, includeErrorInReport: true });
    assert.equal(stage.errors, []);
    // Whether a 503 is among them depends on the network; the first test has one in any case.
    for (const status of [200, 201, 400]) assert.ok(seen.has(status), `${status} is seen`);
  } finally {
    await stage.stop();
  }
});

const FETCH = 'FETCH /x HTTP/1.1\r\nHost: a\r\n\r\n';

for (const bytes of [FETCH, `\r\n${FETCH}`, FETCH.replace('/x', '/x?a=1?b')]) {
  test(`the application refuses the method of ${JSON.stringify(bytes)} (spec 3.8)`, () => {
    const application = ({ method, path, search }: HttpRequest): HttpResponse => ({
      status: 405,
      headers: { Allow: 'GET' },
      body: [method, path, search].join(' '),
    });
    return staged(application, async (stage) => {
      const client = stage.connect();
      client.socket.write(bytes);
      const [answer, ...more] = responsesIn(await client.end());
      assert.is(answer?.status, 405);
      assert.is(answer?.headers['allow'], 'GET');
      assert.is(answer?.headers['connection'], 'close');
      assert.is(answer?.body, `FETCH /x ${bytes.includes('?') ? 'a=1?b' : ''}`);
      assert.equal(more, []);
      assert.equal(
        stage.records.map(({ status }) => status),
        [405],
      );
      await assertIdle(stage);
    });
  });
}

test('the refusal of an unknown method follows the response to a pending write', () => {
  const { application, gates } = held();
  return staged(application, async (stage) => {
    const client = stage.connect();
    client.socket.write(POST);
    await until('the write has begun', () => gates.length === 1);
    client.socket.write(FETCH);
    await serveAnother(stage);
    assert.is(client.text, '');
    gates[0]?.();
    assert.equal(
      responsesIn(await client.end()).map(({ body }) => body),
      ['written', 'read'],
    );
    await assertIdle(stage);
  });
});

const BROKEN: readonly (readonly [bytes: string, statuses: readonly number[]])[] = [
  [FETCH.replace('\r\n', '\n'), [400]],
  [GARBAGE, [400]],
  ['\x16\x03\x01\x02', [400]],
  // The parser does not say where in the packet the error is.
  [GET + FETCH, [200, 400]],
  [GET + GARBAGE, [200, 400]],
];

for (const [bytes, statuses] of BROKEN) {
  test(`${JSON.stringify(bytes)} is answered with ${statuses.join(', ')}`, () =>
    staged(held().application, async (stage) => {
      const client = stage.connect();
      client.socket.write(bytes);
      const answers = responsesIn(await client.end());
      assert.equal(
        answers.map(({ status }) => status),
        statuses,
      );
      assert.match(answers.at(-1)?.body ?? '', /not valid HTTP/);
      const age = Date.now() - Date.parse(answers.at(-1)?.headers['date'] ?? '');
      assert.ok(Math.abs(age) < 60_000, 'every response has the time (RFC 9110, section 6.6.1)');
      await assertIdle(stage);
    }));
}

const ENDED: Readonly<Record<string, string>> = {
  'a body that stops half-way': POST.slice(0, -1),
  'a malformed body': MALFORMED_POST,
  garbage: GARBAGE,
  'CONNECT after a request': `${GET}CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`,
  'a method that HTTP does not define': FETCH,
};

for (const [what, bytes] of Object.entries(ENDED)) {
  test(`after the error for ${what}, a client that does not close its side loses the connection`, () =>
    staged(
      held().application,
      async (stage) => {
        const client = stage.connect();
        client.socket.removeAllListeners('end');
        client.socket.write(bytes);
        await until('the error is there', () => /Connection: close/.test(client.text));
        await until('the connection is closed', () => stage.server.connections === 0);
        await assertIdle(stage);
        assert.is(stage.server.bodyMemory, 0);
      },
      { requestTimeout: 200 },
    ));
}

/** Bytes of a request that is answered while its handler waits for the rest of them. */
const UNFINISHED = [
  [408, POST.slice(0, -1)],
  [400, MALFORMED_POST],
] as const;

for (const [status, bytes] of UNFINISHED) {
  test(`a request that is ${status} while it is in progress has one record, with its method and path`, () =>
    staged(
      async ({ body }) => {
        const received = await body.bytes(null).catch(() => null);
        return { status: received === null ? 422 : 201, headers: {}, body: 'not sent' };
      },
      async (stage) => {
        const client = stage.connect();
        client.socket.write(bytes);
        const [answer] = responsesIn(await client.end());
        await assertIdle(stage);
        assert.equal(
          stage.records.map(({ method, path, ...record }) => [method, path, record.status]),
          [['POST', '/x', status]],
        );
        const [record] = stage.records;
        assert.is(record?.bytes, Buffer.byteLength(answer?.body ?? ''));
        assert.is(record?.aborted, false);
      },
      { requestTimeout: 200 },
    ));
}

test('a write whose body is complete after it was answered with 408 is not carried out', () => {
  const { application, gates } = held();
  return staged(
    application,
    async (stage) => {
      const client = stage.connect();
      client.socket.removeAllListeners('end');
      client.socket.write(POST.slice(0, -1));
      await until('the time is over', () => client.text !== '');
      client.socket.write(POST.slice(-1));
      await assertIdle(stage);
      assert.equal(statusesOf(client.text), [408]);
      assert.is(gates.length, 0);
    },
    { requestTimeout: 200 },
  );
});

test.run();
