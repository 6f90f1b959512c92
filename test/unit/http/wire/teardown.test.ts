/** Who sends the last response of a connection, and when the connection is closed (spec 11.2, 11.5). */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Delay } from '../../../../src/delay.ts';
import type { Incoming } from '../../../../src/http/wire/client-address.ts';
import { ClientErrors } from '../../../../src/http/wire/client-errors.ts';
import { ERROR_RESPONSES } from '../../../../src/http/wire/error-responses.ts';
import { Pipeline } from '../../../../src/http/wire/pipeline.ts';
import { Teardown } from '../../../../src/http/wire/teardown.ts';

/** How many refused connections stay open until their clients have read the response. */
const LINGERING = 100;

/** The server's end of a connection, which records what is done with it. */
class Peer extends EventEmitter {
  sent = '';
  writable = true;
  destroyed = false;

  end(bytes: Uint8Array): void {
    this.sent += Buffer.from(bytes).toString();
    this.writable = false;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writable = false;
    this.emit('close');
  }
}

/** Delayed work that runs when the test calls `pass`. */
class Waiting {
  readonly #due = new Map<() => void, number>();

  readonly delay: Delay = (work, milliseconds) => {
    this.#due.set(work, milliseconds);
    return () => void this.#due.delete(work);
  };

  get times(): readonly number[] {
    return [...this.#due.values()];
  }

  pass(): void {
    for (const work of this.#due.keys()) work();
  }
}

/** The tear-down of connections, with time that the test lets pass, and new connections. */
function begin() {
  const waiting = new Waiting();
  const teardown = new Teardown(waiting.delay);
  const connect = () => {
    const peer = new Peer();
    return { peer, socket: peer as unknown as Socket };
  };
  const refuse = () => {
    const { peer, socket } = connect();
    teardown.refuse(ERROR_RESPONSES.connections, socket);
    return peer;
  };
  return { teardown, waiting, connect, refuse };
}

test('a refused connection gets its response and is closed within a second', () => {
  const { waiting, refuse } = begin();
  const peer = refuse();
  assert.match(peer.sent, /^HTTP\/1\.1 503 /);
  assert.not.ok(peer.destroyed, 'its client has time to read');
  assert.is(waiting.times.length, 1);
  assert.ok((waiting.times[0] ?? Infinity) <= 1000);
  waiting.pass();
  assert.ok(peer.destroyed);
});

test('no timer is left for a connection that its client has closed', () => {
  const { waiting, refuse } = begin();
  refuse().destroy();
  assert.equal(waiting.times, []);
});

test('at most 100 refused connections stay open for a moment, and others are closed at once', () => {
  const { waiting, refuse } = begin();
  const lingering = Array.from({ length: LINGERING }, refuse);
  assert.ok(lingering.every(({ destroyed }) => !destroyed));
  const one = refuse();
  assert.match(one.sent, /^HTTP\/1\.1 503 /, 'it is tried');
  assert.ok(one.destroyed);
  lingering[0]?.destroy();
  assert.not.ok(refuse().destroyed, 'there is room for one again');
  assert.ok(refuse().destroyed, 'and for no other');
  waiting.pass();
  assert.ok(lingering.every(({ destroyed }) => destroyed));
  assert.not.ok(refuse().destroyed);
});

test('once the last response of a connection is decided, no request of it begins', () => {
  const { teardown, connect } = begin();
  const { peer, socket } = connect();
  assert.ok(teardown.isOpen(socket));
  teardown.begin(socket);
  assert.not.ok(teardown.isOpen(socket));
  assert.ok(teardown.end(ERROR_RESPONSES.slow, socket), 'who has it may send it later');
  assert.match(peer.sent, /^HTTP\/1\.1 408 /);
  const gone = connect();
  gone.peer.destroy();
  assert.not.ok(teardown.isOpen(gone.socket));
});

test('the last response of a connection has a body, except to HEAD', () => {
  const { teardown, connect } = begin();
  const [get, head] = [connect(), connect()];
  teardown.end(ERROR_RESPONSES.slow, get.socket);
  teardown.end(ERROR_RESPONSES.slow, head.socket, 0, true);
  const body = '{"error":"the request took too long to arrive"}';
  assert.ok(get.peer.sent.endsWith(`\r\n\r\n${body}`), get.peer.sent);
  assert.match(head.peer.sent, /^HTTP\/1\.1 408 /);
  assert.ok(head.peer.sent.endsWith('\r\n\r\n'), head.peer.sent);
});

test('a connection that can take no response is closed at once, and its sender learns of it', () => {
  const { teardown, waiting, connect } = begin();
  const { peer, socket } = connect();
  peer.writable = false;
  assert.not.ok(teardown.end(ERROR_RESPONSES.slow, socket));
  assert.equal([peer.sent, peer.destroyed, waiting.times], ['', true, []]);
});

test('an error in the bytes after the last response neither is answered nor cuts the connection', () => {
  const { teardown, connect, refuse } = begin();
  const pipeline = new Pipeline<Incoming>({
    limit: 1,
    clientOf: () => '',
    onDeferredBegun: () => {},
  });
  const reported: number[] = [];
  const errors = new ClientErrors(
    () => ({ status: 405, headers: {}, body: '' }),
    pipeline,
    teardown,
    ({ status }) => reported.push(status),
  );
  const ended = connect();
  const malformed = Object.assign(new Error(), { code: 'HPE_INVALID_CONSTANT' });
  errors.handle(malformed, ended.socket);
  assert.match(ended.peer.sent, /^HTTP\/1\.1 400 /);
  assert.equal(reported, [400]);
  for (const peer of [ended.peer, refuse()]) {
    const { sent } = peer;
    const socket = peer as unknown as Socket;
    errors.handle(malformed, socket);
    errors.rejectTunnel(socket);
    assert.is(peer.sent, sent);
    assert.not.ok(peer.destroyed, 'its client may not have read the response yet');
  }
  assert.equal(reported, [400]);
  assert.is(pipeline.active, 0);
});

test.run();
