/** Operations of a test in the table: bodies and responses as streams, the order of checks. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as v from 'valibot';
import { CatalogError } from '../../../../src/errors.ts';
import type { BodyStream, HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { json, noBody, stream } from '../../../../src/http/operations/body.ts';
import { plainJson, type Shape, textContent } from '../../../../src/http/operations/content.ts';
import { operation, type RequestContext } from '../../../../src/http/operations/operation.ts';
import { idInPath } from '../../../../src/http/operations/parameters.ts';
import { definePath, type Path } from '../../../../src/http/operations/path.ts';
import { type ApplicationOptions, createApplication } from '../../../../src/http/application.ts';
import { JSON_OFFERS } from '../../../../src/http/rules/negotiation.ts';
import { requestWith } from '../../../support/request.ts';

const TAG = { name: 'planted', description: 'Of this test.' };

const LIMIT = 1024;

/** The steps that were carried out, in order. */
let done: string[] = [];

const note = v.object({ text: v.string('must be a string') }, 'is required');

const example = { summary: 'A note', value: { text: 'Hello' } };

const described = { summary: 'Does it', description: 'Does it.', role: null } as const;

const shape: Shape = { name: 'Planted', schema: () => ({ type: 'object' }) };

const answers = {
  200: {
    name: 'Planted',
    description: 'Done.',
    content: plainJson(shape, { Planted: () => example }),
  },
};

/** `/notes/{pk}/`: only note 1 exists. Each step is recorded in `done`. */
const NOTE = definePath<number>({
  template: '/notes/{pk}/',
  parameters: [idInPath('pk', 'The id of a note.')],
  tag: TAG,
  name: 'Note',
  about: 'a note',
  offers: JSON_OFFERS,
  resolve(params) {
    done.push('resolve');
    const id = params.id('pk');
    if (id !== 1) throw new CatalogError('not_found', `there is no note ${id}`);
    return id;
  },
  validators() {
    done.push('validators');
    return { etag: '"tag"' };
  },
  operations: {
    GET: operation({
      ...described,
      id: 'readNote',
      body: noBody,
      responses: answers,
      run: ({ mediaType }: RequestContext<number>) => {
        done.push('run');
        return { status: 200, headers: { 'Content-Type': mediaType }, body: '{"error":""}' };
      },
    }),
    PUT: operation({
      ...described,
      id: 'replaceNote',
      role: 'editor',
      permit(caller, params) {
        done.push('permit');
        if (caller.subject !== 'ann') {
          throw new CatalogError('forbidden', `note ${params.text('pk')} is not yours`);
        }
      },
      body: json('Note', note, example),
      responses: answers,
      run: ({ found }: RequestContext<number>, { text }: v.InferOutput<typeof note>) => {
        done.push('run');
        return { status: 200, headers: {}, body: JSON.stringify({ error: `${found} ${text}` }) };
      },
    }),
  },
});

/** `/lines/`: reads a body in pieces, and sends each piece back in capitals at once. */
const LINES = definePath({
  template: '/lines/',
  tag: TAG,
  name: 'Lines',
  about: 'lines',
  resolve: () => undefined,
  operations: {
    POST: operation({
      ...described,
      id: 'createLines',
      body: stream(['text/plain', 'text/csv'], LIMIT),
      responses: {
        200: {
          name: 'Lines',
          description: 'In capitals.',
          content: textContent('text/plain', { Lines: () => ({ summary: 'A', value: 'A' }) }),
        },
      },
      run: (_: RequestContext<undefined>, body: AsyncIterable<Uint8Array>): HttpResponse => ({
        status: 200,
        headers: { 'Content-Type': 'text/plain' },
        body: capitals(body),
      }),
    }),
  },
});

async function* capitals(body: AsyncIterable<Uint8Array>): BodyStream {
  for await (const piece of body) yield Buffer.from(piece).toString().toUpperCase();
}

const TABLE: readonly Path[] = [NOTE, LINES];

const options = {
  basePath: '/api',
  version: 'test',
  protectBooks: false,
  corsOrigins: [],
  jsonLimits: { depth: 8, elements: 8 },
  changes: { sequence: 7 },
  tokens: {
    verify(authorization: string | undefined) {
      done.push('verify');
      const [, subject, role] = /^Bearer (\w+) (\w+)$/.exec(authorization ?? '') ?? [];
      if (subject === undefined) throw new CatalogError('unauthorized', 'send a token');
      return { subject, role, id: 'one', issued: 0, expires: 1 };
    },
  },
  onFault(_: string, error: unknown) {
    throw error;
  },
} as unknown as ApplicationOptions;

const application = createApplication(options, TABLE);

function ask(method: string, path: string, parts: Partial<HttpRequest> = {}) {
  done = [];
  return application(requestWith({ method, path: `/api${path}`, ...parts }));
}

/** The JSON of a response whose body is a string. */
function jsonOf({ body }: HttpResponse) {
  if (typeof body !== 'string') throw new Error('the answer is no text');
  return JSON.parse(body);
}

/** A body that counts the pieces that were read. */
function bodyOf(text: string): { body: HttpRequest['body']; read: () => number } {
  let read = 0;
  const bytes = () => {
    done.push('body');
    return Promise.resolve(Buffer.from(text));
  };
  async function* pieces(limit: number) {
    assert.is(limit, LIMIT, 'the limit that the operation declares');
    for (const letter of text) {
      read += 1;
      yield Buffer.from(letter);
    }
  }
  return { body: { bytes, stream: pieces }, read: () => read };
}

test('an operation with a stream reads the body only as its response is read', async () => {
  const { body, read } = bodyOf('abc');
  const headers = { 'content-type': 'Text/Plain; charset=utf-8' };
  const answer = await ask('POST', '/lines/', { body, headers });
  assert.is(answer.status, 200);
  assert.is(read(), 0, 'nothing is read before somebody takes the answer');
  const pieces: unknown[] = [];
  for await (const piece of answer.body as BodyStream) {
    pieces.push(piece);
    assert.is(read(), pieces.length);
  }
  assert.equal(pieces, ['A', 'B', 'C']);
});

test('a stream of another type or a compressed stream is 415, and nothing of it is read', async () => {
  for (const headers of [
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'text/plainer' },
    { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
  ]) {
    const { body, read } = bodyOf('abc');
    const answer = await ask('POST', '/lines/', { body, headers });
    assert.is(answer.status, 415, JSON.stringify(headers));
    assert.is(read(), 0);
  }
});

const TOKEN = { authorization: 'Bearer ann editor' };
const STALE = { 'if-match': '"other"' };
const HTML = { accept: 'text/html' };

/** Requests that fail every check from some check on: the status, and the steps before it. */
const ORDER: readonly (readonly [
  method: string,
  path: string,
  parts: Partial<HttpRequest>,
  status: number,
  steps: string,
])[] = [
  ['PUT', '/notes/2', {}, 404, ''],
  ['DELETE', '/notes/2/', {}, 405, ''],
  ['PUT', '/notes/2/', { headers: STALE }, 401, 'verify'],
  [
    'PUT',
    '/notes/2/',
    { headers: { ...STALE, authorization: 'Bearer ann viewer' } },
    403,
    'verify',
  ],
  [
    'PUT',
    '/notes/2/',
    { headers: { ...STALE, authorization: 'Bearer bob editor' } },
    403,
    'verify permit',
  ],
  ['PUT', '/notes/2/', { headers: { ...STALE, ...TOKEN } }, 404, 'verify permit resolve'],
  ['GET', '/notes/2/', { headers: { ...STALE, ...HTML } }, 404, 'resolve'],
  ['GET', '/notes/1/', { headers: { ...STALE, ...HTML } }, 406, 'resolve'],
  ['GET', '/notes/1/', { headers: STALE }, 412, 'resolve validators'],
  [
    'PUT',
    '/notes/1/',
    { headers: { ...STALE, ...TOKEN } },
    412,
    'verify permit resolve validators',
  ],
  ['GET', '/notes/1/', { headers: { 'if-none-match': '"tag"' } }, 304, 'resolve validators'],
  [
    'PUT',
    '/notes/1/',
    { headers: TOKEN, body: bodyOf('{').body },
    400,
    'verify permit resolve body',
  ],
  [
    'PUT',
    '/notes/1/',
    { headers: TOKEN, body: bodyOf('{}').body },
    422,
    'verify permit resolve body',
  ],
  [
    'PUT',
    '/notes/1/',
    { headers: { ...TOKEN, ...HTML }, body: bodyOf('{"text":"a"}').body },
    200,
    'verify permit resolve body verify run',
  ],
  ['GET', '/notes/1/', {}, 200, 'resolve run'],
  ['HEAD', '/notes/1/', {}, 200, 'resolve run'],
  ['OPTIONS', '/notes/2/', { headers: STALE }, 200, ''],
];

test('spec 3.11: the checks run in order, and the first that fails decides the status', async () => {
  for (const [method, path, parts, status, steps] of ORDER) {
    const answer = await ask(method, path, parts);
    assert.is(answer.status, status, `${method} ${path} ${JSON.stringify(parts)}`);
    assert.is(done.join(' '), steps, `${method} ${path} ${status}`);
  }
});

test('a JSON body is validated by the schema of the operation, and unknown members are ignored', async () => {
  const put = (text: string) =>
    ask('PUT', '/notes/1/', { headers: TOKEN, body: bodyOf(text).body });
  assert.equal((await put('{"text":"Hello","more":1}')).body, '{"error":"1 Hello"}');
  assert.equal(jsonOf(await put('{}')).fields, { text: ['is required'] });
  assert.equal(jsonOf(await put('{"text":1}')).fields, {
    text: ['must be a string'],
  });
  for (const text of ['[]', 'null', '"x"']) {
    const { error } = jsonOf(await put(text));
    assert.is(error, 'the body must be a JSON object');
  }
});

test('OPTIONS returns the methods and attributes that the operations declare', async () => {
  const answer = await ask('OPTIONS', '/notes/1/');
  assert.is(answer.headers['Allow'], 'GET, HEAD, PUT, OPTIONS');
  assert.equal(jsonOf(answer).attributes, {
    text: { type: 'string', required: true },
  });
  assert.is((await ask('OPTIONS', '/lines/')).headers['Allow'], 'POST, OPTIONS');
});

test.run();
