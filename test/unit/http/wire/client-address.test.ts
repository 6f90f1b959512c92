/** `--trust-proxy`: the address of a client behind proxies. */
import type { IncomingMessage } from 'node:http';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clientAddress, TRUST_NOBODY, trustIn } from '../../../../src/http/wire/client-address.ts';

function incoming(remoteAddress: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const socket = { remoteAddress };
  return { socket, connection: socket, headers } as unknown as IncomingMessage;
}

const CASES: readonly (readonly [
  trusted: readonly string[],
  peer: string,
  forwarded: string | undefined,
  address: string,
])[] = [
  [[], '127.0.0.1', '203.0.113.9', '127.0.0.1'],
  [['loopback'], '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  [['loopback'], '127.0.0.1', undefined, '127.0.0.1'],
  [['loopback'], '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  [['loopback'], '127.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  [['loopback', '10.0.0.0/8'], '127.0.0.1', '1.1.1.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  [['loopback', '10.0.0.0/8'], '127.0.0.1', '10.0.0.1, 10.1.2.3', '10.0.0.1'],
  [['loopback'], '::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
  [['loopback'], '::1', '2001:db8::7', '2001:db8::7'],
  [['loopback'], '127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  [[], '::ffff:203.0.113.1', undefined, '203.0.113.1'],
  [['loopback'], '127.0.0.1', 'unknown', '127.0.0.1'],
  [['loopback'], '127.0.0.1', '203.0.113.9, <script>', '127.0.0.1'],
  [['loopback'], '127.0.0.1', '', '127.0.0.1'],
  [['loopback'], '127.0.0.1', '203.0.113.9:1234', '127.0.0.1'],
];

for (const [trusted, peer, forwarded, address] of CASES) {
  const who = trusted.join(', ') || 'no proxy';
  test(`if ${who} is trusted, ${peer} with "${forwarded ?? 'nothing'}" is ${address}`, () => {
    const trusts = trustIn(trusted);
    assert.is(clientAddress(incoming(peer, forwarded), trusts), address);
  });
}

test('X-Forwarded-For from an untrusted peer is ignored, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (forwarded) => {
      assert.is(
        clientAddress(incoming('203.0.113.1', forwarded), trustIn(['loopback'])),
        '203.0.113.1',
      );
      assert.is(clientAddress(incoming('203.0.113.1', forwarded), TRUST_NOBODY), '203.0.113.1');
    }),
  );
});

test('whatever a trusted proxy forwards, the address is always made of address characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (forwarded) => {
      const address = clientAddress(incoming('127.0.0.1', forwarded), trustIn(['loopback']));
      assert.match(address, /^[\da-f.:]+$/i);
    }),
  );
});

test.run();
