import { test } from 'uvu';

test.before(() => {
  throw new Error('the hook fails');
});

test('this one never runs', () => {});

test.run();
