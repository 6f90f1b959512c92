/** Documents of object stores, also of such that are none. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isCompleted,
  parseError,
  parseList,
  parseUpload,
  printable,
} from '../../../../src/archive/storage/s3-xml.ts';

const list = (content: string) =>
  `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</ListBucketResult>`;

const contents = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`;

test('a list has the keys, whether more follow, and how to request them', () => {
  const content = `<KeyCount>2</KeyCount>${contents('a')}${contents('b/c')}`;
  assert.equal(parseList(list(content)), { keys: ['a', 'b/c'], isTruncated: false, token: null });
  const more =
    '<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>';
  assert.equal(parseList(list(more)), { keys: [], isTruncated: true, token: 'a&b' });
});

test('references in keys are replaced once; those that are none stay', () => {
  const text = '&lt;&gt;&quot;&apos;&#233;&#x20AC;&#x1F600;&amp;lt;&nbsp;&#x110000;&';
  assert.equal(parseList(list(contents(text))).keys, ['<>"\'é€😀&lt;&nbsp;&#x110000;&']);
});

test('what is no list, or not a whole one, is refused', () => {
  const none = [
    '',
    '{}',
    '<html><body>Sign in</body></html>',
    '<ListBucketResults>a</ListBucketResults>',
  ];
  for (const text of none) {
    assert.throws(() => parseList(text), /^the response is not a list of objects$/, text);
  }
  const whole = list(contents('a') + contents('b'));
  for (let end = whole.indexOf('<ListBucketResult') + 18; end < whole.length; end += 1) {
    assert.throws(() => parseList(whole.slice(0, end)), /cut off/, `${end}`);
  }
  assert.throws(() => parseList(list('<Contents><Key>a</Contents>')), /cut off/);
});

test('a document of many elements that do not end is refused, after one look at each character', () => {
  assert.throws(() => parseList(list('<Key>'.repeat(1_000_000))), /cut off/);
  assert.is(parseError('<Error<Error'.repeat(500_000)), null);
});

test('an error has a code, and texts of a bounded length on one line', () => {
  const text = '<Error><Code>SlowDown</Code><Message>Reduce\n\u0007 your rate</Message></Error>';
  assert.equal(parseError(text), { code: 'SlowDown', message: 'Reduce your rate', region: '' });
  assert.is(parseError('<html>502 Bad Gateway</html>'), null);
  assert.is(parseError('<Error><Message>no code</Message></Error>'), null);
  const long = `<Error><Code>A</Code><Message>${'x'.repeat(100_000)}</Message></Error>`;
  assert.is(parseError(long)?.message.length, 300);
  assert.is(printable(`a${'\u{1F600}'.repeat(400)}`).isWellFormed(), true);
});

test('the answers to uploads in parts are understood', () => {
  const upload =
    '<InitiateMultipartUploadResult><UploadId>a&amp;b</UploadId></InitiateMultipartUploadResult>';
  assert.is(parseUpload(upload), 'a&b');
  assert.throws(() => parseUpload('<html></html>'), /does not begin an upload/);
  assert.ok(
    isCompleted(
      '\n <CompleteMultipartUploadResult><ETag>"a"</ETag></CompleteMultipartUploadResult>',
    ),
  );
  assert.not.ok(isCompleted('<Error><Code>InternalError</Code></Error>'));
});

test.run();
