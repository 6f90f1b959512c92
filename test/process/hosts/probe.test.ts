/** spec 15.26: whether a host that does not answer requests is there. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { responds } from '../../../src/hosts/cluster/probe.ts';

/** Milliseconds: more than an answer takes on the busiest machine, and little for one that never comes. */
const LONG_MS = 60_000;
const SHORT_MS = 200;

/** Whether a host whose requests are handled by `answer` is there; then, once it has closed. */
async function judge(
  answer: (outgoing: ServerResponse) => void,
  timeoutMs = LONG_MS,
): Promise<[boolean, boolean]> {
  const server = createServer((_, outgoing) => answer(outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const isThere = await responds(origin, timeoutMs);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return [isThere, await responds(origin, timeoutMs)];
}

test('a host that answers is there, whatever it answers', async () => {
  assert.equal(await judge((outgoing) => outgoing.end()), [true, false]);
  assert.equal(await judge((outgoing) => outgoing.writeHead(404).end()), [true, false]);
});

test('a host that accepts connections and does not answer is not there, nor is one behind a proxy that says so', async () => {
  assert.equal(await judge(() => {}, SHORT_MS), [false, false]);
  assert.equal(await judge((outgoing) => outgoing.writeHead(502).end()), [false, false]);
});

test.run();
