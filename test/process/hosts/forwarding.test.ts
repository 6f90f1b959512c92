/** Forwarding over real connections (spec 15.11): limits, broken connections, timeouts. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { maxForwards } from '../../../src/app/engine/http-client.ts';
import { CatalogError, messageOf } from '../../../src/errors.ts';
import { Forwarder } from '../../../src/hosts/forwarding/forwarder.ts';
import {
  type BodyStream,
  type HttpRequest,
  NO_BODY,
  type RequestBody,
} from '../../../src/http/message.ts';
import { withTimers } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { codeOf, failureOf, outcomeOf } from '../../support/failure.ts';
import { requestWith } from '../../support/request.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;

/** Milliseconds: more than a request of these tests takes on the busiest machine. */
const LONG_MS = 60_000;

/** Runs `use` against a server whose requests are handled by `answer`. */
async function withPrimary(
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void | Promise<void>,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function request(method: string, body: RequestBody = NO_BODY, address = '127.0.0.1'): HttpRequest {
  return requestWith({ method, path: '/books/', search: 'a=1', body, address });
}

function bodyOf(pieces: () => AsyncGenerator<Uint8Array>): RequestBody {
  return { stream: pieces, bytes: () => Promise.reject(new Error('it is not read whole')) };
}

test('a body of 64 MiB is forwarded with less than 32 MiB buffered', async () => {
  const size = 64 * MIB;
  let given = 0;
  let most = 0;
  let taken = 0;
  async function* pieces() {
    const piece = new Uint8Array(64 * 1024);
    for (; given < size; given += piece.length) {
      most = Math.max(most, given - taken);
      yield piece;
    }
  }
  await withPrimary(
    async (incoming, outgoing) => {
      for await (const chunk of incoming) {
        taken += (chunk as Uint8Array).length;
        // The receiver is slower than the sender.
        if (taken < MIB) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      outgoing.end(`${incoming.method} ${incoming.url} ${taken}`);
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      const response = await forwarder.forward(request('POST', bodyOf(pieces)), origin);
      assert.is(Buffer.from(response.body as Uint8Array).toString(), `POST /books/?a=1 ${size}`);
      assert.is(forwarder.open, 0);
    },
  );
  assert.ok(most < 32 * MIB, `${most} bytes were on their way at once`);
});

test('a long response is forwarded in pieces, and its connection is closed if it is abandoned', async () => {
  await withPrimary(
    (_, outgoing) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!outgoing.destroyed && outgoing.write(piece));
      };
      outgoing.on('drain', more);
      more();
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      const { body } = await forwarder.forward(request('GET'), origin);
      assert.ok(body !== null && typeof body === 'object' && Symbol.asyncIterator in body);
      let size = 0;
      for await (const piece of body) {
        assert.ok(piece.length <= 64 * 1024);
        size += piece.length;
        if (size > 4 * MIB) break;
      }
      await until('the connection is given up', () => forwarder.open === 0);
    },
  );
});

test('a client that disconnects during a response frees exactly one place', async () => {
  await withPrimary(
    (_, outgoing) => void outgoing.write('the first piece'),
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 4 });
      const begin = async () => {
        const { body } = await forwarder.forward(request('GET'), origin);
        assert.ok(body !== null && typeof body === 'object' && Symbol.asyncIterator in body);
        const pieces = body[Symbol.asyncIterator]();
        await pieces.next();
        return { pieces, pending: Promise.allSettled([pieces.next()]) };
      };
      const leave = async ({ pieces, pending }: Awaited<ReturnType<typeof begin>>) => {
        await pieces.return?.();
        await pending;
      };
      const [first, second] = [await begin(), await begin()];
      await leave(first);
      assert.is(forwarder.open, 1);
      await leave(second);
      assert.is(forwarder.open, 0);
      const all = [await begin(), await begin()];
      assert.is(await codeOf(forwarder.forward(request('GET'), origin)), 'busy');
      for (const each of all) await leave(each);
    },
  );
});

test('however many requests are forwarded, other requests of the process are answered', async () => {
  let waiting = 0;
  await withPrimary(
    ({ method }, outgoing) => {
      if (method === 'GET') outgoing.end('the state');
      else waiting += 1;
    },
    async (origin) => {
      const maxOpen = maxForwards(process.env);
      const forwarder = new Forwarder({ maxOpen, idleMs: 2 * LONG_MS });
      const forwards = Array.from({ length: maxOpen + 300 }, (_, nth) => {
        const address = `192.0.2.${nth % 100}`;
        return failureOf(forwarder.forward(request('POST', NO_BODY, address), origin));
      });
      await until('the forwarded requests have arrived', () => waiting === maxOpen);
      const state = await fetch(origin, { signal: AbortSignal.timeout(LONG_MS) });
      assert.is(await state.text(), 'the state');
      const codes = await Promise.all(
        forwards.slice(maxOpen).map(async (each) => (await each).code),
      );
      assert.equal(new Set(codes), new Set(['busy']));
    },
  );
});

test('bodies of one client that never end leave half of the places to others', async () => {
  await withPrimary(
    async (incoming, outgoing) => {
      for await (const _ of incoming) continue;
      outgoing.end('written');
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 10 });
      let end = () => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      async function* pieces() {
        yield Buffer.from('{');
        await ended;
      }
      // One client may have all addresses with the same first 64 bits.
      const slow = Array.from({ length: 8 }, (_, nth) =>
        forwarder.forward(request('POST', bodyOf(pieces), `2001:db8::${nth}`), origin),
      );
      const outcomes = Promise.all(slow.map(outcomeOf));
      assert.is(forwarder.open, 5);
      const other = await forwarder.forward(request('POST', NO_BODY, '2001:db8:0:1::1'), origin);
      assert.is(other.status, 200);
      end();
      const [done, busy] = [Array<string>(5).fill('done'), Array<string>(3).fill('busy')];
      assert.equal(await outcomes, [...done, ...busy]);
      assert.is(forwarder.open, 0);
    },
  );
});

test('a GET, HEAD or DELETE is forwarded without its body', async () => {
  let received = '';
  await withPrimary(
    async (incoming, outgoing) => {
      for await (const piece of incoming) received += piece;
      outgoing.end(incoming.method);
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      async function* pieces() {
        yield Buffer.from('a body');
      }
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const response = await forwarder.forward(request(method, bodyOf(pieces)), origin);
        assert.is(response.status, 200);
      }
      assert.is(received, '');
      assert.is(forwarder.open, 0);
    },
  );
});

test('a request is forwarded to a Unix socket, and the error for a missing one names its owner', async () => {
  const socket = join(temporaryDirectory(), 'sock');
  const server = createServer((incoming, outgoing) => outgoing.end(incoming.url));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const forwarder = new Forwarder({ maxOpen: 1, socket, to: 'the writer' });
  const { body } = await forwarder.forward(request('DELETE'), 'http://owner');
  assert.is(Buffer.from(body as Uint8Array).toString(), '/books/?a=1');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const { code, message } = await failureOf(forwarder.forward(request('DELETE'), 'http://owner'));
  assert.is(code, 'primary_unreachable');
  assert.is(message, 'the writer cannot be reached; nothing was changed, try again');
});

test('if the primary does not listen, a write is 503 primary_unreachable', async () => {
  let origin = '';
  await withPrimary(
    (_, outgoing) => void outgoing.end(),
    async (address) => {
      origin = address;
    },
  );
  const forwarder = new Forwarder({ maxOpen: 1 });
  const { code, status } = await failureOf(forwarder.forward(request('DELETE'), origin));
  assert.is(code, 'primary_unreachable');
  assert.is(status, 503);
  assert.is(forwarder.open, 0);
});

test('a write is sent once, and is write_unknown if the connection breaks', async () => {
  let seen = 0;
  await withPrimary(
    (incoming) => {
      seen += 1;
      incoming.socket.destroy();
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      assert.is(await codeOf(forwarder.forward(request('DELETE'), origin)), 'write_unknown');
      assert.is(seen, 1);
      const read = await failureOf(forwarder.forward(request('GET'), origin));
      assert.is(read.code, 'primary_unreachable');
    },
  );
});

test('a write without a body is sent once also after other requests to the same host', async () => {
  const seen: string[] = [];
  await withPrimary(
    ({ method = '', socket }, outgoing) => {
      seen.push(method);
      if (method === 'GET') outgoing.writeHead(200, { 'Content-Length': '2' }).end('{}');
      else socket.destroy();
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      for (const method of ['DELETE', 'PUT', 'POST']) {
        assert.is((await forwarder.forward(request('GET'), origin)).status, 200);
        assert.is(await codeOf(forwarder.forward(request(method), origin)), 'write_unknown');
      }
      assert.equal(seen, ['GET', 'DELETE', 'GET', 'PUT', 'GET', 'POST']);
    },
  );
});

test('a write whose response is truncated is write_unknown', async () => {
  await withPrimary(
    (incoming, outgoing) => {
      outgoing.writeHead(201, { 'Content-Length': '10' });
      outgoing.write('12345');
      setTimeout(() => incoming.socket.destroy(), 20);
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      assert.is(await codeOf(forwarder.forward(request('POST'), origin)), 'write_unknown');
      assert.is(forwarder.open, 0);
    },
  );
});

test('a response with a status that is none is not passed on', async () => {
  for (const status of ['000', '199', '600', '999']) {
    await withPrimary(
      ({ socket }) => void socket.end(`HTTP/1.1 ${status} None\r\nContent-Length: 2\r\n\r\n{}`),
      async (origin) => {
        const forwarder = new Forwarder({ maxOpen: 1, idleMs: 1000 });
        assert.is(await outcomeOf(forwarder.forward(request('DELETE'), origin)), 'write_unknown');
        assert.is(
          await outcomeOf(forwarder.forward(request('GET'), origin)),
          'primary_unreachable',
        );
        assert.is(forwarder.open, 0);
      },
    );
  }
});

test('a write to a primary that does not respond is write_unknown after the idle timeout', async () => {
  await withPrimary(
    () => {},
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1, idleMs: 50 });
      assert.is(await codeOf(forwarder.forward(request('POST'), origin)), 'write_unknown');
    },
  );
});

/** Milliseconds of the shortest timers that these tests control. */
const CONTROLLED_MS = 30_000;

test('spec 11.5: a client may pause in its body, while the primary may not', async () => {
  const received: string[] = [];
  await withPrimary(
    (incoming, outgoing) => {
      incoming.on('data', (piece) => received.push(String(piece)));
      incoming.on('end', () => outgoing.end());
      incoming.on('error', () => {});
    },
    (origin) =>
      withTimers(CONTROLLED_MS, async (pass) => {
        const forwarder = new Forwarder({ maxOpen: 1 });
        async function* pieces() {
          pass(LONG_MS);
          yield Buffer.from('one, ');
          await until('the primary has the first piece', () => received.length === 1);
          pass(LONG_MS);
          yield Buffer.from('two');
        }
        const { status } = await forwarder.forward(request('POST', bodyOf(pieces)), origin);
        assert.is(status, 200);
        assert.is(received.join(''), 'one, two');
      }),
  );
});

test('a primary that takes no more of a body, or does not respond after it, is silent', async () => {
  for (const [takes, size] of [
    [false, 64 * MIB],
    [true, MIB],
  ] as const) {
    await withPrimary(
      (incoming) => {
        incoming.on('error', () => {});
        if (takes) incoming.resume();
      },
      async (origin) => {
        const forwarder = new Forwarder({ maxOpen: 1, idleMs: 200 });
        async function* pieces() {
          const piece = new Uint8Array(64 * 1024);
          for (let given = 0; given < size; given += piece.length) yield piece;
        }
        const sent = forwarder.forward(request('POST', bodyOf(pieces)), origin);
        assert.is(await codeOf(sent), 'write_unknown');
      },
    );
  }
});

test('spec 11.5: a client may pause in a response, while the primary may not', async () => {
  const { promise: isPaused, resolve: sendMore } = Promise.withResolvers<void>();
  await withPrimary(
    async (_, outgoing) => {
      outgoing.write('the first piece');
      await isPaused;
      outgoing.write('the second one');
    },
    (origin) =>
      withTimers(CONTROLLED_MS, async (pass) => {
        const forwarder = new Forwarder({ maxOpen: 1 });
        const { body } = await forwarder.forward(request('GET'), origin);
        const pieces = (body as BodyStream)[Symbol.asyncIterator]();
        const next = async () => Buffer.from((await pieces.next()).value ?? []).toString();
        assert.is(await next(), 'the first piece');
        pass(LONG_MS);
        sendMore();
        assert.is(await next(), 'the second one');
        pass(LONG_MS);
        const late = next().catch(messageOf);
        pass(LONG_MS);
        assert.is(await late, 'the primary is silent');
      }),
  );
});

test('a compressed response is passed back as it came: its bytes, in pieces, and its length', async () => {
  const bytes = gzipSync(randomBytes(256 * 1024));
  await withPrimary(
    (_, outgoing) => {
      const headers = { 'Content-Encoding': 'gzip', 'Content-Length': `${bytes.length}` };
      outgoing.writeHead(200, headers).end(bytes);
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      const { body, headers } = await forwarder.forward(request('GET'), origin);
      assert.is(headers['Content-Encoding'], 'gzip');
      assert.is(headers['Content-Length'], `${bytes.length}`);
      const received: Uint8Array[] = [];
      for await (const piece of body as BodyStream) received.push(Buffer.from(piece));
      assert.ok(Buffer.concat(received).equals(bytes));
      assert.is(forwarder.open, 0);
      const head = await forwarder.forward(request('HEAD'), origin);
      assert.is(head.headers['Content-Length'], `${bytes.length}`);
      assert.is(head.body, null);
    },
  );
});

test('if a body is cut off, its error is returned and the primary gets no complete body', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  await withPrimary(
    (incoming) => {
      incoming.resume();
      incoming.on('close', () => resolve(incoming.complete));
      incoming.on('error', () => {});
    },
    async (origin) => {
      const forwarder = new Forwarder({ maxOpen: 1 });
      async function* pieces() {
        yield new Uint8Array(10);
        await new Promise((next) => setTimeout(next, 20));
        throw new CatalogError('malformed_request', 'the body is cut off');
      }
      const cut = await failureOf(forwarder.forward(request('POST', bodyOf(pieces)), origin));
      assert.is(cut.code, 'malformed_request');
      assert.is(await promise, false);
    },
  );
});

test('a response before the end of the body stops the reading of the body', async () => {
  let ended = false;
  await withPrimary(
    (incoming, outgoing) => {
      // Like the real server, it receives the rest and discards it.
      incoming.resume();
      incoming.on('error', () => {});
      outgoing.writeHead(413, { 'Content-Length': '0' });
      outgoing.end();
    },
    async (origin) => {
      async function* pieces() {
        try {
          for (;;) {
            yield new Uint8Array(1024);
            await new Promise((next) => setTimeout(next, 1));
          }
        } finally {
          ended = true;
        }
      }
      const forwarder = new Forwarder({ maxOpen: 1 });
      const response = await forwarder.forward(request('POST', bodyOf(pieces)), origin);
      assert.is(response.status, 413);
      await until('the body is not read any more', () => ended);
      assert.is(forwarder.open, 0);
    },
  );
});

test('an address that would mean another one on the primary is rejected', async () => {
  const forwarder = new Forwarder({ maxOpen: 1 });
  for (const wrong of [
    { path: '/admin/tokens/%2e%2e/' },
    { path: '/books/#' },
    { path: '/books/\\..' },
    { search: 'a=1#b' },
  ]) {
    const forwarded = forwarder.forward({ ...request('DELETE'), ...wrong }, 'http://127.0.0.1:9');
    assert.is(await codeOf(forwarded), 'malformed_request', JSON.stringify(wrong));
  }
});

test.run();
