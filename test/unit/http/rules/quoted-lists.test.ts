/** RFC 9110, sections 5.6.1 and 5.6.4: lists with quoted strings. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { splitOutsideQuotes } from '../../../../src/http/rules/quoted-lists.ts';

test('a separator in a quoted string does not split', () => {
  assert.equal(splitOutsideQuotes('a="1,2", b', ','), ['a="1,2"', ' b']);
});

test('a text may begin with a separator or a quoted string, and end with one', () => {
  assert.equal(splitOutsideQuotes('', ','), ['']);
  assert.equal(splitOutsideQuotes(',a,', ','), ['', 'a', '']);
  assert.equal(splitOutsideQuotes('"1,2","3,"', ','), ['"1,2"', '"3,"']);
});

test('an escaped quotation mark does not end a quoted string', () => {
  assert.equal(splitOutsideQuotes('a="1\\",2", b', ','), ['a="1\\",2"', ' b']);
  assert.equal(
    splitOutsideQuotes('"\\\\",2', ','),
    ['"\\\\"', '2'],
    'an escaped backslash does not',
  );
});

test('a backslash outside a quoted string has no meaning', () => {
  assert.equal(splitOutsideQuotes('a\\,b', ','), ['a\\', 'b']);
});

test('the parts joined by the separator are the text, whatever it is', () => {
  const unit = fc.constantFrom('"', '\\', ',', 'a', ' ');
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join('');
      assert.is(splitOutsideQuotes(text, ',').join(','), text);
    }),
  );
});

test.run();
