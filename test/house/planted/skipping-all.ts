import { test } from 'uvu';

test.skip('this one is skipped', () => {});

test.skip('and so is this one', () => {});

test.run();
