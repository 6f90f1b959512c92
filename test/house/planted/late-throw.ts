import { test } from 'uvu';

test('this one leaves a rejection behind', () => {
  setTimeout(() => void Promise.reject(new Error('nobody waits for this')), 1);
});

test.run();
