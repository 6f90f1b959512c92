import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('this one passes', () => {
  assert.is(1 + 1, 2);
});

test('this one fails', () => {
  assert.is(1 + 1, 3);
});

test.run();
