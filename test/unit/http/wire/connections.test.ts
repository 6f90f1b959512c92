/** Which connections are refused (spec 11.5). */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustIn } from '../../../../src/http/wire/client-address.ts';
import { Connections } from '../../../../src/http/wire/connections.ts';

/** The server's end of a connection. */
class Peer extends EventEmitter {
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
}

/** A server with room for `limits`, and its clients. */
function begin(
  limits: { connections?: number; connectionsPerAddress?: number },
  proxies: readonly string[] = [],
) {
  const all = { connections: 10_000, connectionsPerAddress: 0, ...limits };
  const memory = { isScarce: false };
  const isMemoryScarce = () => memory.isScarce;
  const connections = new Connections(all, trustIn(proxies), isMemoryScarce);
  const connect = (address = '192.0.2.1') => {
    const peer = new Peer(address);
    const refusal = connections.admit(peer as unknown as Socket);
    return { close: () => void peer.emit('close'), status: refusal?.status ?? null, refusal };
  };
  return { connections, connect, memory };
}

test('a connection above the limit is refused, and does not count', () => {
  const { connections, connect } = begin({ connections: 1 });
  const { close } = connect();
  assert.is(connect().status, 503);
  assert.is(connections.open, 1);
  close();
  assert.is(connections.open, 0);
  assert.is(connect().status, null);
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
    first.close();
    assert.is(connect(same).status, null, 'a place is free');
    assert.is(connect(own).status, 429, 'one alone');
  });
}

test('while memory is scarce 100 connections may be open, and more are answered 503', () => {
  const { connections, connect, memory } = begin({});
  const open = Array.from({ length: 99 }, () => connect());
  memory.isScarce = true;
  assert.is(connect().status, null, 'the 100th');
  const { status, refusal } = connect();
  assert.is(status, 503);
  assert.match(String(refusal?.body), 'memory');
  open[0]?.close();
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
  for (const { close } of proxied) close();
  assert.is(connections.open, 1);
  assert.is(connect('2001:db8::3').status, null);
  assert.is(connect('2001:db8::4').status, 429);
});

test.run();
