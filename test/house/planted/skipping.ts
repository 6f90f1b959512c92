import { test } from 'uvu';

test('this one passes', () => {});

test.skip('this one is skipped', () => {});

test.run();
