/** Bodies as streams over a real connection: limits, back-pressure, and errors half-way. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import type { Limits } from '../../../../src/http/wire/limits.ts';
import { withTimersOf } from '../../../support/clock.ts';
import { until } from '../../../support/until.ts';
import { type Stage, staged } from '../../../support/wire.ts';

const PIECE = 'x'.repeat(64 * 1024);
const LAST = 'Connection: close';

/** A body of `pieces` pieces that records how far it was read and whether it was closed. */
class Source implements AsyncIterable<string> {
  made = 0;
  closed = false;
  readonly #pieces: number;

  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (; this.made < this.#pieces; this.made += 1) yield PIECE;
    } finally {
      this.closed = true;
    }
  }
}

const streamed = (body: AsyncIterable<string | Uint8Array>): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain' },
  body,
});

/** The body of a chunked response; null if it is not complete. */
function unchunked(text: string): string | null {
  const head = text.slice(0, text.indexOf('\r\n\r\n'));
  assert.match(head, /^HTTP\/1\.1 200 /);
  assert.match(head, /\r\nTransfer-Encoding: chunked/i);
  assert.not.match(head, /\r\nContent-Length/i);
  let body = '';
  for (let at = head.length + 4; ; ) {
    const end = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (end < 0 || Number.isNaN(size)) return null;
    if (size === 0) return body;
    body += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

for (const method of ['GET', 'POST']) {
  test(`if a ${method} throws an error, the connection is closed without a response`, () =>
    staged(
      async ({ body }) => {
        await body.bytes(null);
        await new Promise((resolve) => setTimeout(resolve, 5));
        throw new Error('planted');
      },
      async (stage) => {
        const client = stage.connect();
        if (method === 'GET') client.send('GET /');
        else client.send('POST /', ['Content-Length: 2'], 'ab');
        assert.is(await client.end(), '');
        assert.is(stage.errors.length, 1);
        assert.is(stage.server.requests, 0);
        assert.is(stage.server.bodyMemory, 0);
      },
    ));
}

test('a response stream is sent in chunks without Content-Length, and its bytes are counted', () =>
  staged(
    () =>
      streamed(
        (async function* () {
          yield 'caf\u00e9 ';
          yield '';
          yield Buffer.from('bytes');
        })(),
      ),
    async (stage) => {
      const client = stage.connect();
      client.send('GET /');
      client.send('GET /', [LAST]);
      const text = await client.end();
      const second = text.indexOf('HTTP/1.1', 1);
      for (const answer of [text.slice(0, second), text.slice(second)]) {
        assert.is(Buffer.from(unchunked(answer) ?? '', 'latin1').toString(), 'caf\u00e9 bytes');
      }
      assert.equal(
        stage.records.map(({ bytes, aborted }) => ({ bytes, aborted })),
        [
          { bytes: 11, aborted: false },
          { bytes: 11, aborted: false },
        ],
      );
    },
  ));

test('the headers of a stream are sent before its first piece', () => {
  let release = () => {};
  const first = new Promise<void>((resolve) => (release = resolve));
  return staged(
    () =>
      streamed(
        (async function* () {
          await first;
          yield 'event';
        })(),
      ),
    async (stage) => {
      const client = stage.connect();
      client.send('GET /', [LAST]);
      await until('the headers are there', () => client.text.includes('\r\n\r\n'));
      release();
      assert.is(unchunked(await client.end()), 'event');
    },
  );
});

test('while a response is sent, no more is received of a body that is too long or too finely divided', () => {
  let more = () => {};
  const events = async function* () {
    for (;;) {
      yield 'event';
      await new Promise<void>((resolve) => (more = resolve));
    }
  };
  return staged(
    () => streamed(events()),
    async (stage) => {
      const client = stage.connect();
      client.send('GET /', ['Transfer-Encoding: chunked'], '1\r\na\r\n'.repeat(20_000));
      await until('the stream has begun', () => client.text.endsWith('event\r\n'));
      assert.match(client.text, /\r\nConnection: close\r\n/i);
      // More than the buffers of the system hold.
      const rest = Buffer.alloc(64 * 1024 * 1024, 'x');
      let isTaken = false;
      client.socket.write(`${rest.length.toString(16)}\r\n`);
      client.socket.write(rest, () => (isTaken = true));
      const nextEvent = () => {
        const { received } = client;
        more();
        return until('the next event is there', () => client.received > received);
      };
      for (let turns = 0; turns < 100; turns += 1) await nextEvent();
      assert.not(isTaken);
    },
  );
});

test('a stream waits for a client that does not read, and is closed when the client disconnects', () => {
  const source = new Source(10_000);
  return staged(
    () => streamed(source),
    async (stage) => {
      const client = stage.connect();
      client.socket.pause();
      client.send('GET /');
      let before = -1;
      await until('no more pieces are made', async () => {
        const same = source.made > 0 && source.made === before;
        before = source.made;
        await Bun.sleep(50);
        return same;
      });
      assert.ok(source.made < 500, `${source.made} pieces are in memory or in the sockets`);
      assert.not.ok(source.closed);
      client.socket.resetAndDestroy();
      await until('the stream is closed', () => source.closed);
      await until('the response is recorded', () => stage.records.length === 1);
      assert.is(stage.records[0]?.aborted, true);
      assert.equal(stage.errors, []);
    },
  );
});

/** A stream that never has a piece. @param onClosed called when it is closed. */
const endless = (onClosed: () => void): AsyncIterable<string> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => new Promise(() => {}),
    return: () => {
      onClosed();
      return Promise.resolve({ done: true, value: undefined });
    },
  }),
});

test('a stream that waits for its next piece is closed when the client disconnects', () => {
  let closed = false;
  return staged(
    () => streamed(endless(() => (closed = true))),
    async (stage) => {
      const client = stage.connect();
      client.send('GET /');
      await until('the headers are there', () => client.received > 0);
      client.socket.resetAndDestroy();
      await until('the stream is closed', () => closed);
    },
  );
});

test('a stream is closed at once if the client has disconnected before it begins', () => {
  let closed = false;
  return staged(
    async (request) => {
      await new Promise<void>((resolve) => request.whenGone(resolve));
      return streamed(endless(() => (closed = true)));
    },
    async (stage) => {
      const client = stage.connect();
      client.send('GET /');
      await until('the request is carried out', () => stage.server.requests === 1);
      client.socket.resetAndDestroy();
      await until('the request has ended', () => stage.server.requests === 0);
      assert.ok(closed);
      assert.equal(stage.errors, []);
    },
  );
});

/** A character that no header may have (RFC 9110, section 5.5). */
const REFUSED = { 'X-Name': '\u20ac' };

for (const method of ['GET', 'HEAD']) {
  test(`the stream of a ${method} is closed if a header of the response is invalid`, () => {
    let closed = 0;
    const body: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('it is not read')),
        return: () => {
          closed += 1;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    return staged(
      () => ({ status: 200, headers: REFUSED, body }),
      async (stage) => {
        const client = stage.connect();
        client.send(`${method} /`);
        await client.end();
        assert.is(closed, 1);
        assert.match(String(stage.errors), 'X-Name');
        await until('the request is over', () => stage.server.requests === 0);
      },
    );
  });
}

test('if a header of the response is invalid, the connection is closed without a response', async () => {
  const empty = async function* () {};
  for (const body of [null, 'text', Buffer.from('bytes'), streamed(empty()).body]) {
    await staged(
      () => ({ status: 200, headers: REFUSED, body }),
      async (stage) => {
        const client = stage.connect();
        client.send('GET /');
        assert.is(await client.end(), '', 'the connection is cut');
      },
    );
  }
});

/** A time limit that no test reaches, in milliseconds. */
const SEND_MS = 3_600_000;

test('the send timeout applies to each piece, not to the whole response', () =>
  withTimersOf(SEND_MS, (timers) =>
    staged(
      () => streamed(new Source(200)),
      async (stage) => {
        const slow = stage.connect();
        slow.socket.pause();
        slow.send('GET /', [LAST]);
        // Reads in bursts, so that the server waits several times.
        while (!slow.closed) {
          slow.socket.resume();
          await Bun.sleep(5);
          slow.socket.pause();
        }
        assert.is(unchunked(slow.text)?.length, 200 * PIECE.length);
        assert.ok(timers.begun > 10, `${timers.begun} pieces had to wait`);
        assert.is(timers.running.size, 0);
        const stuck = stage.connect();
        stuck.socket.pause();
        stuck.send('GET /');
        await until('the server waits for the stuck one', () => timers.running.size === 1);
        for (const passed of timers.running.values()) passed();
        await until('the stuck connection is cut', () => stage.records.length === 2);
        assert.is(stage.records[1]?.aborted, true);
      },
      { sendTimeout: SEND_MS },
    ),
  ));

test('a stream that fails half-way closes the connection, and the error is reported', () => {
  const failure = new Error('the disk is gone');
  return staged(
    () =>
      streamed(
        (async function* () {
          yield 'the beginning';
          throw failure;
        })(),
      ),
    async (stage) => {
      const client = stage.connect();
      client.send('GET /');
      client.send('GET /');
      const text = await client.end();
      assert.is(unchunked(text), null);
      assert.match(text, 'the beginning');
      assert.equal(stage.errors, [failure]);
      assert.is(stage.records.length, 1, 'nothing is carried out on a connection that is cut');
      assert.is(stage.records[0]?.aborted, true);
    },
  );
});

/** How the end of an HTTP/1.0 connection looks to its client; there is no other end of a stream. */
async function endOf(stage: Stage, meanwhile: () => Promise<unknown> | void): Promise<string> {
  const client = stage.connect();
  let end = 'none';
  client.socket.once('end', () => (end = 'complete'));
  client.socket.once('error', ({ code }: NodeJS.ErrnoException) => (end = code ?? ''));
  client.socket.pause();
  client.socket.write('GET / HTTP/1.0\r\n\r\n');
  const { server, records } = stage;
  await until('the request is there', () => server.requests + records.length > 0);
  await meanwhile();
  await until('the response is over', () => records.length === 1);
  client.socket.resume();
  await client.end();
  return end;
}

async function* whole() {
  yield 'the beginning';
}

async function* failing() {
  yield* whole();
  throw new Error('the disk is gone');
}

const CUT: Readonly<
  Record<string, { body: () => AsyncIterable<string>; limits: Partial<Limits> }>
> = {
  'that fails': { body: failing, limits: {} },
  'whose client is too slow': { body: () => new Source(1000), limits: { sendTimeout: 100 } },
  'that too many others wait with': { body: () => new Source(1000), limits: { unread: 0 } },
};

for (const [what, { body, limits }] of Object.entries(CUT)) {
  test(`a stream ${what} does not look complete to a client of HTTP/1.0`, () =>
    staged(
      () => streamed(body()),
      async (stage) => assert.is(await endOf(stage, () => {}), 'ECONNRESET'),
      limits,
    ));
}

test('a stream that a shutdown cuts does not look complete to a client of HTTP/1.0', () =>
  staged(
    () => streamed(new Source(1000)),
    async (stage) => {
      const end = await endOf(stage, () => stage.server.close(0));
      assert.is(end, 'ECONNRESET');
    },
  ));

test('a whole stream looks complete to a client of HTTP/1.0', () =>
  staged(
    () => streamed(whole()),
    async (stage) => assert.is(await endOf(stage, () => {}), 'complete'),
  ));

test('a stream that cannot be closed is reported, and ends nothing else', () => {
  const failure = new Error('it cannot be closed');
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new Error('it is not read')),
      return: () => Promise.reject(failure),
    }),
  };
  return staged(
    () => streamed(body),
    async (stage) => {
      const client = stage.connect();
      client.send('HEAD /');
      await until('it is reported', () => stage.errors.length > 0);
      client.send('HEAD /', [LAST]);
      await client.end();
      assert.equal(stage.errors, [failure, failure]);
    },
  );
});

test('HEAD closes a stream without reading it', () => {
  const calls: string[] = [];
  const body: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        calls.push('next');
        return { done: true, value: undefined };
      },
      async return() {
        calls.push('return');
        return { done: true, value: undefined };
      },
    }),
  };
  return staged(
    () => streamed(body),
    async (stage) => {
      const client = stage.connect();
      client.send('HEAD /', [LAST]);
      assert.match(await client.end(), /^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
      assert.equal(calls, ['return']);
      assert.is(stage.records[0]?.bytes, 0);
    },
  );
});

for (const [what, body] of [
  ['text', `${'\u{1f600}'.repeat(100_000)}\u00e9${'x'.repeat(100_000)}`],
  ['bytes', Buffer.from(PIECE.repeat(20))],
] as const) {
  test(`a large body of ${what} is sent unchanged with Content-Length`, () =>
    staged(
      () => ({ status: 200, headers: {}, body }),
      async (stage) => {
        const client = stage.connect();
        client.send('GET /', [LAST]);
        const text = await client.end();
        const bytes = Buffer.from(body);
        assert.match(text, new RegExp(`\r\nContent-Length: ${bytes.length}\r\n`, 'i'));
        const sent = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
        assert.ok(sent.equals(bytes));
        assert.is(stage.records[0]?.bytes, bytes.length);
      },
    ));
}

test('if the client disconnects during a large body, the bytes after that do not count as sent', () => {
  const body = Buffer.alloc(1000 * PIECE.length);
  return withTimersOf(SEND_MS, (timers) =>
    staged(
      () => ({ status: 200, headers: {}, body }),
      async (stage) => {
        const client = stage.connect();
        client.socket.pause();
        client.send('GET /');
        await until('the server waits for the client', () => timers.running.size === 1);
        client.socket.resetAndDestroy();
        await until('the response is recorded', () => stage.records.length === 1);
        const { bytes = 0, aborted } = stage.records[0] ?? {};
        assert.ok(bytes < body.length, `${bytes} bytes`);
        assert.is(aborted, true);
      },
      { sendTimeout: SEND_MS },
    ),
  );
});

test('the response to HEAD has the length of a large body, and none of its bytes count as sent', () =>
  staged(
    () => ({ status: 200, headers: {}, body: PIECE.repeat(2) }),
    async (stage) => {
      const client = stage.connect();
      client.send('HEAD /', [LAST]);
      const text = await client.end();
      assert.match(text, new RegExp(`\r\nContent-Length: ${2 * PIECE.length}\r\n`, 'i'));
      assert.ok(text.endsWith('\r\n\r\n'));
      assert.is(stage.records[0]?.bytes, 0);
    },
  ));

const counted = async ({ body }: HttpRequest, limit: number) => {
  let bytes = 0;
  try {
    for await (const chunk of body.stream(limit)) bytes += chunk.length;
  } catch (error) {
    assert.instance(error, CatalogError);
    return { status: (error as CatalogError).status, headers: {}, body: String(error) };
  }
  return { status: 200, headers: {}, body: `${bytes} bytes` };
};

test('a request stream has its own limit instead of that of whole bodies', () =>
  staged(
    (request) => counted(request, 3_000_000),
    async (stage) => {
      const cases = [
        [3_000_000, 200],
        [3_000_001, 413],
      ] as const;
      for (const [size, status] of cases) {
        const body = 'x'.repeat(size);
        const chunks = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        for (const [framing, sent] of [
          [`Content-Length: ${size}`, body],
          ['Transfer-Encoding: chunked', chunks],
        ] as const) {
          const client = stage.connect();
          client.send('POST /', [framing], sent);
          client.send('GET /', [LAST]);
          const text = await client.end();
          assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), `${size} ${framing}`);
          assert.match(text, /HTTP\/1\.1 200 [^]*0 bytes$/, 'the next request is read');
        }
      }
    },
    { body: 1000 },
  ));

test('a request stream pauses its connection while it is not read', () => {
  const size = 50_000_000;
  let proceed = () => {};
  const pause = new Promise<void>((resolve) => (proceed = resolve));
  return staged(
    async ({ body }) => {
      let bytes = 0;
      for await (const chunk of body.stream(size)) {
        if (bytes === 0) await pause;
        bytes += chunk.length;
      }
      return { status: 200, headers: {}, body: `${bytes} bytes` };
    },
    async (stage) => {
      const client = stage.connect();
      client.send('POST /', [`Content-Length: ${size}`, LAST], 'x'.repeat(size));
      let before = -1;
      await until('the client can send no more', async () => {
        const same = client.socket.bytesWritten > 0 && client.socket.writableLength === before;
        before = client.socket.writableLength;
        await Bun.sleep(100);
        return same;
      });
      assert.ok(client.socket.writableLength > size / 2, 'most of the body is still at the client');
      proceed();
      assert.match(await client.end(), new RegExp(`${size} bytes$`));
    },
  );
});

test('the rest of a stream that is not read to its end is not read as the next request', () =>
  staged(
    async ({ body, method }) => {
      if (method === 'GET') return { status: 200, headers: {}, body: 'next' };
      for await (const chunk of body.stream(1e9)) {
        return { status: 422, headers: {}, body: `${chunk.length > 0}` };
      }
      return { status: 200, headers: {}, body: '' };
    },
    async (stage) => {
      const client = stage.connect();
      client.send('POST /', ['Content-Length: 2000000'], 'GET / HTTP/1.1\r\n\r\n'.padEnd(2e6));
      client.send('GET /', [LAST]);
      const text = await client.end();
      assert.match(text, /^HTTP\/1\.1 422 [^]*true(HTTP\/1\.1 200 [^]*next)$/);
    },
  ));

test('a request stream that the client cuts off throws malformed_request', async () => {
  const seen: unknown[] = [];
  let bytes = 0;
  await staged(
    async ({ body }) => {
      try {
        for await (const chunk of body.stream(1e9)) bytes += chunk.length;
      } catch (error) {
        seen.push(error);
      }
      return { status: 200, headers: {}, body: '' };
    },
    async (stage) => {
      const client = stage.connect();
      client.send('POST /', ['Content-Length: 1000'], 'half');
      // A reset that arrives earlier takes what the server has not read.
      await until('the handler has what was sent', () => bytes === 'half'.length);
      client.socket.resetAndDestroy();
      await until('the handler knows', () => seen.length === 1);
      const [error] = seen as [CatalogError];
      assert.instance(error, CatalogError);
      assert.equal([error.code, error.status], ['malformed_request', 400]);
      assert.match(error.message, /cut off/);
      assert.equal(stage.errors, []);
    },
  );
});

test.run();
