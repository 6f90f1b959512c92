/** docs/security.md, "Hosts that follow": forwarded requests leave room for others. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HTTP_CLIENT_POLICY, maxForwards } from '../../../../src/app/engine/http-client.ts';

const withNumber = (value: string) => maxForwards({ BUN_CONFIG_MAX_HTTP_REQUESTS: value });

test('a server with its engine settings forwards 500 requests at a time', () => {
  assert.is(maxForwards(HTTP_CLIENT_POLICY), 500);
  assert.is(withNumber('65535'), 500);
});

test('a process with another number forwards half as many, and 128 by default', () => {
  assert.is(maxForwards({}), 128);
  assert.is(withNumber('700'), 350);
  assert.is(withNumber('1'), 1);
});

test('numbers that Bun ignores count as its default', () => {
  for (const value of ['', 'abc', '0', '-1', '1.5', '65536']) {
    assert.is(withNumber(value), 128, value);
  }
});

test.run();
