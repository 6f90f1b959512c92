/** What is markup in a description, and what is text. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { markupOf } from '../../src/markup.ts';
import { richText, summaryOfHtml } from '../../src/pages/render/rich-text.ts';

/** Texts and what becomes of them; null if they stay as they are. */
const CASES: readonly (readonly [text: string, markup: string | null])[] = [
  ['<b>', null],
  ['</B\n>', null],
  ['<br/><br />', null],
  ['<a href=x title="a > b" rel=\'c\'>', null],
  ['<td nowrap>', null],
  ['<th scope = row>', null],
  ['&lt;&#60;&#x3C;&CounterClockwiseContourIntegral;', null],
  ['<b', '&lt;b'],
  ['< b>', '&lt; b>'],
  ['<bb>', '&lt;bb>'],
  ['<b.>', '&lt;b.>'],
  ['<b and c>', '&lt;b and c>'],
  ['</b c=d>', '&lt;/b c=d>'],
  ['<b c="d>', '&lt;b c="d>'],
  ['<b c="d"e="f">', '&lt;b c="d"e="f">'],
  ["<b it's>", "&lt;b it's>"],
  ['<b c="<d">', '&lt;b c="&lt;d">'],
  ['a<b <i>', 'a&lt;b <i>'],
  ['<img alt="&copy">', '&lt;img alt="&amp;copy">'],
  ['&copy &; &#; &#x; &#xg; &a-b;', '&amp;copy &amp;; &amp;#; &amp;#x; &amp;#xg; &amp;a-b;'],
];

for (const [text, markup] of CASES) {
  test(`${JSON.stringify(text)} is ${markup === null ? 'markup' : `text: ${markup}`}`, () => {
    assert.is(markupOf(text), markup ?? text);
  });
}

/** What a tag or a reference may consist of. */
const unit = fc.constantFrom(
  '<',
  '>',
  '/',
  '&',
  ';',
  '"',
  "'",
  '=',
  ' ',
  '\n',
  'a',
  'b',
  '#',
  'x',
  '1',
);

test('what is markup stays markup', () => {
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      assert.is(markupOf(markupOf(text)), markupOf(text));
    }),
  );
});

/** Pieces of text of which no combination is a tag of a description or a character reference. */
const pieces = fc.oneof(
  fc.constantFrom('<', '>', '</', '&', '<!--', '-->', '<?', '<![CDATA[', '"', "'", '=', '/>', '#'),
  fc.constantFrom('<script', '</script>', '<img src=x onerror=y>', 'x', 'copy', 'title', 'é', '😀'),
  fc.constantFrom('<textarea>', '<plaintext>', '<title>', '<xmp>', '<x-y z="', '1', '. '),
);

test('a description without tags is shown literally, on the page and in its summary', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = `w${parts.join('')}w`;
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      assert.is(richText(text, 'Details'), `<p>${escaped}</p>`);
      assert.is(summaryOfHtml(text, 1000), text);
    }),
    { numRuns: 1000 },
  );
});

test.run();
