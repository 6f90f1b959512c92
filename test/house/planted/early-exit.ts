import { test } from 'uvu';

test('this one passes', () => {});

test('this one ends the process as if all were well', () => {
  process.exit(0);
});

test('this one never runs', () => {});

test.run();
