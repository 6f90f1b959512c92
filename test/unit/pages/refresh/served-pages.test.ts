/** The time that is sent with a page tells it from every earlier one. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lastModified } from '../../../../src/pages/refresh/served-pages.ts';

/** Milliseconds in which something else happens: mostly within a second. */
const PAUSE = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 3000 }));

test('a file that was sent at any time has an earlier time than the one that replaces it', () => {
  fc.assert(
    fc.property(fc.nat(5000), PAUSE, PAUSE, PAUSE, (named, sending, replacing, reading) => {
      const sent = named + sending;
      const replaced = sent + replacing;
      const before = lastModified(named, sent).getTime();
      // Once the second is over in which it got its name.
      const now = replaced + 1000 + reading;
      assert.ok(before < lastModified(replaced, now).getTime());
    }),
  );
});

test('a file that stays has one time from the next second on, and none to come', () => {
  fc.assert(
    fc.property(fc.nat(5000), PAUSE, PAUSE, (named, sending, later) => {
      const sent = named + 1000 + sending;
      const time = lastModified(named, sent).getTime();
      assert.is(time, lastModified(named, sent + later).getTime());
      assert.ok(time > named);
      assert.ok(lastModified(named, named + sending).getTime() <= named + sending);
    }),
  );
});

test.run();
