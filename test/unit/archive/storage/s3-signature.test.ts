/** The signatures in the examples of Amazon's documentation of Signature Version 4. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  encodedPath,
  encodedQuery,
  signatureHeaders,
} from '../../../../src/archive/storage/s3-signature.ts';

const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const TIME = new Date('2013-05-24T00:00:00.000Z');
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const EXAMPLES: readonly (readonly [Record<string, string>, string])[] = [
  [{ lifecycle: '' }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  [
    { prefix: 'J', 'max-keys': '2' },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
];

test('the signatures are those of the examples', () => {
  const host = 'examplebucket.s3.amazonaws.com';
  for (const [parameters, signature] of EXAMPLES) {
    const request = { method: 'GET', host, path: '/', query: encodedQuery(parameters) };
    const headers = signatureHeaders(request, KEYS, 'us-east-1', TIME, EMPTY);
    assert.equal(headers, {
      'x-amz-content-sha256': EMPTY,
      'x-amz-date': '20130524T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    });
  }
});

test('the session token of temporary credentials is sent and signed', () => {
  const request = { method: 'GET', host: 'bucket', path: '/', query: '' };
  const keys = { ...KEYS, sessionToken: 'token' };
  const headers = signatureHeaders(request, keys, 'us-east-1', TIME);
  assert.is(headers['x-amz-security-token'], 'token');
  assert.match(headers['authorization'] ?? '', 'x-amz-date;x-amz-security-token, ');
  const without = signatureHeaders(request, KEYS, 'us-east-1', TIME);
  assert.not.match(without['authorization'] ?? '', 'token');
});

test('paths and parameters have the encoding that is signed', () => {
  assert.is(encodedPath("/a b/(1)+ü!*'~.-_"), '/a%20b/%281%29%2B%C3%BC%21%2A%27~.-_');
  assert.is(encodedQuery({ b: 'x/y', a: '&=', 'b-c': '' }), 'a=%26%3D&b-c=&b=x%2Fy');
});

test.run();
