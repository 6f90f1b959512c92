/** spec 13.2: which content coding a client accepts (RFC 9110, section 12.5.3). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseCoding } from '../../../../src/http/rules/content-coding.ts';

const BOTH = ['br', 'gzip'] as const;

test('the best coding that the client accepts is chosen', () => {
  for (const [header, expected] of [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.000, gzip;q=0.5', 'gzip'],
    ['br;q=0.001', 'br'],
    ['br;q=2, gzip;q=x', null],
    ['br;q=.5, gzip;q=0', 'br'],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=1.0, *;q=0', 'gzip'],
    [',,gzip,,', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.8, gzip;q=0.5', 'br'],
    ['*;q=0.1, gzip;q=0.2', 'gzip'],
    ['gzip;q=0.5, *;q=0.5', 'br'],
  ] as const) {
    assert.is(chooseCoding(header, BOTH), expected, String(header));
  }
});

test('a coding that the document does not have is not chosen', () => {
  assert.is(chooseCoding('br, gzip', ['gzip']), 'gzip');
  assert.is(chooseCoding('br, gzip;q=0.5', ['gzip']), 'gzip');
  assert.is(chooseCoding('br', ['gzip']), null);
  assert.is(chooseCoding('*', []), null);
});

test.run();
