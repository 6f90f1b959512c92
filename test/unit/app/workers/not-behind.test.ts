/** spec 15.18: a request that was passed on sees no older state than a worker has shown. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { notBehind } from '../../../../src/app/workers/not-behind.ts';
import type { HttpRequest } from '../../../../src/http/message.ts';
import { Arrivals } from '../../../../src/resources/changes/arrivals.ts';
import { turn } from '../../../support/turns.ts';

/** An owner that shows a change set, while workers show another one. */
function owner(sequence: number, shown: number) {
  const state = { sequence };
  const answered: string[] = [];
  const arrivals = new Arrivals(() => state.sequence);
  const application = notBehind(
    ({ path }) => {
      answered.push(`${path} at ${state.sequence}`);
      return { status: 200, headers: {}, body: null };
    },
    { shown: () => shown, arrivals: () => arrivals, readiness: '/readyz' },
  );
  const send = (path: string) => application({ path } as HttpRequest);
  return { state, arrivals, answered, send };
}

test('a request waits until the owner shows the last change set that a worker may show', async () => {
  const { state, arrivals, answered, send } = owner(6, 7);
  const response = send('/pages/skus/1.html');
  await turn();
  assert.equal(answered, []);
  state.sequence = 7;
  await arrivals.announce(7);
  await response;
  assert.equal(answered, ['/pages/skus/1.html at 7']);
});

test('a request does not wait if the owner shows as much as its workers', async () => {
  const { answered, send } = owner(7, 7);
  await send('/pages/skus/1.html');
  assert.equal(answered, ['/pages/skus/1.html at 7']);
});

test('the readiness does not wait, and no request does once the server stops', async () => {
  const { arrivals, answered, send } = owner(6, 7);
  await send('/readyz');
  const response = send('/admin/skus/1/');
  arrivals.close();
  await response;
  assert.equal(answered, ['/readyz at 6', '/admin/skus/1/ at 6']);
});

test.run();
