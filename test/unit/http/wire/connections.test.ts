/** Which connections are refused (spec 11.5), and when a refused connection is closed. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustIn } from '../../../../src/http/wire/client-address.ts';
import type { Delay } from '../../../../src/delay.ts';
import { Connections } from '../../../../src/http/wire/connections.ts';

/** How many refused connections stay open until their clients have read the response. */
const LINGERING = 100;

/** The server's end of a connection, which records what is done with it. */
class Peer extends EventEmitter {
  sent = '';
  closed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  end(text: string): void {
    this.sent += text;
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
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

/** A server with room for `limits`, and its clients. */
function begin(
  limits: { connections?: number; connectionsPerAddress?: number },
  proxies: readonly string[] = [],
) {
  const all = { connections: 10_000, connectionsPerAddress: 0, ...limits };
  const waiting = new Waiting();
  const memory = { isScarce: false };
  const isMemoryScarce = () => memory.isScarce;
  const connections = new Connections(all, trustIn(proxies), isMemoryScarce, waiting.delay);
  const connect = (address = '192.0.2.1') => {
    const peer = new Peer(address);
    const status = connections.admit(peer as unknown as Socket)?.status ?? null;
    return { peer, status };
  };
  return { connections, waiting, connect, memory };
}

test('a refused connection gets its response and is closed within a second', () => {
  const { connections, waiting, connect } = begin({ connections: 1 });
  connect();
  const { peer, status } = connect();
  assert.is(status, 503);
  assert.match(peer.sent, /^HTTP\/1\.1 503 /);
  assert.ok(connections.isEnding(peer));
  assert.not.ok(peer.closed, 'its client has time to read');
  assert.is(waiting.times.length, 1);
  assert.ok((waiting.times[0] ?? Infinity) <= 1000);
  waiting.pass();
  assert.ok(peer.closed);
  assert.is(connections.open, 1);
});

test('no timer is left for a refused connection that its client has closed', () => {
  const { waiting, connect } = begin({ connections: 1 });
  connect();
  connect().peer.destroy();
  assert.equal(waiting.times, []);
});

test('at most 100 refused connections stay open for a moment, and others are closed at once', () => {
  const { connections, waiting, connect } = begin({ connections: 1 });
  connect();
  const lingering = Array.from({ length: LINGERING }, () => connect().peer);
  assert.ok(lingering.every(({ closed }) => !closed));
  const { peer, status } = connect();
  assert.is(status, 503);
  assert.match(peer.sent, /^HTTP\/1\.1 503 /, 'it is tried');
  assert.ok(peer.closed);
  lingering[0]?.destroy();
  assert.not.ok(connect().peer.closed, 'there is room for one again');
  assert.ok(connect().peer.closed, 'and for no other');
  waiting.pass();
  assert.ok(lingering.every(({ closed }) => closed));
  assert.not.ok(connect().peer.closed);
  assert.is(connections.open, 1, 'none of them counts as open');
});

for (const [what, own, same, other] of [
  ['IPv4', '192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['IPv4 on a socket of IPv6', '::ffff:192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ['IPv4 on both kinds of sockets', '192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'],
  ['IPv6', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::2%eth0', '2001:db8::1'],
] as const) {
  test(`the limit of connections from an address applies to its network: ${what}`, () => {
    const { connections, connect } = begin({ connectionsPerAddress: 2 });
    const first = connect(own);
    assert.equal([first.status, connect(same).status], [null, null]);
    assert.is(connect(same).status, 429);
    assert.is(connect(own).status, 429);
    assert.is(connect(other).status, null);
    assert.is(connections.open, 3);
    first.peer.destroy();
    assert.is(connect(same).status, null, 'a place is free');
    assert.is(connect(own).status, 429, 'one alone');
  });
}

test('while memory is scarce 100 connections may be open, and more are answered 503', () => {
  const { connections, connect, memory } = begin({});
  const open = Array.from({ length: 99 }, () => connect());
  memory.isScarce = true;
  assert.is(connect().status, null, 'the 100th');
  const { peer, status } = connect();
  assert.is(status, 503);
  assert.match(peer.sent, 'memory');
  open[0]?.peer.destroy();
  assert.is(connect().status, null, 'a place is free');
  memory.isScarce = false;
  assert.is(connect().status, null);
  assert.is(connections.open, 101);
});

test('connections of a trusted proxy have no limit and do not count for its network', () => {
  const { connections, connect } = begin({ connectionsPerAddress: 2 }, ['2001:db8::1']);
  const proxied = Array.from({ length: 5 }, () => connect('2001:db8::1'));
  assert.ok(proxied.every(({ status }) => status === null));
  assert.is(connect('2001:db8::2').status, null);
  for (const { peer } of proxied) peer.destroy();
  assert.is(connections.open, 1);
  assert.is(connect('2001:db8::3').status, null);
  assert.is(connect('2001:db8::4').status, 429);
});

test.run();
