/** src/pages/refresh/unique-queue.ts: queued pages, each once. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UniqueQueue } from '../../../../src/pages/refresh/unique-queue.ts';

test('each value is taken once in a batch, in the order in which they were added', () => {
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
    fc.record({ take: fc.nat(4) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const waiting = new UniqueQueue<string>();
      // Values that were queued when a batch began are taken before later ones.
      let [batch, coming]: [string[], string[]] = [[], []];
      for (const each of steps) {
        if ('add' in each) {
          waiting.add(each.add);
          if (!coming.includes(each.add)) coming.push(each.add);
        } else {
          if (batch.length === 0) [batch, coming] = [coming, []];
          assert.equal(waiting.take(each.take), batch.splice(0, each.take));
        }
        assert.is(waiting.size, batch.length + coming.length);
      }
    }),
  );
});

test('a value may have waited already, and others not as long', () => {
  const waiting = new UniqueQueue<string>(() => 1000);
  waiting.add('a', 30);
  waiting.add('b', 50);
  waiting.add('c');
  assert.is(waiting.age, 50);
});

test('the age of the queue is that of its oldest value', () => {
  let now = 1000;
  const waiting = new UniqueQueue<string>(() => now);
  assert.is(waiting.age, 0);
  waiting.add('a');
  waiting.add('b');
  now = 1070;
  waiting.add('a');
  assert.is(waiting.age, 70);
  assert.equal(waiting.take(1), ['a']);
  now = 1090;
  waiting.add('c');
  assert.is(waiting.age, 90, 'of the batch');
  assert.equal(waiting.take(5), ['b']);
  now = 1100;
  assert.is(waiting.age, 10, 'of what has come since');
  assert.equal(waiting.take(5), ['c']);
  assert.is(waiting.age, 0);
});

test.run();
