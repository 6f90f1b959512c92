import { test } from 'uvu';

test.after.each(() => {
  throw new Error('the hook fails');
});

test('this one passes until its hook', () => {});

test.run();
