/** spec 14.7: when a failed delivery is tried again. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DeliveryState } from '../../../../src/resources/webhooks/delivery-state.ts';
import { GIVE_UP_MS, retryDelay } from '../../../../src/resources/webhooks/schedule.ts';

test('the first delay is about 2 seconds, and each further one is twice as long, up to an hour', () => {
  for (const chance of [0, 0.5, 1]) {
    const delays = Array.from({ length: 100 }, (_, index) => retryDelay(index + 1, chance));
    const [first = 0, last = 0] = [delays[0], delays.at(-1)];
    assert.ok(first > 1500 && first < 2500, `${first}`);
    assert.ok(last > 2_700_000, `${last}`);
    for (const [index, delay] of delays.entries()) {
      assert.ok(delay <= 3_600_000);
      const before = delays[index - 1] ?? 0;
      const isCapped = delay > 2_000_000;
      assert.ok(index === 0 || isCapped || delay === 2 * before, `${before} ${delay}`);
    }
  }
});

const message = (id: number) => ({
  id: `msg_${id}`,
  sequence: id,
  changes: 1,
  body: '',
  progress: { of: `msg_${id}`, messages: 1, changes: 1 },
});

test('the state of deliveries survives a restart, with the last 100 deliveries', () => {
  const state = new DeliveryState(7);
  for (let id = 1; id <= 120; id += 1)
    state.delivered(message(id), { status: 204, error: null }, id);
  state.failed(message(121), { status: null, error: 'x'.repeat(1000) }, 121);
  state.position = 120;
  const again = DeliveryState.parse(state.text);
  assert.is(again?.text, state.text);
  assert.is(again?.position, 120);
  assert.equal(again?.progress, { of: 'msg_120', messages: 1, changes: 1 });
  assert.is(again?.next, null, 'a restart tries at once');
  const [latest, ...others] = again?.deliveries ?? [];
  assert.equal([latest?.state, latest?.attempts, latest?.error?.length], ['failed', 1, 300]);
  assert.equal([others.length, others.at(-1)?.sequence], [99, 22]);
});

test('a message is listed once, with its attempts and the times of the first and the last of them', () => {
  const state = new DeliveryState(0);
  state.failed(message(1), { status: 500, error: null }, 0);
  state.failed(message(1), { status: null, error: `${'x'.repeat(299)}\u{1f600}` }, 2000);
  assert.is(state.deliveries[0]?.error, `${'x'.repeat(299)}\ufffd`, 'no half of a character');
  state.delivered(message(1), { status: 204, error: null }, 6000);
  state.delivered(message(2), { status: 204, error: null }, 7000);
  assert.equal(
    state.deliveries.map(({ id, attempts, first_attempt, last_attempt }) => [
      id,
      attempts,
      Date.parse(first_attempt),
      Date.parse(last_attempt),
    ]),
    [
      ['msg_2', 1, 7000, 7000],
      ['msg_1', 3, 0, 6000],
    ],
  );
});

test('skipped change sets are listed as a delivery with the first and the last of them', () => {
  const state = new DeliveryState(7);
  assert.match(state.skipped(8, 0), /\b8 to 8\b/, 'one alone');
  assert.match(state.skipped(12, 0), /\b9 to 12\b/);
  assert.is(state.position, 12);
  assert.not.match(state.skipped(12, 0), /\d/, 'none was skipped: the store has lost some');
  assert.equal(
    state.deliveries.map(({ state: outcome, sequence }) => [outcome, sequence]),
    [
      ['skipped', 12],
      ['skipped', 12],
      ['skipped', 8],
    ],
  );
});

const HOUR_MS = 3_600_000;

/** Records a failure. @returns for how many hours deliveries were tried. */
const failedAt = (state: DeliveryState, hour: number) =>
  state.failed(message(1), { status: 500, error: null }, hour * HOUR_MS) / HOUR_MS;

function restarted(state: DeliveryState): DeliveryState {
  const again = DeliveryState.parse(state.text);
  if (again === null) throw new Error('the state cannot be read');
  return again;
}

test('the time in which the server was off does not count as time of attempts', () => {
  const state = new DeliveryState(0);
  assert.is(failedAt(state, 0), 0);
  assert.is(failedAt(state, 0.5), 0.5);
  const again = restarted(state);
  assert.is(failedAt(again, 96), 1.5, 'an hour at most between two attempts');
  assert.is(failedAt(again, 97), 2.5);
  assert.is(failedAt(restarted(again), 97.25), 2.75, 'a short restart does not interrupt it');
});

test('a clock that jumps forward or back neither shortens nor extends the attempts', () => {
  const state = new DeliveryState(0);
  const hours = [0, 1, 1000, 1001, 500, 501].map((hour) => failedAt(state, hour));
  assert.equal(hours, [0, 1, 2, 3, 3, 4]);
});

test('deliveries are given up after three days of attempts, however often the server restarts', () => {
  let [state, time, tried, attempts] = [new DeliveryState(0), 0, 0, 0];
  while (tried < GIVE_UP_MS) {
    state = restarted(state);
    tried = state.failed(message(1), { status: 500, error: null }, time);
    attempts += 1;
    time += retryDelay(attempts, 0);
  }
  assert.ok(tried - GIVE_UP_MS <= HOUR_MS, `${tried}`);
  assert.ok(attempts > 72, `${attempts} attempts`);
});

test('after a success or a reset delays and the time of attempts begin with the next failure', () => {
  for (const end of [
    (state: DeliveryState) => state.delivered(message(1), { status: 204, error: null }, HOUR_MS),
    (state: DeliveryState) => state.beginAnew(),
  ]) {
    const state = new DeliveryState(0);
    failedAt(state, 0);
    failedAt(state, 1);
    end(state);
    assert.is(state.next, null, 'the next attempt is due at once');
    assert.equal([failedAt(state, 2), failedAt(state, 3)], [0, 1]);
    state.failed(message(1), { status: 500, error: null }, 0, (failures) => failures);
    assert.is(state.next, 3, 'the third failure in a row');
  }
});

test('a state of an earlier version is read without its last failure, and its time begins at 0', () => {
  const written = { position: 7, failures: 2, trying_since: 0, deliveries: [] };
  const state = DeliveryState.parse(JSON.stringify(written));
  assert.is(state?.position, 7);
  assert.is(state?.progress, null);
  assert.is(state && failedAt(state, 96), 0);
});

test('text that is not a state of deliveries is parsed as null', () => {
  for (const text of ['', '{', '[]', '{}', '{"position":"1"}', 'null']) {
    assert.is(DeliveryState.parse(text), null, text);
  }
});

test.run();
