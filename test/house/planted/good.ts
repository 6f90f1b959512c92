import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('this one passes', () => {
  assert.is(1 + 1, 2);
});

test.run();
