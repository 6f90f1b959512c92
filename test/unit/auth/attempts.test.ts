/** Failed logins are counted by name and by address, within a window, under a clock of the test. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FailedAttempts } from '../../../src/auth/attempts.ts';
import { CatalogError } from '../../../src/errors.ts';

const LIMITS = { account: 3, address: 5, window: 60_000 };

/** Milliseconds; moves only when a test moves it. */
class Clock {
  time = 1000;
  now(): number {
    return this.time;
  }
}

function begin() {
  const clock = new Clock();
  return { clock, attempts: new FailedAttempts({ limits: LIMITS, clock }) };
}

/** Seconds to wait; 0 if the login may be tried. */
function wait(attempts: FailedAttempts, account: string, address = '192.0.2.1'): number {
  try {
    attempts.requireAllowed(account, address);
    return 0;
  } catch (error) {
    assert.ok(error instanceof CatalogError, String(error));
    assert.is(error.status, 429);
    const seconds = Number(error.headers['Retry-After']);
    assert.ok(seconds >= 1 && Number.isInteger(seconds), error.headers['Retry-After']);
    assert.match(
      error.message,
      new RegExp(` ${seconds === 1 ? '1 second' : `${seconds} seconds`}$`),
    );
    return seconds;
  }
}

test('an account is blocked after as many failures as its limit, from any address', () => {
  const { attempts } = begin();
  for (let time = 0; time < LIMITS.account; time += 1) {
    assert.is(wait(attempts, 'ann'), 0, `${time}`);
    attempts.failed('ann', `192.0.2.${time}`);
  }
  assert.is(wait(attempts, 'ann', '198.51.100.1'), 60);
  assert.is(wait(attempts, 'bob'), 0);
});

test('an address is blocked after as many failures as its limit, with any names', () => {
  const { attempts } = begin();
  for (let time = 0; time < LIMITS.address; time += 1) {
    assert.is(wait(attempts, `name ${time}`), 0);
    attempts.failed(`name ${time}`, '192.0.2.1');
  }
  assert.is(wait(attempts, 'ann'), 60);
  assert.is(wait(attempts, 'ann', '192.0.2.2'), 0);
});

test('the window begins with the first failure and is not extended by later ones', () => {
  const { clock, attempts } = begin();
  for (const late of [0, 20_000, 30_000]) {
    clock.time = 1000 + late;
    attempts.failed('ann', '192.0.2.1');
  }
  assert.is(wait(attempts, 'ann'), 30);
  clock.time = 1000 + 59_500;
  assert.is(wait(attempts, 'ann'), 1);
  clock.time = 1000 + 60_001;
  assert.is(wait(attempts, 'ann'), 0);
  attempts.failed('ann', '192.0.2.1');
  assert.is(wait(attempts, 'ann'), 0, 'counting begins anew');
});

test('a successful login resets the count of the account, but not that of the address', () => {
  const { attempts } = begin();
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) attempts.failed('ann', '192.0.2.1');
  };
  fail(2);
  attempts.succeeded('ann');
  fail(2);
  assert.is(wait(attempts, 'ann'), 0, 'never three in a row');
  attempts.succeeded('ann');
  fail(1);
  assert.is(wait(attempts, 'bob'), 60, 'five from the address');
});

test('a check without a failure is not counted', () => {
  const { attempts } = begin();
  for (let time = 0; time < 100; time += 1) assert.is(wait(attempts, 'ann'), 0);
});

test('a blocked address and account stay blocked while 20,000 other addresses fail', () => {
  const { attempts } = begin();
  for (let time = 0; time < 5; time += 1) attempts.failed('ann', '192.0.2.1');
  for (let other = 0; other < 20_000; other += 1) {
    attempts.failed(`name ${other}`, `10.${other >> 16}.${(other >> 8) & 255}.${other & 255}`);
  }
  assert.is(wait(attempts, 'bob'), 60);
  assert.is(wait(attempts, 'ann', '192.0.2.9'), 60);
});

test('IPv6 addresses with the same first 64 bits count as one address', () => {
  const { attempts } = begin();
  for (let time = 0; time < LIMITS.address; time += 1) {
    attempts.failed(`name ${time}`, `2001:db8:1:2::${time}`);
  }
  assert.is(wait(attempts, 'ann', '2001:db8:1:2:ffff::1'), 60);
  assert.is(wait(attempts, 'ann', '2001:db8:1:3::1'), 0);
});

test.run();
