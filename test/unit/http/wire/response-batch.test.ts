/** Responses of one turn of the event loop are sent together, in order, within a short time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseBatch } from '../../../../src/http/wire/responses/response-batch.ts';

test('responses of a turn are sent in order at its end', async () => {
  const batch = new ResponseBatch(() => 0);
  const left: number[] = [];
  for (const number of [1, 2, 3]) batch.add(() => left.push(number));
  await Promise.resolve();
  assert.equal(left, []);
  await nextTurn();
  assert.equal(left, [1, 2, 3]);
  batch.add(() => left.push(4));
  await nextTurn();
  assert.equal(left, [1, 2, 3, 4]);
});

test('at most 32 responses wait, then all are sent', async () => {
  const batch = new ResponseBatch(() => 0);
  let left = 0;
  for (let count = 1; count <= 70; count += 1) {
    batch.add(() => (left += 1));
    assert.is(left, count - (count % 32));
  }
  await nextTurn();
  assert.is(left, 70);
});

test('responses are sent once a later one is added after more than a millisecond', async () => {
  let now = 100;
  const batch = new ResponseBatch(() => now);
  const left: number[] = [];
  batch.add(() => left.push(1));
  now += 0.9;
  batch.add(() => left.push(2));
  assert.equal(left, []);
  now += 0.2;
  batch.add(() => left.push(3));
  assert.equal(left, [1, 2, 3]);
  batch.add(() => left.push(4));
  assert.equal(left, [1, 2, 3], 'the time begins anew');
  await nextTurn();
  assert.equal(left, [1, 2, 3, 4]);
});

test('waiting responses can be sent at once, and are sent only once', async () => {
  const batch = new ResponseBatch(() => 0);
  const left: number[] = [];
  batch.add(() => left.push(1));
  batch.flush();
  assert.equal(left, [1]);
  await nextTurn();
  assert.equal(left, [1], 'and once');
});

test('a response that is added while others are sent waits for the end of its own turn', async () => {
  const batch = new ResponseBatch(() => 0);
  const left: string[] = [];
  batch.add(() => {
    left.push('first');
    batch.add(() => left.push('second'));
  });
  await nextTurn();
  assert.equal(left, ['first']);
  await nextTurn();
  assert.equal(left, ['first', 'second']);
});

test.run();
