/** spec 11.3: which request bodies have room beside the others, by a plain list of them. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyBudget } from '../../../../src/http/wire/body-memory/body-budget.ts';

/** Bytes up to which a body is always accepted. */
const SMALL = 16 * 1024;

/** Often round, so that bodies end at a limit. */
const sizeUpTo = (most: number) =>
  fc.oneof(
    fc.nat(2 * most).map((half) => (half * SMALL) / 2),
    fc.nat(most * SMALL),
  );

const step = fc.record({
  act: fc.constantFrom('begin', 'begin', 'grow', 'grow', 'release'),
  subject: fc.constantFrom('ann', 'bob', null),
  which: fc.nat(),
  bytes: fc.oneof(sizeUpTo(1), sizeUpTo(8), fc.constant(SMALL + 1)),
  isScarce: fc.nat(9).map((number) => number === 0),
});

interface Body {
  readonly subject: string | null;
  bytes: number;
}

test('large bodies stay within the limits of all, of a subject and of requests without a token, and small ones are free', () => {
  const sizes = fc.record({ limit: sizeUpTo(40), largest: sizeUpTo(20) });
  fc.assert(
    fc.property(sizes, fc.array(step, { maxLength: 60 }), ({ limit, largest }, steps) => {
      let isScarce = false;
      const budget = new BodyBudget({ limit, largest, isMemoryScarce: () => isScarce });
      const bodies: Body[] = [];
      const sum = (of: readonly Body[]) => of.reduce((total, body) => total + body.bytes, 0);
      const hasRoom = (body: Body, after: number) => {
        if (after <= SMALL) return true;
        const others = bodies.filter((other) => other !== body && other.bytes > SMALL);
        const own = others.filter(({ subject }) => subject === body.subject);
        const share = body.subject === null ? limit / 4 : limit / 2;
        const fits = sum(others) + after <= Math.max(limit, largest);
        return fits && sum(own) + after <= Math.max(share, largest) && !isScarce;
      };
      for (const one of steps) {
        const chosen = bodies[one.which % Math.max(bodies.length, 1)];
        isScarce = one.isScarce;
        if (one.act === 'release' && chosen !== undefined) {
          budget.release(chosen.subject, chosen.bytes);
          bodies.splice(bodies.indexOf(chosen), 1);
        } else {
          const begins = one.act === 'begin' || chosen === undefined;
          const body = begins ? { subject: one.subject, bytes: 0 } : chosen;
          if (begins) bodies.push(body);
          const after = body.bytes + one.bytes;
          const isAccepted = hasRoom(body, after);
          assert.is(budget.grow(body.subject, body.bytes, after), isAccepted);
          if (isAccepted) body.bytes = after;
        }
        assert.is(budget.held, sum(bodies));
      }
    }),
    { numRuns: 1000 },
  );
});

test.run();
