/** How long the server waits for a body, and when it does not wait for the rest of one. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyBudget } from '../../../../src/http/wire/body-memory/body-budget.ts';
import { IncomingBody } from '../../../../src/http/wire/request-body.ts';

const MIB = 1024 * 1024;

interface Setting {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly onTimeout?: () => unknown;
  /** Whether the client waits for `100 Continue`. */
  readonly waits?: boolean;
  readonly length?: number;
}

/** A body of which nothing has arrived, and the stream in which it arrives. */
function open({ timeout = 60_000, onTimeout = () => {}, waits = false, length }: Setting) {
  const arriving = new PassThrough();
  const headers =
    length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': `${length}` };
  const incoming = Object.assign(arriving, { headers, complete: false, socket: null });
  const budget = new BodyBudget({ limit: MIB, largest: MIB, isMemoryScarce: () => false });
  const continues: true[] = [];
  const response = { writeContinue: () => continues.push(true) } as unknown as ServerResponse;
  const body = new IncomingBody(
    incoming as unknown as IncomingMessage,
    { limit: MIB, timeout, budget, onTimeout },
    waits ? response : null,
  );
  return { arriving, incoming, body, budget, continues };
}

/** How a body is read. */
const WAYS = {
  whole: (body: IncomingBody) => body.bytes(null),
  stream: async (body: IncomingBody) => {
    for await (const _ of body.stream(MIB)) continue;
  },
};

test('a rest that will not come, or is too long, is not waited for', () => {
  assert.is(open({ waits: true, length: 9 }).body.finish(), false, 'it was not asked to continue');
  assert.is(open({ length: 33 * MIB }).body.finish(), false, 'it is longer than 32 MiB');
  const gone = open({ length: 9 });
  gone.arriving.destroy();
  assert.is(gone.body.finish(), false, 'the client has gone');
  const whole = open({ length: 9 });
  whole.incoming.complete = true;
  assert.is(whole.body.finish(), true);
});

test('a rest that may still come is received to its end', async () => {
  const { arriving, incoming, body } = open({ length: 9 });
  const finishing = body.finish();
  assert.ok(finishing instanceof Promise);
  incoming.complete = true;
  arriving.end('123456789');
  assert.is(await finishing, true);
});

test('the rest of a body without a length is received up to 32 MiB', async () => {
  for (const mebibytes of [32, 33]) {
    const { arriving, incoming, body } = open({});
    const finishing = body.finish();
    for (let nth = 0; nth < mebibytes; nth += 1) arriving.write(Buffer.alloc(MIB));
    incoming.complete = true;
    arriving.end();
    assert.is(await finishing, mebibytes === 32);
  }
});

test('the rest of a body is received for up to 5 seconds', async () => {
  const { now } = performance;
  for (const [elapsed, isReceived] of [
    [5000, true],
    [5001, false],
  ] as const) {
    let time = 1000;
    performance.now = () => time;
    try {
      const { arriving, incoming, body } = open({});
      const finishing = body.finish();
      time += elapsed;
      arriving.write('x');
      await pause(0);
      incoming.complete = true;
      arriving.end();
      assert.is(await finishing, isReceived, `${elapsed} ms`);
    } finally {
      performance.now = now;
    }
  }
});

test('the rest of a body is not received any further if its chunks are too many and too small', async () => {
  const CHUNKS = 16_385;
  const unread = open({});
  const finishing = unread.body.finish();
  for (let nth = 0; nth < CHUNKS; nth += 1) unread.arriving.write('x');
  unread.incoming.complete = true;
  unread.arriving.end();
  assert.is(await finishing, false);
  for (const read of Object.values(WAYS)) {
    const { arriving, body } = open({});
    const reading = read(body).then(String, String);
    for (let nth = 0; nth < CHUNKS; nth += 1) arriving.write('x');
    assert.match(await reading, 'more than 16384 chunks');
    assert.is(body.finish(), false);
  }
});

test('after the response the rest of a body is dropped, until its chunks are too many and too small', () => {
  const long = open({ length: 33 * MIB });
  assert.is(long.body.finish(), false);
  long.body.drop();
  for (let nth = 0; nth < 33; nth += 1) long.arriving.write(Buffer.alloc(MIB));
  assert.is(long.arriving.readableLength, 0);
  assert.is(long.arriving.isPaused(), false);
  for (const [size, most] of [
    [1023, 1025],
    [1024, Infinity],
  ] as const) {
    const { body, arriving } = open({});
    body.drop();
    let taken = 0;
    for (; taken < 2000 && !arriving.isPaused(); taken += 1) arriving.write(Buffer.alloc(size));
    assert.is(taken, Math.min(most, 2000), `${size} bytes`);
  }
});

test('if a connection breaks off, a request that reads its body is told apart from others', async () => {
  const whole = open({});
  whole.incoming.complete = true;
  assert.is(whole.body.breakOff(), 'complete');
  assert.is(whole.body.begin(), true);
  const queued = open({});
  assert.is(queued.body.breakOff(), 'queued');
  assert.is(queued.body.begin(), false, 'the rest of its body cannot arrive');
  const begun = open({});
  assert.is(begun.body.begin(), true);
  assert.is(begun.body.breakOff(), 'begun');
  for (const [way, read] of Object.entries(WAYS)) {
    assert.match(await read(begun.body).then(String, String), 'the body is cut off', way);
    const reading = open({});
    reading.body.begin();
    const read1 = read(reading.body).then(String, String);
    assert.is(reading.body.breakOff(), 'awaited', way);
    reading.arriving.destroy();
    await read1;
    const refused = open({});
    refused.body.begin();
    const refusal = read(refused.body).then(String, String);
    refused.arriving.write(Buffer.alloc(MIB + 1));
    assert.match(await refusal, 'the body is larger than', way);
    assert.is(refused.body.breakOff(), 'begun', `${way}: its handler responds`);
    const answered = open({});
    answered.body.begin();
    const rest = read(answered.body).then(String, String);
    void answered.body.finish();
    assert.is(answered.body.breakOff(), 'begun', `${way}: its handler has responded`);
    answered.arriving.destroy();
    await rest;
  }
});

test('if a connection breaks off, the rest of a body is no longer waited for', async () => {
  const finishing = open({});
  const waiting = finishing.body.finish();
  finishing.body.breakOff();
  assert.is(await waiting, false);
  const broken = open({});
  broken.body.breakOff();
  assert.is(broken.body.finish(), false);
});

test('a body whose request was answered with an error is cut off, although the rest of it arrives', async () => {
  for (const [way, read] of Object.entries(WAYS)) {
    const { arriving, incoming, body } = open({ length: 3 });
    body.begin();
    const reading = read(body).then(String, String);
    arriving.write('{');
    await pause(0);
    body.breakOff();
    incoming.complete = true;
    arriving.end('}');
    assert.match(await reading, 'the body is cut off', way);
  }
});

test('a client that waits is asked to continue, unless its body is too large', async () => {
  for (const [length, count] of [
    [MIB, 1],
    [MIB + 1, 0],
  ] as const) {
    const { arriving, body, continues } = open({ waits: true, length });
    const reading = body.bytes(null).then(String, String);
    assert.is(continues.length, count);
    arriving.destroy();
    assert.match(await reading, count === 0 ? 'the body is larger than' : 'the body is cut off');
  }
});

test('a body that ends early is cut off, although what arrived of it is whole JSON', async () => {
  const ends = {
    'it ends': (arriving: PassThrough) => void arriving.end(),
    'the client disconnects': (arriving: PassThrough) => void arriving.destroy(),
  };
  for (const [way, read] of Object.entries(WAYS)) {
    for (const [what, end] of Object.entries(ends)) {
      const { arriving, body } = open({ length: 3 });
      const reading = read(body).then(String, String);
      arriving.write('{}');
      await pause(0);
      end(arriving);
      assert.match(await reading, 'the body is cut off', `${way}, ${what}`);
    }
  }
});

test('a body is cut off if its client has disconnected before it is read', async () => {
  for (const read of Object.values(WAYS)) {
    const { arriving, body } = open({ length: 3, timeout: 20 });
    arriving.destroy();
    await pause(0);
    assert.match(await read(body).then(String, String), 'the body is cut off');
  }
});

test('after a whole body has arrived its time limit is over', async () => {
  let isLate = false;
  const { arriving, incoming, body } = open({ timeout: 20, onTimeout: () => (isLate = true) });
  const reading = body.bytes(null);
  incoming.complete = true;
  arriving.end('{}');
  assert.is(Buffer.from(await reading).toString(), '{}');
  await pause(40);
  assert.is(isLate, false);
});

test('after a body was rejected its time limit is over', async () => {
  let isLate = false;
  const { arriving, body } = open({ timeout: 20, onTimeout: () => (isLate = true) });
  const reading = body.bytes(null).then(String, String);
  arriving.write(Buffer.alloc(MIB + 1));
  assert.match(await reading, 'the body is larger than');
  await pause(40);
  assert.is(isLate, false);
});

test('what arrives of a body after it was rejected is received, and takes no memory', async () => {
  for (const waits of [false, true]) {
    const { arriving, incoming, body, budget } = open({ waits });
    const reading = body.bytes(null).then(String, String);
    arriving.write(Buffer.alloc(MIB + 1));
    assert.match(await reading, 'the body is larger than');
    body.release();
    const finishing = body.finish();
    incoming.complete = true;
    arriving.end(Buffer.alloc(1000));
    assert.is(await finishing, true);
    assert.is(budget.held, 0);
  }
});

test('the waits for the pieces of one MiB of a stream are added up', async () => {
  const late = new AbortController();
  const { arriving, body } = open({ timeout: 40, onTimeout: () => late.abort() });
  const reading = (async () => {
    for await (const _ of body.stream(MIB)) continue;
  })();
  // Each wait is shorter than the time limit, or ends at it.
  for (let piece = 0; piece < 100 && !late.signal.aborted; piece += 1) {
    arriving.write('x');
    await pause(10);
  }
  assert.is(late.signal.aborted, true);
  arriving.destroy();
  await reading.catch((error: unknown) => assert.match(String(error), 'cut off'));
});

test('each MiB of a stream has a time limit of its own, and pieces of less share one', async () => {
  const TIMEOUT = 60_000;
  const late = new AbortController();
  const { arriving, body } = open({ timeout: TIMEOUT, onTimeout: () => late.abort() });
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  const arrive = async (piece: Uint8Array) => {
    // If the limit has passed, the wait for a piece ends at once, before the piece arrives.
    await pause(10);
    time += 0.4 * TIMEOUT;
    arriving.write(piece);
  };
  try {
    const reading = (async () => {
      for await (const _ of body.stream(9 * MIB)) continue;
    })();
    for (let half = 0; half < 6; half += 1) await arrive(Buffer.alloc(MIB / 2));
    await pause(20);
    assert.is(late.signal.aborted, false);
    for (let third = 0; third < 3; third += 1) await arrive(Buffer.alloc(Math.floor(MIB / 3)));
    for (let turn = 0; turn < 100 && !late.signal.aborted; turn += 1) await pause(10);
    assert.is(late.signal.aborted, true);
    arriving.destroy();
    await reading.catch((error: unknown) => assert.match(String(error), 'cut off'));
  } finally {
    performance.now = now;
  }
});

test.run();
