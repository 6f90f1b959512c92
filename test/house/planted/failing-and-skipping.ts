import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('this one passes', () => {});

test.skip('this one is skipped', () => {});

for (const name of ['this one fails', 'this one fails as well']) {
  test(name, () => assert.unreachable());
}

test.run();
