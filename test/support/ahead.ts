/** A reader of changes whose last change set is one that a server does not have yet. */
import * as assert from 'uvu/assert';
import { type Reachable, send, sent, tokenFor } from './client.ts';

/** On a slow machine the change set of one round may come too late. */
const ROUNDS = 5;

/**
 * Checks that such a reader continues at `reading`, as an array and as a stream. The change set
 * after which it reads is made through `writing`, after its request was sent.
 */
export async function readerAheadContinues(reading: Reachable, writing: Reachable): Promise<void> {
  for (const accept of ['application/json', 'text/event-stream']) {
    const statuses: number[] = [];
    while (!statuses.includes(200) && statuses.length < ROUNDS) {
      const { headers } = await send(writing, 'GET', '/books/1/');
      const since = Number(headers.get('catalog-sequence')) + 1;
      const status = statusOf(reading, since, accept);
      await sent(writing, 200, 'PATCH', '/books/1/', { body: { name: `Book ${since}` } });
      statuses.push(await status);
    }
    assert.ok(statuses.includes(200), `${accept}: ${statuses.join()}`);
  }
}

async function statusOf({ url }: Reachable, since: number, accept: string): Promise<number> {
  const headers = { accept, authorization: `Bearer ${await tokenFor('viewer')}` };
  const response = await fetch(`${url}/admin/changes/?since=${since}`, { headers });
  await response.body?.cancel();
  return response.status;
}
