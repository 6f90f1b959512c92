/** `--trust-proxy`: whose X-Forwarded-For and X-Request-Id headers are used. */
import type { IncomingMessage } from 'node:http';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clientAddress, TRUST_NOBODY, trustIn } from '../../../src/http/wire/client-address.ts';
import { send } from '../../support/client.ts';
import { killServers, type ServerOptions, startServer } from '../../support/server.ts';

test.after(killServers);

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

/** The log line of one request with these headers, and the X-Request-Id of its response. */
async function logLine(
  options: ServerOptions,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly line: Readonly<Record<string, unknown>>; readonly told: string | null }> {
  const server = await startServer({
    ...options,
    args: ['--log-level', 'info', ...(options.args ?? [])],
  });
  const answer = await send(server, 'GET', '/books/', { headers, token: null });
  const { stderr } = await server.stop();
  const line = stderr.split('\n').find((each) => each.includes('"path":"/books/"')) ?? '{}';
  return { line: JSON.parse(line), told: answer.headers.get('x-request-id') };
}

const FORWARDED = { 'X-Forwarded-For': '203.0.113.9', 'X-Request-Id': 'proxy-17' };

test('the log has the client address and the request id that a trusted proxy sends', async () => {
  const { line, told } = await logLine({ args: ['--trust-proxy', 'loopback'] }, FORWARDED);
  assert.is(line['address'], '203.0.113.9');
  assert.is(line['request_id'], 'proxy-17');
  assert.is(told, 'proxy-17');
});

test('headers of an untrusted peer are ignored: the log has its address and a generated id', async () => {
  for (const args of [[], ['--trust-proxy', '10.0.0.0/8']]) {
    const { line, told } = await logLine({ args }, FORWARDED);
    assert.is(line['address'], '127.0.0.1');
    assert.match(String(line['request_id']), /^[\da-f]{8}-[\da-f-]{27}$/);
    assert.is(told, line['request_id']);
  }
});

test('an invalid request id is replaced, even if it comes from a trusted proxy', async () => {
  for (const id of ['a b', '{"level":"error"}', 'x'.repeat(129), '<script>']) {
    const { line } = await logLine(
      { args: ['--trust-proxy', 'loopback'] },
      { ...FORWARDED, 'X-Request-Id': id },
    );
    assert.match(String(line['request_id']), /^[\da-f]{8}-[\da-f-]{27}$/);
  }
});

test('the response to a request without X-Request-Id has none', async () => {
  assert.is((await logLine({}, {})).told, null);
});

test.run();
