/** spec 15.4: the times of change sets do not go back with the clock, unless it was set. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timeAfter } from '../../../../src/store/writer/group.ts';

const last = '2026-12-01T10:00:00.000Z';

for (const { clock, is } of [
  { clock: '2026-12-01T10:00:00.001Z', is: '2026-12-01T10:00:00.001Z' },
  { clock: '2036-12-01T10:00:00.000Z', is: '2036-12-01T10:00:00.000Z' },
  { clock: '2026-12-01T09:59:59.999Z', is: last },
  { clock: '2026-12-01T09:59:00.000Z', is: last },
  { clock: '2026-12-01T09:58:59.999Z', is: '2026-12-01T09:58:59.999Z' },
  { clock: '2020-01-01T00:00:00.000Z', is: '2020-01-01T00:00:00.000Z' },
]) {
  test(`after ${last}, a change set that is made at ${clock} by the clock is of ${is}`, () => {
    assert.is(timeAfter(last, Date.parse(clock)), is);
  });
}

test('if the time of the last change set is not known, the clock counts', () => {
  assert.is(timeAfter(null, 0), '1970-01-01T00:00:00.000Z');
});

test.run();
