/** spec 15.11: what a follower does with the writes of its clients. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { primaryForwarding } from '../../../../src/hosts/following/primary-forwarding.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { failureMessage } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

const ADDRESS = 'https://primary.example/shop/';

const WRITE = { method: 'POST', path: '/shop/books/', trace: { found: '/books/' } } as HttpRequest;

const CREATED: HttpResponse = {
  status: 201,
  headers: { 'Catalog-Sequence': '17' },
  body: null,
};

/** @param arrival when this host shows what was written at the primary. */
function following(arrival: Promise<void>) {
  const stopped = new AbortController();
  const passed: string[] = [];
  const reached: number[] = [];
  const forward = primaryForwarding({
    address: ADDRESS,
    origin: 'https://primary.example',
    forwarder: {
      forward: async ({ path }, origin) => {
        passed.push(origin + path);
        return CREATED;
      },
    },
    async reach(sequence) {
      await arrival;
      reached.push(sequence);
    },
    pullAccounts: async () => {},
    signal: stopped.signal,
  });
  return { forward, stopped, passed, reached };
}

test('a write is passed on, and answered when this host shows it', async () => {
  const { forward, passed, reached } = following(turn());
  assert.is(await forward(WRITE), CREATED);
  assert.equal(passed, ['https://primary.example/shop/books/']);
  assert.equal(reached, [17]);
});

test('a host that is stopped answers at once', async () => {
  const { forward, stopped, reached } = following(new Promise(() => {}));
  const answered = forward(WRITE);
  await turn();
  stopped.abort();
  assert.is(await answered, CREATED);
  assert.equal(reached, []);
});

test('a host that passes nothing on names the primary', async () => {
  const forward = primaryForwarding({
    address: ADDRESS,
    origin: 'https://primary.example',
    forwarder: null,
    reach: () => undefined,
    pullAccounts: () => undefined,
    signal: new AbortController().signal,
  });
  assert.is(
    await failureMessage(forward(WRITE), 'not_primary'),
    `this host follows ${ADDRESS}; send the request there`,
  );
});

test.run();
