import { test } from 'uvu';

test('this one fails with more text than a pipe holds', () => {
  throw new Error('too much '.repeat(2 ** 16));
});

test.run();
