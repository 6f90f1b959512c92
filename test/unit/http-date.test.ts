/** RFC 9110, section 5.6.7: dates in headers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseHttpDate } from '../../src/http-date.ts';

const NOW = Date.UTC(2026, 10, 27);

function parsed(text: string, now = NOW): string | null {
  const time = parseHttpDate(text, now);
  return time === null ? null : new Date(time).toISOString();
}

test('a date is read in the preferred format and in both obsolete ones, as UTC', () => {
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]) {
    assert.is(parsed(text), '1994-11-06T08:49:37.000Z', text);
  }
  assert.is(parsed('Wed Nov 16 08:49:37 1994'), '1994-11-16T08:49:37.000Z');
});

test('a year of two digits is at most 50 years in the future', () => {
  for (const [year, full] of [
    ['00', 2000],
    ['26', 2026],
    ['75', 2075],
    ['77', 1977],
    ['99', 1999],
  ] as const) {
    assert.is(parsed(`Sunday, 06-Nov-${year} 08:49:37 GMT`), `${full}-11-06T08:49:37.000Z`);
  }
  assert.is(parsed('Sat, 06 Nov 2094 08:49:37 GMT'), '2094-11-06T08:49:37.000Z', 'of four');
  const nextCentury = Date.UTC(2126, 10, 27);
  assert.is(parsed('Sunday, 06-Nov-94 08:49:37 GMT', nextCentury), '2094-11-06T08:49:37.000Z');
});

test('any other text is not a date', () => {
  for (const text of [
    '',
    'yesterday',
    '2026-11-27T00:00:00Z',
    '784111777',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nev 1994 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ]) {
    assert.is(parsed(text), null, text);
  }
});

test.run();
