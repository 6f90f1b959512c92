/** Parsing of the bounds of a period, `since` and `until` (spec 4.8). */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePeriodEnd, parsePeriodStart } from '../../../../src/resources/query/instants.ts';

test('a date stands for a whole day in UTC', () => {
  assert.is(parsePeriodStart('2026-11-21'), '2026-11-21T00:00:00.000Z');
  assert.is(parsePeriodEnd('2026-11-21'), '2026-11-21T23:59:59.999Z');
  assert.is(parsePeriodEnd('2028-02-29'), '2028-02-29T23:59:59.999Z');
});

test('an instant needs an offset, and may have up to nine digits after the second', () => {
  for (const [text, instant] of [
    ['2026-11-21T08:00Z', '2026-11-21T08:00:00.000Z'],
    ['2026-11-21T08:00:05Z', '2026-11-21T08:00:05.000Z'],
    ['2026-11-21T00:30:00.5+01:00', '2026-11-20T23:30:00.500Z'],
    ['2026-11-21T08:00:00.123456-02:30', '2026-11-21T10:30:00.123Z'],
    ['2026-11-21T08:00:00.123456789Z', '2026-11-21T08:00:00.123Z'],
  ] as const) {
    assert.is(parsePeriodStart(text), instant);
    assert.is(parsePeriodEnd(text), instant);
  }
});

test('any other text is parsed as null', () => {
  for (const text of [
    '',
    'today',
    '2026',
    '2026-02-30',
    '2026-02-30T08:00:00Z',
    '2026-13-01',
    '2026-11-21T08:00:00',
    '2026-11-21 08:00:00Z',
    '2026-11-21T08:61:00Z',
    '2026-11-21T08:00:00.Z',
    '2026-11-21T08:00:00.1234567890Z',
    '2026-11-21T08:00:00+99:00',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+002026-11-21T08:00:00.000Z',
  ]) {
    assert.is(parsePeriodStart(text), null, text);
    assert.is(parsePeriodEnd(text), null, text);
  }
});

test('parsed instants sort as text in the order of time', () => {
  const instant = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      const [x, y] = [parsePeriodStart(a.toISOString()), parsePeriodStart(b.toISOString())];
      assert.is((x ?? '') < (y ?? ''), a < b);
    }),
  );
});

test.run();
