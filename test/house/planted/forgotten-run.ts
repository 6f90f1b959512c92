import { test } from 'uvu';

test('nobody runs this one', () => {});
