/** The check that compares every response in the tests with the description finds what is wrong. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { VENDOR_TYPE } from '../../src/http/rules/negotiation.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { operationTable } from '../../src/http/table.ts';
import { type Reachable, send } from '../support/client.ts';
import { type CheckedResponse, Contract } from '../support/contract.ts';
import { openService } from '../support/service.ts';

const SETTINGS = { basePath: '/api', version: '0.0.0', protectBooks: false, maxImport: 1 };

const contract = new Contract(JSON.stringify(openApiDocument(operationTable(SETTINGS), SETTINGS)));

const BOOK = {
  id: 1,
  name: 'Emma',
  pub_date: '1815-12-23',
  commentcount: 0,
  readcount: 0,
  image: '',
};

const ALWAYS = {
  link: '</api/openapi.json>; rel="service-desc"',
  vary: 'Accept',
  'cache-control': 'no-cache',
  'catalog-sequence': '7',
  'x-content-type-options': 'nosniff',
};

type Fields = Readonly<Record<string, string>>;

/** A response with a JSON body; null for none. */
function answer(status: number, json: unknown, headers: Fields = {}): CheckedResponse {
  const type: Fields = json === null ? {} : { 'content-type': 'application/json' };
  return {
    status,
    headers: new Headers({ ...ALWAYS, ...type, ...headers }),
    text: json === null ? '' : JSON.stringify(json),
    json: json ?? undefined,
  };
}

const etag = '"1"';
const read = (json: unknown, headers: Fields = { etag }) => answer(200, json, headers);

/** Responses that match the description. */
const RIGHT: readonly (readonly [method: string, target: string, answer: CheckedResponse])[] = [
  ['GET', '/api/books/1/', read(BOOK)],
  ['GET', '/api/1.0/books/1/?any=thing', read(BOOK)],
  ['GET', '/api/books/1/', read(BOOK, { etag, 'content-type': VENDOR_TYPE })],
  ['HEAD', '/api/books/1/', answer(200, null, { etag })],
  ['GET', '/api/books/', answer(200, [BOOK, BOOK], { 'x-total-count': '2' })],
  ['GET', '/api/books/1/', answer(304, null, { etag })],
  ['GET', '/api/books/1/', answer(404, {})],
  ['DELETE', '/api/books/1/', answer(204, null)],
  ['POST', '/api/books/1/', answer(405, { error: 'no' }, { allow: 'GET' })],
  ['GET', '/api/nowhere/', answer(404, { error: 'there is no such path' })],
  ['HEAD', '/books/1/', answer(404, null)],
  [
    'GET',
    '/api/docs/',
    read('<html>', {
      etag,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
    }),
  ],
];

/** Responses that do not match the description, and the fault that has to be reported. */
const WRONG: readonly (readonly [string, string, CheckedResponse, says: RegExp])[] = [
  ['GET', '/api/books/1/', answer(202, BOOK), /^GET of \/books\/\{pk\}\/ has no 202$/],
  ['GET', '/api/books/1/', answer(403, { error: 'no' }), /has no 403/],
  ['GET', '/api/books/1/', answer(409, { error: 'no' }), /has no 409/],
  ['GET', '/api/books/1/', read({ ...BOOK, extra: 1 }), /the body must NOT have additional/],
  ['GET', '/api/books/1/', read({ id: 1 }), /the body must have required property 'name'/],
  ['GET', '/api/books/1/', read({ ...BOOK, id: '1' }), /the body\/id must be integer/],
  ['GET', '/api/books/1/', read({ ...BOOK, pub_date: '1815-02-30' }), /pub_date must match format/],
  ['GET', '/api/books/1/', read([BOOK]), /the body must be object/],
  ['GET', '/api/books/1/', read(undefined), /the body must be object/],
  ['GET', '/api/books/1/', read(BOOK, {}), /the header etag is missing/],
  ['GET', '/api/books/1/', read(BOOK, { etag: 'W/"1"' }), /the header etag must match pattern/],
  ['GET', '/api/books/1/', read(BOOK, { etag, 'x-new': '1' }), /x-new is not described/],
  ['GET', '/api/books/1/', read(BOOK, { etag, 'content-type': 'text/json' }), /type text\/json is/],
  ['GET', '/api/books/1/', answer(404, { error: 'no' }), /the body must NOT have more than 0/],
  [
    'GET',
    '/api/books/1/',
    answer(404, {}, { 'cache-control': 'private' }),
    /cache-control must be/,
  ],
  ['HEAD', '/api/books/1/', read(BOOK), /there is a body/],
  [
    'GET',
    '/api/books/',
    answer(200, [BOOK, {}], { 'x-total-count': '2' }),
    /the body\/1 must have/,
  ],
  ['GET', '/api/books/', answer(200, [], { 'x-total-count': 'many' }), /x-total-count must be/],
  ['POST', '/api/books/', answer(201, BOOK, { etag }), /the header location is missing/],
  [
    'POST',
    '/api/books/',
    answer(422, { error: 'no', fields: { a: 'b' } }),
    /fields\/a must be array/,
  ],
  ['POST', '/api/books/', answer(500, { error: 'no' }), /must have required property 'request_id'/],
  ['DELETE', '/api/books/1/', answer(204, BOOK), /there is a body/],
  ['POST', '/api/books/1/', answer(201, BOOK), /has no POST, but it answered with 201/],
  ['POST', '/api/books/1/', answer(405, { error: 'no' }), /the header allow is missing/],
  ['GET', '/api/nowhere/', answer(200, {}), /the path is not described, and answered with 200/],
  ['GET', '/api/books/one/', answer(200, BOOK), /the path is not described/],
  ['GET', '/books/1/', read(BOOK), /the path is not described/],
  ['GET', '/api/nowhere/', answer(404, {}), /the body must have required property 'error'/],
];

test('responses that match the description have no faults', () => {
  for (const [method, target, given] of RIGHT) {
    assert.equal(contract.faults(method, target, given), [], `${method} ${target}`);
  }
});

test('for each response that does not match the description, its fault is reported', () => {
  for (const [method, target, given, says] of WRONG) {
    const faults = contract.faults(method, target, given);
    assert.match(faults[0] ?? 'nothing', says, `${method} ${target} ${given.status} ${given.text}`);
  }
});

test('send fails if the response does not match the description, unless a reason is given', async () => {
  const server = await openService();
  // The responses of this server have a header that is not in its description.
  const other: Reachable = {
    url: 'http://other',
    fetch: async (url, init) => {
      const response = await server.fetch(url.replace('http://other', server.url), init);
      response.headers.set('x-new', '1');
      return response;
    },
  };
  try {
    await send(other, 'GET', '/books/');
    assert.unreachable();
  } catch (error) {
    assert.instance(error, assert.Assertion);
    assert.match((error as Error).message, 'GET /books/ is not as /openapi.json says');
  }
  const undescribed = 'the header is what this test is about';
  assert.is((await send(other, 'GET', '/books/', { undescribed })).status, 200);
  await server.stop();
});

test.run();
