/** What a shutdown does with requests that arrive just before it. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { responsesIn } from '../../../support/raw.ts';
import { until } from '../../../support/until.ts';
import { staged } from '../../../support/wire.ts';

const CLIENTS = 50;

/** @returns the connections of a port on this machine that have bytes nobody has read yet. */
function unreadConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , , queues]) => address?.endsWith(local) && !queues?.endsWith(':00000000'))
    .length;
}

test('requests that have arrived before a shutdown are answered, though none of them was read yet', () =>
  staged(
    () => ({ status: 200, headers: {}, body: 'served' }),
    async (stage) => {
      const port = Number(new URL(stage.server.url).port);
      const clients = Array.from({ length: CLIENTS }, () => stage.connect());
      for (const client of clients) client.send('GET /first');
      await until('all are answered', () => clients.every(({ text }) => text.endsWith('served')));
      for (const client of clients) client.send('GET /second');
      const deadline = Date.now() + 60_000;
      // Does not give the server a turn in which it could read them.
      while (process.platform === 'linux' && unreadConnections(port) < CLIENTS) {
        assert.ok(Date.now() < deadline, 'the requests do not arrive');
      }
      await stage.server.close(60_000);
      for (const client of clients) {
        const [, second] = responsesIn(await client.end());
        assert.is(second?.status, 200);
        assert.is(second?.headers['connection'], 'close');
      }
    },
  ));

test.run();
