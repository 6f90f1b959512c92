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
  readonly onTimeout?: () => void;
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
  const response = { writeContinue() {} } as unknown as ServerResponse;
  const body = new IncomingBody(
    incoming as unknown as IncomingMessage,
    { limit: MIB, timeout, budget, onTimeout },
    waits ? response : null,
  );
  return { arriving, incoming, body };
}

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

test.run();
