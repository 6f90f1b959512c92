import { test } from 'uvu';

test('this one passes', () => {});

test('this one waits for what never comes', () => new Promise(() => {}));

test.run();
