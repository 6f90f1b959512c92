import { test } from 'uvu';

test.after(() => {
  throw new Error('the hook fails');
});

test('this one passes', () => {});

test.run();
