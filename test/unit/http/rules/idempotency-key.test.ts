/** The `Idempotency-Key` header: a string as in RFC 8941, or the same without quotes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { idempotencyKey } from '../../../../src/http/rules/idempotency-key.ts';
import { codeOf } from '../../../support/failure.ts';
import { requestWith } from '../../../support/request.ts';

const keyOf = (sent: string | string[]) =>
  idempotencyKey(requestWith({ headers: { 'idempotency-key': sent } }));

const MALFORMED: Readonly<Record<string, string | string[]>> = {
  'is empty': '',
  'is white space': '  ',
  'has 256 characters': 'x'.repeat(256),
  'has 256 characters in quotes': `"${'x'.repeat(256)}"`,
  'is a pair of quotes': '""',
  'lacks the closing quote': '"abc',
  'lacks the opening quote': 'abc"',
  'is one quote': '"',
  'has a quote within': 'a"c',
  'has a bare quote within quotes': '"a"c"',
  'has a space without quotes': 'a b',
  'has a backslash without quotes': 'a\\b',
  'has a backslash before the closing quote': '"abc\\"',
  'has an unknown escape': '"a\\bc"',
  'has parameters': '"abc";q=1',
  'is a list': '"abc", "def"',
  'is a list without quotes': 'abc,d ef',
  'is sent twice': ['"a"', '"a"'],
  'has a tab': '"a\tc"',
  'has a control character': 'a\u0001c',
  'has a DEL': 'a\u007fc',
  'has a character beyond ASCII': 'caf\u00e9',
  'has a character beyond ASCII in quotes': '"caf\u00e9"',
};

for (const [what, sent] of Object.entries(MALFORMED)) {
  test(`a key that ${what} is a malformed request`, async () => {
    assert.is(await codeOf(() => keyOf(sent)), 'malformed_request');
  });
}

test('without the header there is no key', () => {
  assert.is(idempotencyKey(requestWith({})), null);
});

test('a key of up to 255 characters is accepted with and without quotes', () => {
  for (const key of ['a', 'A.b-c', 'd'.repeat(255)]) {
    assert.is(keyOf(key), key);
    assert.is(keyOf(`"${key}"`), key);
    assert.is(keyOf(`  ${key} `), key);
  }
  assert.is(keyOf('"a \\" \\\\"'), 'a " \\');
  assert.is(keyOf(`"${'\\"'.repeat(255)}"`), '"'.repeat(255));
});

test.run();
