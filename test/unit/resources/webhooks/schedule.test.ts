/** spec 14.7: when a delivery that has failed is tried again. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DeliveryState } from '../../../../src/resources/webhooks/delivery-state.ts';
import { retryDelay } from '../../../../src/resources/webhooks/schedule.ts';

test('the first delay is below 5 seconds, each is twice the one before, and none over an hour', () => {
  for (const chance of [0, 0.5, 1]) {
    const delays = Array.from({ length: 100 }, (_, index) => retryDelay(index + 1, chance));
    assert.ok((delays[0] ?? 0) > 0 && (delays[0] ?? 0) < 5000);
    for (const [index, delay] of delays.entries()) {
      assert.ok(delay <= 3_600_000);
      const before = delays[index - 1] ?? 0;
      if (delay < 2_000_000) assert.ok(delay >= 2 * before, `${before} ${delay}`);
    }
  }
});

const message = (id: number) => ({ id: `msg_${id}`, sequence: id, changes: 1, body: '' });

test('the state of deliveries is what it was after a restart, the last hundred included', () => {
  const state = new DeliveryState(7);
  for (let id = 1; id <= 120; id += 1)
    state.delivered(message(id), { status: 204, error: null }, id);
  state.failed(message(121), { status: null, error: 'x'.repeat(1000) }, 121);
  state.position = 120;
  const again = DeliveryState.parse(state.text);
  assert.is(again?.text, state.text);
  assert.is(again?.position, 120);
  assert.is(again?.next, null, 'a restart tries at once');
  const [latest, ...others] = again?.deliveries ?? [];
  assert.equal([latest?.state, latest?.attempts, latest?.error?.length], ['failed', 1, 300]);
  assert.equal([others.length, others.at(-1)?.sequence], [99, 22]);
});

test('what is not the state of deliveries is not taken for one', () => {
  for (const text of ['', '{', '[]', '{}', '{"position":"1"}', 'null']) {
    assert.is(DeliveryState.parse(text), null, text);
  }
});

test.run();
