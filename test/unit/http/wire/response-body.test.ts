/** Sending a stream piece by piece, over a connection that the test plays. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Cuts } from '../../../../src/http/wire/responses/cuts.ts';
import {
  type ResponseSink,
  sendResponse,
} from '../../../../src/http/wire/responses/response-body.ts';

/** A connection whose client takes each piece a moment after it was written. */
function connected() {
  const connection = Object.assign(new EventEmitter(), { destroyed: false, destroy() {} });
  const written: string[] = [];
  const outgoing = Object.assign(new EventEmitter(), {
    setHeader() {},
    flushHeaders() {},
    end() {},
    write(piece: Uint8Array) {
      written.push(Buffer.from(piece).toString());
      queueMicrotask(() => outgoing.emit('drain'));
      return false;
    },
  });
  const incoming = { httpVersion: '1.1' };
  let waiting = 0;
  const unread = {
    add() {
      waiting += 1;
      return () => (waiting -= 1);
    },
  };
  const send = (body: AsyncIterable<string>) => {
    const onError = (error: unknown) => assert.unreachable(String(error));
    const shared = { timeout: 60_000, unread, cuts: new Cuts(), onError };
    const sink = { incoming, outgoing, connection, ...shared };
    const response = { status: 200, headers: {}, body };
    return sendResponse(sink as unknown as ResponseSink, response, false);
  };
  return { connection, outgoing, written, send, waiting: () => waiting };
}

test('a stream of any number of pieces leaves nothing that waits on its connection', async () => {
  const { connection, outgoing, written, send, waiting } = connected();
  const open: number[] = [];
  const body = (async function* () {
    for (let piece = 1; piece <= 50; piece += 1) {
      open.push(connection.listenerCount('close'));
      yield `${piece};`;
    }
  })();
  assert.is(await send(body), written.join('').length);
  assert.is(written.length, 50);
  assert.is(Math.max(...open), 1, 'while a piece is made');
  assert.is(connection.listenerCount('close') + outgoing.listenerCount('drain') + waiting(), 0);
});

test('a piece that is complete after its connection was cut is not written', async () => {
  const { connection, written, send } = connected();
  let isClosed = false;
  const body = (async function* () {
    try {
      yield 'one';
      // The event `close` follows later.
      connection.destroyed = true;
      yield 'two';
      yield 'three';
    } finally {
      isClosed = true;
    }
  })();
  await send(body);
  assert.equal([written, isClosed], [['one'], true]);
});

for (const end of ['finish', 'close'] as const) {
  test(`after the ${end} of a stream to HTTP/1.0 its connection is neither kept nor reset`, () => {
    const done: string[] = [];
    const outgoing = new EventEmitter();
    const connection = Object.assign(new EventEmitter(), {
      destroy: () => void done.push('closed'),
      resetAndDestroy: () => void done.push('reset'),
    });
    const cuts = new Cuts();
    cuts.expectStream('1.0', outgoing as ServerResponse, connection as unknown as Socket);
    cuts.cutStreams();
    (end === 'finish' ? outgoing : connection).emit(end);
    cuts.cutStreams();
    cuts.cut(connection as unknown as Socket);
    assert.equal(done, ['reset', 'closed']);
  });
}

test.run();
