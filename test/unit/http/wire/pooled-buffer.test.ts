/** Bodies in reused memory: no client reads the body of another. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { POOLED_BYTES, PooledBuffer } from '../../../../src/resources/text/pooled-buffer.ts';
import { until } from '../../../support/until.ts';
import { type Client, staged } from '../../../support/wire.ts';

/** Milliseconds: more than the slow clients wait before they read, on the busiest machine. */
const LONG_MS = 3_600_000;

/** How often each buffer was taken from the pool. */
const taken = new Map<ArrayBufferLike, number>();

/** A buffer full of the last character of the path. */
function filled({ path }: HttpRequest): HttpResponse {
  const body = new PooledBuffer();
  body.buffer.fill(path.slice(-1));
  body.length = POOLED_BYTES;
  taken.set(body.buffer.buffer, (taken.get(body.buffer.buffer) ?? 0) + 1);
  return { status: 200, headers: { 'Content-Type': 'text/plain' }, body };
}

/** The bodies of the responses, each as its characters without repetition. */
function bodiesOf(text: string): string[] {
  return text
    .split(/HTTP\/1\.1 200 /)
    .slice(1)
    .map((response) => {
      const body = response.slice(response.indexOf('\r\n\r\n') + 4);
      assert.is(body.length, POOLED_BYTES);
      return [...new Set(body)].join('');
    });
}

test('a buffer is reused after its response was sent, and not before', () =>
  staged(
    filled,
    async (stage) => {
      const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
      const slow: Client[] = letters.slice(0, 4).map(() => stage.connect());
      for (const [index, client] of slow.entries()) {
        client.socket.pause();
        for (let turn = 0; turn < 100; turn += 1) client.send(`GET /${letters[index]}`);
      }
      let before = -1;
      await until('no more responses are taken', async () => {
        const same = stage.records.length > 0 && stage.records.length === before;
        before = stage.records.length;
        await Bun.sleep(50);
        return same;
      });
      assert.ok(stage.records.length < 400, 'the slow clients hold their responses up');
      taken.clear();
      const quick = stage.connect();
      for (const letter of letters) quick.send(`GET /${letter}`);
      const whole = (client: Client, count: number) =>
        client.received >= count * POOLED_BYTES + 100;
      await until('the quick client has its lists', () => whole(quick, letters.length));
      assert.equal(bodiesOf(quick.text), letters);
      assert.ok(taken.size < letters.length, `${taken.size} buffers for ${letters.length} lists`);
      for (const [index, client] of slow.entries()) {
        client.socket.resume();
        await until('a slow client has its lists', () => bodiesOfEnd(client) === 100);
        assert.equal(new Set(bodiesOf(client.text)), new Set([letters[index]]));
      }
      assert.equal(stage.errors, []);
    },
    { pipelined: 1000, sendTimeout: LONG_MS },
  ));

/** How many complete responses have arrived. */
function bodiesOfEnd({ text }: Client): number {
  const heads = text.match(/HTTP\/1\.1 200 /g)?.length ?? 0;
  const last = text.slice(text.lastIndexOf('HTTP/1.1 200 '));
  const isWhole = last.length - last.indexOf('\r\n\r\n') - 4 === POOLED_BYTES;
  return isWhole ? heads : heads - 1;
}

test('a buffer that was released cannot be read, and a second release has no effect', () => {
  const body = new PooledBuffer();
  body.length = 3;
  body.release();
  body.release();
  assert.throws(() => body.bytes, /was released/);
  assert.is.not(new PooledBuffer().buffer, new PooledBuffer().buffer);
});

test.run();
