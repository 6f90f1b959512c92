/** spec 11.3: the memory of one request body, and of all request bodies together. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { problem } from '../../../../src/http/rules/problems.ts';
import { BodyBudget } from '../../../../src/http/wire/body-memory/body-budget.ts';
import { GrowingBuffer } from '../../../../src/http/wire/body-memory/growing-buffer.ts';
import { startServer } from '../../../../src/http/wire/server.ts';
import { responsesIn } from '../../../support/raw.ts';
import { until } from '../../../support/until.ts';
import { Client, staged } from '../../../support/wire.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A budget of which one body may take everything. */
function budgetOf(limit: number): BodyBudget {
  return new BodyBudget({ limit, largest: limit, isMemoryScarce: () => false });
}

async function measured(request: HttpRequest): Promise<HttpResponse> {
  try {
    const body = await request.body.bytes(null);
    return { status: 200, headers: {}, body: `${Bun.hash(body)}` };
  } catch (error) {
    return problem(error, request, false, assert.unreachable);
  }
}

/** A text of `size` bytes as chunks of one byte. */
const byteByByte = (size: number) => '1\r\nx\r\n'.repeat(size);

test('a body of one-byte chunks takes at most twice its size in memory, and is read correctly', async () => {
  const budget = budgetOf(2 * MIB);
  const buffer = new GrowingBuffer(0, MIB, budget, null);
  const chunk = Uint8Array.of(120);
  for (let size = 1; size <= 300_000; size += 1) {
    assert.is(buffer.add(chunk), 'added');
    assert.ok(budget.held <= Math.max(4096, 2 * size), `${budget.held} bytes for ${size}`);
  }
  assert.equal(Buffer.from(buffer.bytes()).toString(), 'x'.repeat(300_000));
  buffer.release();
  assert.is(budget.held, 0);
  await staged(measured, async (stage) => {
    const client = stage.connect();
    const headers = ['Transfer-Encoding: chunked', 'Connection: close'];
    client.send('POST /', headers, `${byteByByte(16_384)}0\r\n\r\n`);
    const [answer] = responsesIn(await client.end());
    assert.is(answer?.body, `${Bun.hash('x'.repeat(16_384))}`);
    assert.is(stage.server.bodyMemory, 0);
  });
});

const WAYS: Readonly<Record<string, (request: HttpRequest) => Promise<unknown>>> = {
  'it is read whole': ({ body }) => body.bytes(null),
  'it is read as a stream': async ({ body }) => {
    for await (const _ of body.stream(MIB)) continue;
  },
  'it is not read': async () => {
    throw new CatalogError('not_found', 'there is no such path');
  },
};

for (const [way, reading] of Object.entries(WAYS)) {
  test(`a body of too many tiny chunks closes the connection if ${way}`, () =>
    staged(
      async (request) => {
        try {
          await reading(request);
          return { status: 200, headers: {}, body: '' };
        } catch (error) {
          return problem(error, request, false, assert.unreachable);
        }
      },
      async (stage) => {
        const client = stage.connect();
        // The body never ends: without a limit it would be received as long as the client sends.
        client.send('POST /', ['Transfer-Encoding: chunked'], byteByByte(100_000));
        const [answer] = responsesIn(await client.end());
        if (way === 'it is not read') {
          assert.is(answer?.status, 404);
        } else {
          assert.is(answer?.status, 400);
          assert.match(
            answer?.body ?? '',
            'more than 16384 chunks of less than 16 bytes on average',
          );
        }
        assert.is(answer?.headers['connection'], 'close');
        assert.is(stage.server.bodyMemory, 0);
      },
    ));
}

test('a body of 30,000 chunks of 32 bytes is accepted', () =>
  staged(measured, async (stage) => {
    const client = stage.connect();
    const headers = ['Transfer-Encoding: chunked', 'Connection: close'];
    const chunk = `20\r\n${'x'.repeat(32)}\r\n`;
    client.send('POST /', headers, `${chunk.repeat(30_000)}0\r\n\r\n`);
    const [answer] = responsesIn(await client.end());
    assert.is(answer?.body, `${Bun.hash('x'.repeat(960_000))}`);
  }));

test('a body that arrives in one chunk is not copied', () => {
  const budget = budgetOf(MIB);
  const buffer = new GrowingBuffer(5, MIB, budget, null);
  const chunk = Buffer.from('whole');
  assert.is(buffer.add(chunk), 'added');
  assert.is(buffer.bytes().buffer, chunk.buffer);
  assert.is(budget.held, 5);
});

test('the memory of a body that exceeds its limit or the budget is released at once', () => {
  const budget = budgetOf(100 * KIB);
  const other = new GrowingBuffer(0, MIB, budget, null);
  assert.is(other.add(new Uint8Array(90 * KIB)), 'added');
  const long = new GrowingBuffer(0, 10, budget, null);
  assert.is(long.add(new Uint8Array(10)), 'added');
  assert.is(long.add(new Uint8Array(1)), 'too large');
  assert.is(budget.held, 90 * KIB);
  const large = new GrowingBuffer(0, MIB, budget, null);
  assert.is(large.add(new Uint8Array(8 * KIB)), 'added', 'small bodies are always accepted');
  assert.is(large.add(new Uint8Array(8 * KIB)), 'added');
  assert.is(large.add(new Uint8Array(8 * KIB)), 'over budget');
  assert.is(budget.held, 90 * KIB);
  other.release();
  assert.is(budget.held, 0);
});

/** A budget of 16 large bodies, and what is held of it: one number for each body. */
function sharedBudget() {
  const budget = new BodyBudget({
    limit: 16 * LARGE,
    largest: LARGE,
    isMemoryScarce: () => false,
  });
  /** Adds bodies until there is no room. */
  const fill = (subject: string | null, bytes = LARGE) => {
    const held: GrowingBuffer[] = [];
    for (;;) {
      const buffer = new GrowingBuffer(bytes, bytes, budget, subject);
      if (buffer.add(new Uint8Array(bytes)) !== 'added') return held;
      held.push(buffer);
    }
  };
  return { budget, fill };
}

const LARGE = 32 * KIB;

test('all bodies without a token get a quarter of the memory, those of one subject half', () => {
  const { budget, fill } = sharedBudget();
  const anonymous = fill(null);
  assert.is(anonymous.length, 4);
  assert.is(fill('ann').length, 8);
  assert.is(fill('bob').length, 4, 'what is left');
  assert.is(fill('cyd').length, 0);
  for (const buffer of anonymous) buffer.release();
  assert.is(fill('ann').length, 0, 'its share is not larger because the rest is free');
  assert.is(fill('cyd').length, 4);
  assert.is(budget.held, 16 * LARGE);
});

test('small bodies take nothing from the limits, and are counted when they become large', () => {
  const { budget, fill } = sharedBudget();
  const small = Array.from({ length: 200 }, () => new GrowingBuffer(0, LARGE, budget, null));
  for (const buffer of small) assert.is(buffer.add(new Uint8Array(16 * KIB)), 'added');
  assert.is(budget.held, 200 * 16 * KIB);
  assert.is(fill('ann').length, 8, 'small bodies of others take no room');
  const outcomes = small.map((buffer) => buffer.add(new Uint8Array(16 * KIB)));
  assert.is(outcomes.filter((outcome) => outcome === 'added').length, 4);
  assert.is(budget.held, 8 * LARGE + 4 * LARGE, 'the others were dropped');
  for (const buffer of small) buffer.release();
  assert.is(budget.held, 8 * LARGE);
  assert.is(fill(null).length, 4);
});

test('one body of the largest size has room without a token, if there are no others', () => {
  const budget = new BodyBudget({ limit: LARGE, largest: 2 * LARGE, isMemoryScarce: () => false });
  const body = () => new GrowingBuffer(2 * LARGE, 2 * LARGE, budget, null);
  const first = body();
  assert.is(first.add(new Uint8Array(2 * LARGE)), 'added');
  assert.is(body().add(new Uint8Array(2 * LARGE)), 'over budget');
  first.release();
  assert.is(body().add(new Uint8Array(2 * LARGE)), 'added');
});

test('while memory is scarce, only bodies of up to 16 KiB are accepted', () => {
  const budget = new BodyBudget({
    limit: 100 * MIB,
    largest: MIB,
    isMemoryScarce: () => true,
  });
  const body = (bytes: number) =>
    new GrowingBuffer(0, MIB, budget, null).add(new Uint8Array(bytes));
  assert.is(body(16 * KIB), 'added');
  assert.is(body(16 * KIB + 1), 'over budget');
});

test('incomplete bodies together stay within the budget, and the others are 503', () => {
  const limit = MIB;
  return staged(
    measured,
    async (stage) => {
      const clients = Array.from({ length: 40 }, () => stage.connect());
      for (const client of clients) {
        const headers = [`Content-Length: ${MIB / 4}`, 'Connection: close'];
        client.send('POST /', headers, Buffer.alloc(MIB / 4 - 1, 'x'));
      }
      let most = 0;
      const unanswered = () => clients.filter(({ closed }) => !closed);
      await until('those that do not fit are answered', () => {
        most = Math.max(most, stage.server.bodyMemory);
        return unanswered().length <= 4;
      });
      assert.ok(most <= limit + 40 * 16 * KIB, `${most} bytes were held`);
      for (const client of clients.filter(({ closed }) => closed)) {
        const [answer, ...more] = responsesIn(client.text);
        assert.equal(more, []);
        assert.is(answer?.status, 503);
        assert.is(answer?.headers['retry-after'], '1');
        assert.is(answer?.headers['connection'], 'close');
        assert.type(JSON.parse(answer?.body ?? '').error, 'string');
      }
      // The bodies that fit are completed, and small ones are accepted meanwhile.
      const small = stage.connect();
      small.send('POST /', ['Content-Length: 5', 'Connection: close'], 'small');
      assert.is(responsesIn(await small.end())[0]?.status, 200);
      const fitting = unanswered();
      assert.ok(fitting.length > 0);
      for (const client of fitting) client.socket.write('x');
      for (const client of fitting) {
        const [answer] = responsesIn(await client.end());
        assert.is(answer?.body, `${Bun.hash('x'.repeat(MIB / 4))}`);
      }
      assert.is(stage.server.bodyMemory, 0);
    },
    { bodyMemory: limit, body: limit },
  );
});

test('the memory of a body is released if its client disconnects', () =>
  staged(measured, async (stage) => {
    const client = stage.connect();
    client.send('POST /', [`Content-Length: ${MIB}`], Buffer.alloc(MIB - 1));
    await until('the body is held', () => stage.server.bodyMemory > MIB / 2);
    client.socket.resetAndDestroy();
    await until('the memory is given back', () => stage.server.bodyMemory === 0);
    assert.is(stage.server.requests, 0);
  }));

test('a client that does not read its response holds no memory of its body', () => {
  const gate = Promise.withResolvers<void>();
  return staged(
    async ({ body }) => {
      await body.bytes(null);
      await gate.promise;
      return { status: 200, headers: {}, body: 'x'.repeat(32 * MIB) };
    },
    async (stage) => {
      const client = stage.connect();
      client.socket.pause();
      client.send('POST /', [`Content-Length: ${MIB}`], Buffer.alloc(MIB));
      await until('the body is held', () => stage.server.bodyMemory === MIB);
      gate.resolve();
      await until('the memory is given back', () => stage.server.bodyMemory === 0);
      assert.is(stage.server.requests, 1, 'the response waits for the client');
    },
  );
});

test('while memory is scarce, connections beyond 100 are 503', async () => {
  let scarce = false;
  const server = await startServer({
    application: () => ({ status: 200, headers: {}, body: 'served' }),
    host: '127.0.0.1',
    port: 0,
    onError: (error) => assert.unreachable(String(error)),
    isMemoryScarce: () => scarce,
  });
  const port = Number(new URL(server.url).port);
  const clients = Array.from({ length: 100 }, () => new Client(port));
  await until('all are connected', () => server.connections === 100);
  scarce = true;
  const late = new Client(port);
  const [answer] = responsesIn(await late.end());
  assert.is(answer?.status, 503);
  assert.is(answer?.headers['retry-after'], '10');
  clients[0]?.send('GET /', ['Connection: close']);
  assert.is(responsesIn((await clients[0]?.end()) ?? '')[0]?.status, 200);
  for (const { socket } of clients) socket.destroy();
  await server.close(1000);
});

test.run();
