/** spec 5.2 and RFC 9110, section 12.5.1: `Accept`. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import {
  JSON_OFFERS,
  JSON_TYPE,
  negotiate,
  parseAccept,
  VENDOR_TYPE,
} from '../../../../src/http/rules/negotiation.ts';

const VENDOR = 'application/vnd.catalog+json';

function contentTypeFor(accept: string | undefined): string | 406 {
  try {
    return negotiate(accept, JSON_OFFERS);
  } catch (error) {
    assert.ok(error instanceof CatalogError, `${accept}: ${String(error)}`);
    assert.is(error.code, 'not_acceptable');
    assert.is(error.status, 406);
    return 406;
  }
}

type Case = readonly [accept: string | undefined, answer: string | 406];

const TABLES: Readonly<Record<string, readonly Case[]>> = {
  'without a preference the type is application/json': [
    [undefined, JSON_TYPE],
    ['', JSON_TYPE],
    ['  ', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/*', JSON_TYPE],
    ['application/json', JSON_TYPE],
    ['*/*;q=0.001', JSON_TYPE],
    [' application/json ', JSON_TYPE],
  ],
  'if the vendor type is accepted, the response has it': [
    [VENDOR, VENDOR_TYPE],
    [`${VENDOR};version=1.0`, VENDOR_TYPE],
    [`${VENDOR} ; version=1.0`, VENDOR_TYPE],
    [`${VENDOR};version="1.0"`, VENDOR_TYPE],
    [`${VENDOR};Version=1.0`, VENDOR_TYPE],
    [`${VENDOR.toUpperCase()};version=1.0`, VENDOR_TYPE],
    [`${VENDOR};version=1.0;q=0.001`, VENDOR_TYPE],
  ],
  'an unknown version is refused, unless another type is accepted too': [
    [`${VENDOR};version=2.0`, 406],
    [`${VENDOR};version=1`, 406],
    [`${VENDOR};Version=2.0`, 406],
    [`${VENDOR};version=1.00`, 406],
    [`${VENDOR};version=`, 406],
    [`${VENDOR};version=""`, 406],
    [`${VENDOR};version=2.0, */*;q=0.1`, JSON_TYPE],
    [`${VENDOR};version=2.0, ${VENDOR};version=1.0;q=0.1`, VENDOR_TYPE],
  ],
  'other types are refused': [
    ['text/html', 406],
    ['text/*', 406],
    ['application/xml', 406],
    ['application/hal+json', 406],
    ['application/jsonp', 406],
    ['text/json', 406],
    ['application', 406],
    ['application/', 406],
    ['json', 406],
    ['text/plain;x="application/json"', 406],
    ['text/plain;x=", application/json"', 406],
    ['text/plain;x=", application/json ,"', 406],
    ['text/plain;x="\\", application/json"', 406],
  ],
  'a quoted value ends at the first quote without a backslash': [
    ['text/plain;x="\\"", application/json', JSON_TYPE],
    ['text/plain;x="\\\\", application/json', JSON_TYPE],
    // Without quotes a backslash has no special meaning.
    ['text/x\\, application/json', JSON_TYPE],
  ],
  'the type with the highest weight is chosen': [
    [`application/json;q=0.5, ${VENDOR};q=0.6`, VENDOR_TYPE],
    [`application/json;q=0.6, ${VENDOR};q=0.5`, JSON_TYPE],
    [`${VENDOR}, application/json;q=0.999`, VENDOR_TYPE],
    ['text/html;q=1, application/json;q=0.001', JSON_TYPE],
    [`application/json; q=0.5 , ${VENDOR} ; Q=0.6`, VENDOR_TYPE],
  ],
  'of two types with the same weight, the one that a more specific range accepts is chosen': [
    [`${VENDOR}, */*`, VENDOR_TYPE],
    [`*/*, ${VENDOR}`, VENDOR_TYPE],
    [`${VENDOR};q=0.5, application/*;q=0.5`, VENDOR_TYPE],
    [`application/json, ${VENDOR};version=1.0`, VENDOR_TYPE],
    [`${VENDOR}, application/json`, JSON_TYPE],
  ],
  'a weight of 0 excludes a type': [
    ['application/json;q=0', 406],
    ['application/json;q=0.000', 406],
    ['*/*;q=0', 406],
    ['application/json;Q=0', 406],
    ['application/*;q=0', 406],
    ['application/json;q=0, */*', VENDOR_TYPE],
    [`${VENDOR};q=0, */*`, JSON_TYPE],
    [`application/json;q=0, ${VENDOR};q=0, */*`, 406],
  ],
  'the most specific range determines the weight of a type': [
    ['*/*;q=0, application/json', JSON_TYPE],
    ['application/*;q=0, application/json;q=0.1', JSON_TYPE],
    ['*/*, application/*;q=0', 406],
    [`application/json;q=0.1, */*;q=0.9`, VENDOR_TYPE],
    [`${VENDOR};q=0.1, application/*;q=0.9`, JSON_TYPE],
    [`${VENDOR};version=1.0;q=0, ${VENDOR}, application/json;q=0.1`, JSON_TYPE],
  ],
  'a range with a malformed weight matches nothing, and a malformed range is ignored': [
    ['application/json;q=2', 406],
    ['application/json;q=-1', 406],
    ['application/json;q=x', 406],
    ['application/json;q=', 406],
    ['application/json;q=1.5', 406],
    ['application/json;q=.', 406],
    ['application/json;q=1e-1', 406],
    ['application/json;q=10', 406],
    ['application/json;q=01', 406],
    ['application/json;q=00.5', 406],
    ['nonsense, application/json', JSON_TYPE],
    [',,application/json,', JSON_TYPE],
  ],
  'a weight may lack its first digit or have more than three decimals': [
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', JSON_TYPE],
    ['application/json;q=0.1234', JSON_TYPE],
    ['application/json;q=1.', JSON_TYPE],
    [`application/json;q=.50001, ${VENDOR};q=.5`, JSON_TYPE],
    [`application/json;q=.5, ${VENDOR};q=.50001`, VENDOR_TYPE],
    ['application/json;q=.0', 406],
  ],
  'other parameters are ignored': [
    ['application/json; charset=utf-8', JSON_TYPE],
    ['application/json; profile="a,b;q=0"', JSON_TYPE],
    [`${VENDOR}; charset=utf-8; version=1.0`, VENDOR_TYPE],
    ['application/json; qs', JSON_TYPE],
    [`${VENDOR}; versions`, VENDOR_TYPE],
  ],
  'white space beside the equals sign of a parameter is ignored, although no client may send it': [
    [`application/json; q = 0.5, ${VENDOR}`, VENDOR_TYPE],
    [`application/json; q = 0`, 406],
    [`${VENDOR}; version = 1.0`, VENDOR_TYPE],
    [`${VENDOR}; version = 2.0`, 406],
  ],
};
for (const [rule, cases] of Object.entries(TABLES)) {
  test(rule, () => {
    for (const [accept, wanted] of cases) assert.is(contentTypeFor(accept), wanted, String(accept));
  });
}

test('the order of the ranges makes no difference', () => {
  const range = fc
    .tuple(
      fc.constantFrom('*/*', 'application/*', 'application/json', VENDOR, 'text/html'),
      fc.constantFrom('', ';version=1.0', ';version=2.0'),
      fc.constantFrom('', ';q=0', ';q=0.3', ';q=0.7', ';q=1'),
    )
    .map(([type, version, quality]) => ({ type, version, text: `${type}${version}${quality}` }));
  // A range that occurs twice with different weights is ambiguous, so each occurs once.
  const ranges = fc.uniqueArray(range, {
    minLength: 1,
    selector: ({ type, version }) => `${type}${version}`,
  });
  fc.assert(
    fc.property(ranges, (list) => {
      const texts = list.map(({ text }) => text);
      assert.is(contentTypeFor(texts.toReversed().join(',')), contentTypeFor(texts.join(', ')));
    }),
    { numRuns: 500 },
  );
});

test('any text of Accept results in one of the two types or 406', () => {
  const pieces = fc.constantFrom(
    ...Array.from('*/;,="\\ q01.'),
    'application/json',
    VENDOR,
    'version',
    '\t',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(pieces, { maxLength: 20 }).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(text, (accept) => {
      assert.ok([JSON_TYPE, VENDOR_TYPE, 406].includes(contentTypeFor(accept)));
    }),
    { numRuns: 2000 },
  );
});

test('ranges are parsed into type, version and weight', () => {
  assert.equal(parseAccept('Text/HTML;q=0.25, a/b;version="1.0";x=y'), [
    { type: 'text/html', version: undefined, quality: 0.25 },
    { type: 'a/b', version: '1.0', quality: 1 },
  ]);
});

test.run();
