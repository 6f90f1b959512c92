/** spec 14.1 to 14.4, 15.1 and 15.2: the change feed, and which change set a response shows. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RESOURCES } from '../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../src/model/kinds.ts';
import { MAX_WAITING_OF_SUBJECT } from '../../src/resources/changes/awaited-sequences.ts';
import { createCatalog, type Fields, make, read, skuFields } from '../support/catalog.ts';
import { type Received, send, type Sent, sent, tokenFor } from '../support/client.ts';
import { importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const CHANGES = '/admin/changes/';
const BRANDS = '/admin/brands/';

interface Change {
  readonly sequence: number;
  readonly time: string;
  readonly subject: string | null;
  readonly resource: string;
  readonly id: number;
  readonly action: string;
  readonly before: Fields | null;
  readonly after: Fields | null;
}

test.after(closeServices);

const sequenceOf = ({ headers }: Received) => Number(headers.get('catalog-sequence'));

const changes = (at: Service, query: string): Promise<Change[]> => read(at, `${CHANGES}?${query}`);

const book = (name: string) => ({ body: { name, pub_date: '2000-01-01' }, token: null });

test('a change has sequence, time, subject, resource, id, action, before and after', async () => {
  const server = await openService();
  const begun = new Date().toISOString();
  const token = await tokenFor('editor', { sub: 'ann' });
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'Ondine' }, token });
  await sent(server, 200, 'PATCH', `${BRANDS}1/`, { body: { name: 'Pallas' }, token });
  await sent(server, 204, 'DELETE', `${BRANDS}1/`, { token });
  const list = await changes(server, 'since=0');
  const ondine = { id: 1, name: 'Ondine', logo: '', first_letter: '' };
  const pallas = { ...ondine, name: 'Pallas' };
  const common = { time: '', subject: 'ann', resource: 'brands', id: 1 };
  assert.equal(
    list.map((each) => ({ ...each, time: '' })),
    [
      { sequence: 1, ...common, action: 'create', before: null, after: ondine },
      { sequence: 2, ...common, action: 'update', before: ondine, after: pallas },
      { sequence: 3, ...common, action: 'delete', before: pallas, after: null },
    ],
  );
  for (const { time } of list) {
    assert.ok(begun <= time && time <= new Date().toISOString(), time);
  }
  const members = ['sequence', 'time', 'subject', 'resource', 'id', 'action', 'before', 'after'];
  assert.equal(Object.keys(list[0] ?? {}), members);
  await server.stop();
});

test('a change of a book has before and after, although the audit trail has no books', async () => {
  const server = await openService();
  await sent(server, 201, 'POST', '/books/', book('Emma'));
  await sent(server, 200, 'PUT', '/books/1/', book('Persuasion'));
  await sent(server, 204, 'DELETE', '/books/1/', { token: null });
  const list = await changes(server, 'since=0');
  assert.equal(
    list.map(({ action, before, after }) => [action, before?.['name'], after?.['name']]),
    [
      ['create', undefined, 'Emma'],
      ['update', 'Emma', 'Persuasion'],
      ['delete', 'Persuasion', undefined],
    ],
  );
  assert.equal(list[1]?.before, list[0]?.after);
  assert.equal(list[2]?.before, list[1]?.after);
  await server.stop();
});

test('only an admin sees the subject of a change; a change of a book has none', async () => {
  const server = await openService();
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'Ondine' } });
  await sent(server, 201, 'POST', '/books/', book('Emma'));
  const subjects = async (role: string) => {
    const answer = await send(server, 'GET', `${CHANGES}?since=0`, { token: await tokenFor(role) });
    return (answer.json as Change[]).map(({ subject }) => subject);
  };
  assert.equal(await subjects('admin'), ['tester', null]);
  assert.equal(await subjects('editor'), [null, null]);
  assert.equal(await subjects('viewer'), [null, null]);
  await sent(server, 401, 'GET', CHANGES, { token: null });
  await server.stop();
});

test('deleting a SKU is one change set, in which its records come before the SKU', async () => {
  const server = await openService({ demo: true });
  const { length: records } = (await read(server, '/admin/skus/2/specs/')) as unknown[];
  assert.ok(records > 0);
  await sent(server, 204, 'DELETE', '/admin/skus/2/');
  const list = await changes(server, 'since=1');
  assert.equal(
    list.map(({ resource, action }) => `${action} ${resource}`),
    [...Array.from({ length: records }, () => 'delete sku_specs'), 'delete skus'],
  );
  assert.is(list[0]?.before?.['sku_id'], 2);
  assert.equal([...new Set(list.map(({ sequence }) => sequence))], [2]);
  await server.stop();
});

test('in a change set written rows come before those that refer to them, and deleted rows last', async () => {
  const server = await openService();
  const { sku, silver, black } = await createCatalog(server);
  const record = await make(server, `/admin/skus/${sku}/specs/`, { ...silver });
  const since = sequenceOf(await send(server, 'GET', CHANGES));
  const body = JSON.stringify({ id: sku, name: 'Black', specs: [black] });
  const { state } = await importInto(server, 'skus', body, { format: 'ndjson' });
  assert.is(state, 'done');
  assert.equal(
    (await changes(server, `since=${since}`)).map(({ sequence, action, resource, id }) => [
      sequence,
      `${action} ${resource} ${id}`,
    ]),
    [
      [since + 1, `update skus ${sku}`],
      [since + 1, `create sku_specs ${record.id + 1}`],
      [since + 1, `delete sku_specs ${record.id}`],
    ],
  );
  await server.stop();
});

test('a row that several requests write occurs once in their change set', async () => {
  const server = await openService();
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'Before' } });
  const names = Array.from({ length: 10 }, (_, index) => `Brand ${index}`);
  let written: readonly Change[];
  let left = 20;
  // Requests that wait for the same commit share its change set.
  do {
    left -= 1;
    const since = sequenceOf(await send(server, 'GET', CHANGES));
    const was: Fields = await read(server, `${BRANDS}1/`);
    await Promise.all(
      names.map((name) => sent(server, 200, 'PATCH', `${BRANDS}1/`, { body: { name } })),
    );
    written = await changes(server, `since=${since}`);
    assert.equal(
      written.map(({ sequence }) => sequence),
      written.map((_, index) => since + 1 + index),
    );
    for (const [index, { before }] of written.entries()) {
      assert.equal(before, index === 0 ? was : written[index - 1]?.after);
    }
    assert.equal(written.at(-1)?.after, await read(server, `${BRANDS}1/`));
  } while (written.length === names.length && left > 0);
  assert.ok(written.length < names.length, `${written.length} change sets`);
  await server.stop();
});

test('limit counts change sets, and a change set is never split', async () => {
  const server = await openService();
  const many = [{ name: 'A' }, { name: 'B' }, { name: 'C' }];
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body: many });
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body: many });
  assert.is((await changes(server, 'since=0&limit=1')).length, 3);
  const answer = await sent(server, 200, 'GET', `${CHANGES}?since=0&limit=1`);
  assert.is(sequenceOf(answer), 2, 'the last one there is, not the last one in the array');
  assert.is((await changes(server, 'since=1&limit=1')).length, 3);
  assert.is((await changes(server, 'since=0')).length, 6);
  assert.equal(await changes(server, 'since=2'), []);
  await server.stop();
});

test('without since the array is empty, and Catalog-Sequence is the last change set', async () => {
  const server = await openService({ demo: true });
  const answer = await sent(server, 200, 'GET', CHANGES);
  assert.equal(answer.json, []);
  assert.is(sequenceOf(answer), 1);
  await server.stop();
});

test('a malformed or unknown parameter or a malformed header is 400, and the error names it', async () => {
  const server = await openService();
  const since = ['since=', 'since=-1', 'since=1.5', 'since=x', 'since=0&since=0'];
  const others = [
    'limit=0',
    'limit=1001',
    'limit=',
    'wait=61s',
    'wait=2m',
    'wait=30',
    'wait=',
    'wait=-1s',
  ];
  for (const query of [...since, ...others, 'sinc=1', 'page=1']) {
    const answer = await sent(server, 400, 'GET', `${CHANGES}?${query}`);
    assert.match(answer.json.error, query.split('=')[0] ?? '');
  }
  const headers = { accept: 'text/event-stream', 'last-event-id': 'x' };
  const answer = await sent(server, 400, 'GET', CHANGES, { headers });
  assert.match(answer.json.error, 'Last-Event-ID');
  await sent(server, 406, 'GET', CHANGES, { headers: { accept: 'text/csv' } });
  assert.equal(server.log, [], 'what a client got wrong is no error of the server');
  await server.stop();
});

test('wait and limit reach from their least to their greatest value; an empty Last-Event-ID is none', async () => {
  const server = await openService({ demo: true });
  for (const query of ['wait=0s', 'wait=000s', 'limit=1', 'limit=0000000001', 'limit=1000']) {
    assert.is((await sent(server, 200, 'GET', `${CHANGES}?since=0&${query}`)).json[0].sequence, 1);
  }
  for (const wait of ['60s', '1m']) {
    await sent(server, 200, 'GET', `${CHANGES}?since=0&wait=${wait}`);
  }
  const stream = await streamOf(server, '?since=0', { 'last-event-id': '' });
  assert.match((await stream.next()) ?? 'the stream has ended', /^id: ?1$/m);
  await server.stop();
});

test('a since after the last change set is 410, and the error names the valid range', async () => {
  const server = await openService();
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  const beyond = await sent(server, 410, 'GET', `${CHANGES}?since=2`);
  const far = await sent(server, 410, 'GET', `${CHANGES}?since=${'9'.repeat(30)}`);
  assert.match(far.json.error, /ask for those after 0 to 1$/);
  assert.not.match(far.json.error, String(Number.MAX_SAFE_INTEGER), 'it was not sent');
  assert.match(beyond.json.error, /after change set 2 .*; ask for those after 0 to 1$/);
  const headers = { accept: 'text/event-stream' };
  await sent(server, 410, 'GET', `${CHANGES}?since=2`, { headers });
  await server.stop();
});

test('a since before the oldest change set that is kept is 410, even if later ones are in memory', async () => {
  const server = await openService({ history: 0, checkpointSize: 1 });
  let oldest = 0;
  for (let name = 1; oldest === 0 && name < 100; name += 1) {
    await sent(server, 201, 'POST', BRANDS, { body: { name: `Brand ${name}` } });
    const { status, json } = await send(server, 'GET', `${CHANGES}?since=0`);
    if (status === 410) oldest = Number(/after (\d+) to \d+$/.exec(json.error)?.[1]);
  }
  const headers = { accept: 'text/event-stream' };
  await sent(server, 410, 'GET', `${CHANGES}?since=${oldest - 1}`);
  await sent(server, 410, 'GET', `${CHANGES}?since=${oldest - 1}`, { headers });
  await sent(server, 200, 'GET', `${CHANGES}?since=${oldest}`);
  await server.stop();
});

test('wait ends with the next change in the feed, not with a write that the feed omits', async () => {
  const server = await openService();
  const waiting = send(server, 'GET', `${CHANGES}?since=0&wait=60s`);
  // Webhooks are not in the feed: the change set wakes the request, which continues to wait.
  const body = { url: 'https://receiver.example/', active: false };
  await sent(server, 201, 'POST', '/admin/webhooks/', { body });
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  const answer = await waiting;
  assert.equal(
    (answer.json as Change[]).map(({ sequence, resource }) => [sequence, resource]),
    [[2, 'brands']],
  );
  assert.is(sequenceOf(answer), 2);
  await server.stop();
});

test('when the server stops, waiting requests are answered at once, and streams end', async () => {
  const server = await openService();
  const waiting = send(server, 'GET', `${CHANGES}?wait=60s`);
  const stream = await streamOf(server, '');
  const ended = stream.next();
  await server.stop();
  assert.equal((await waiting).json, []);
  assert.is(await ended, null);
});

test('webhooks, accounts, tokens, audit entries and idempotency keys are not in the feed', async () => {
  const published = ALL_KINDS.filter((kind) => kind.published).map(({ name }) => name);
  assert.equal([...published].sort(), [...RESOURCES].sort());
  assert.not.ok(KINDS.webhooks.published || KINDS.audits.published);
  const server = await openService();
  const headers = { 'idempotency-key': 'k' };
  await sent(server, 201, 'POST', '/admin/webhooks/', {
    body: { url: 'http://a.example' },
    headers,
  });
  const password = 'correct horse battery';
  const ann = { name: 'ann', role: 'viewer', password };
  await sent(server, 201, 'POST', '/admin/users/', { body: ann });
  const login = { body: { username: 'ann', password }, token: null };
  const { token } = (await sent(server, 201, 'POST', '/admin/tokens/', login)).json;
  await sent(server, 200, 'PATCH', '/admin/users/ann/', { body: { role: 'editor' } });
  await sent(server, 401, 'GET', BRANDS, { token });
  await sent(server, 204, 'DELETE', '/admin/tokens/another/');
  await sent(server, 204, 'DELETE', '/admin/users/ann/');
  const feed = await sent(server, 200, 'GET', `${CHANGES}?since=0`);
  assert.is(sequenceOf(feed), 4, 'the webhook, and three entries about the account');
  assert.equal(feed.json, []);
  await server.stop();
});

test('a long response is one complete JSON array', async () => {
  const server = await openService();
  const names = Array.from({ length: 400 }, (_, index) => ({
    name: `${index} ${'ü'.repeat(200)}`,
  }));
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body: names });
  await sent(server, 201, 'POST', '/books/', book('Emma'));
  const list = await changes(server, 'since=0');
  assert.equal(
    list.map(({ after }) => after?.['name']),
    [...names.map(({ name }) => name), 'Emma'],
  );
  await server.stop();
});

test('HEAD returns the headers without a body', async () => {
  const server = await openService({ demo: true });
  const answer = await sent(server, 200, 'HEAD', `${CHANGES}?since=0`);
  assert.is(answer.text, '');
  assert.is(sequenceOf(answer), 1);
  await server.stop();
});

/** Opens a stream, whose `next` returns one event after the other, and null at the end. */
async function streamOf(
  at: Service,
  query: string,
  more: Record<string, string> = {},
  token?: string,
) {
  const authorization = `Bearer ${token ?? (await tokenFor('admin'))}`;
  const headers = { accept: 'text/event-stream', authorization, ...more };
  const response = await at.fetch(`${at.url}${CHANGES}${query}`, { headers });
  assert.is(response.status, 200);
  assert.is(response.headers.get('content-type'), 'text/event-stream');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  return {
    response,
    async next(): Promise<string | null> {
      for (;;) {
        const end = rest.indexOf('\n\n');
        if (end >= 0) {
          const event = rest.slice(0, end);
          rest = rest.slice(end + 2);
          return event;
        }
        const { done, value } = await reader.read();
        if (done) return null;
        rest += decoder.decode(value, { stream: true });
      }
    },
    cancel: () => reader.cancel(),
  };
}

/** Parses an event. */
function parsed(event: string | null): { id: number; data: Change[] } {
  const [, id, data] = /^id: (\d+)\ndata: ([^\n]*)$/.exec(event ?? '') ?? [];
  assert.ok(data, `${event} is no event`);
  return { id: Number(id), data: JSON.parse(data) };
}

test('a stream has an event for each change set, and Last-Event-ID resumes it', async () => {
  const server = await openService();
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  const stream = await streamOf(server, '?since=0');
  const first = parsed(await stream.next());
  assert.equal([first.id, first.data], [1, await changes(server, 'since=0')]);
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body: [{ name: 'B' }, { name: 'C' }] });
  const second = parsed(await stream.next());
  assert.equal([second.id, second.data], [2, await changes(server, 'since=1')]);
  await stream.cancel();
  const resumed = await streamOf(server, '?since=0', { 'last-event-id': '1' });
  assert.is(parsed(await resumed.next()).id, 2, 'the header wins');
  await resumed.cancel();
  const fresh = await streamOf(server, '');
  await sent(server, 201, 'POST', '/books/', book('Emma'));
  assert.is(parsed(await fresh.next()).id, 3, 'without either, from now on');
  await fresh.cancel();
  await server.stop();
});

test('a stream without events sends comments', async () => {
  const server = await openService({ commentMs: 1 });
  const stream = await streamOf(server, '');
  assert.equal([await stream.next(), await stream.next()], [':', ':']);
  await stream.cancel();
  await server.stop();
});

test('a stream ends when its token is revoked or expires', async () => {
  let now = Date.now();
  const server = await openService({ commentMs: 1, clock: { now: () => now } });
  const ended = async (stream: Awaited<ReturnType<typeof streamOf>>) => {
    let event: string | null = ':';
    while (event === ':') event = await stream.next();
    return event;
  };
  const token = await tokenFor('viewer', { jti: 'streamed' });
  const revoked = await streamOf(server, '', {}, token);
  assert.is(await revoked.next(), ':');
  await sent(server, 204, 'DELETE', '/admin/tokens/streamed/');
  assert.is(await ended(revoked), null);
  const exp = Math.floor(now / 1000) + 600;
  const expiring = await streamOf(server, '', {}, await tokenFor('viewer', { exp }));
  assert.is(await expiring.next(), ':');
  now += 3600_000;
  assert.is(await ended(expiring), null);
  await server.stop();
});

test('a stream whose token was revoked ends without the next event', async () => {
  const server = await openService();
  const token = await tokenFor('viewer', { jti: 'streamed' });
  const stream = await streamOf(server, '', {}, token);
  const next = stream.next();
  await sent(server, 204, 'DELETE', '/admin/tokens/streamed/');
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  assert.is(await next, null);
  await server.stop();
});

test('a request that waits is 401 if its token is revoked before there is a change', async () => {
  const server = await openService();
  const token = await tokenFor('viewer', { jti: 'waiting' });
  await sent(server, 200, 'GET', CHANGES, { token });
  const waiting = send(server, 'GET', `${CHANGES}?wait=60s`, { token });
  await sent(server, 204, 'DELETE', '/admin/tokens/waiting/');
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  const { status, json } = await waiting;
  assert.equal([status, json], [401, { error: 'the token was revoked; get a new one' }]);
  await server.stop();
});

test('every response has Catalog-Sequence; for a write it is the sequence of its change set', async () => {
  const server = await openService();
  const seen = async (status: number, ...request: [string, string, Sent?]) =>
    sequenceOf(await sent(server, status, ...request));
  assert.is(await seen(200, 'GET', '/books/', { token: null }), 0);
  assert.is(await seen(201, 'POST', '/books/', book('Emma')), 1);
  assert.is(await seen(200, 'PUT', '/books/1/', book('Persuasion')), 2);
  assert.is(await seen(204, 'DELETE', '/books/1/', { token: null }), 3);
  assert.is(await seen(404, 'GET', '/books/1/', { token: null }), 3);
  assert.is(await seen(404, 'GET', '/nothing/'), 3);
  assert.is(await seen(401, 'GET', BRANDS, { token: null }), 3);
  assert.is(await seen(405, 'DELETE', BRANDS), 3);
  assert.is(await seen(422, 'POST', BRANDS, { body: {} }), 3);
  assert.is(await seen(200, 'OPTIONS', BRANDS, { token: null }), 3);
  assert.is(await seen(200, 'GET', '/', { token: null }), 3);
  assert.is(await seen(200, 'GET', '/openapi.json', { token: null }), 3);
  await server.stop();
});

test('a read with Catalog-Min-Sequence waits for that change set', async () => {
  const server = await openService();
  const headers = { 'catalog-min-sequence': '1' };
  const waiting = send(server, 'GET', `${BRANDS}1/`, { headers });
  await sent(server, 201, 'POST', BRANDS, { body: { name: 'A' } });
  const answer = await waiting;
  assert.is(answer.json.name, 'A', 'the item is looked up after the wait');
  assert.ok(sequenceOf(answer) >= 1);
  await sent(server, 200, 'HEAD', BRANDS, { headers });
  await server.stop();
});

test('if the change set of Catalog-Min-Sequence does not come, a read is 503 with Retry-After', async () => {
  const server = await openService();
  const headers = { 'catalog-min-sequence': '1' };
  const answer = await sent(server, 503, 'GET', '/books/', { headers, token: null });
  assert.match(answer.json.error, 'change set 1');
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  await sent(server, 401, 'GET', BRANDS, { headers, token: null });
  await sent(server, 201, 'POST', '/books/', { ...book('Emma'), headers });
  await server.stop();
});

test('Catalog-Min-Sequence has no effect on paths that show nothing of the catalog', async () => {
  const server = await openService({ demo: true });
  for (const value of ['1000', 'x']) {
    const headers = { 'catalog-min-sequence': value };
    for (const path of ['/', '/healthz', '/readyz', '/docs/', '/console/', '/openapi.json']) {
      await sent(server, 200, 'GET', path, { headers, token: null });
      await sent(server, 200, 'HEAD', path, { headers, token: null });
    }
  }
  const headers = { 'catalog-min-sequence': '1000' };
  await sent(server, 503, 'GET', '/pages/index.html', { headers, token: null });
  await server.stop();
});

test('requests without a token that wait for a change set leave places for others', async () => {
  const server = await openService();
  const headers = { 'catalog-min-sequence': '1' };
  const begin = (token?: null) =>
    server.fetch(`${server.url}${token === null ? '/books/' : BRANDS}`, {
      headers: { ...headers, ...(token !== null && { authorization }) },
    });
  const authorization = `Bearer ${await tokenFor('viewer')}`;
  const waiting = Array.from({ length: MAX_WAITING_OF_SUBJECT }, () => begin(null));
  const refused = await begin(null);
  assert.is(refused.status, 503);
  assert.match(await refused.text(), 'too many requests are waiting');
  const own = await begin();
  assert.match(await own.text(), 'change set 1 has not arrived yet');
  for (const answer of waiting) await answer;
  await server.stop();
});

test('a malformed Catalog-Min-Sequence is 400', async () => {
  const server = await openService();
  for (const value of ['', '-1', '1.0', 'x', '1, 2']) {
    const headers = { 'catalog-min-sequence': value };
    const answer = await sent(server, 400, 'GET', '/books/', { headers, token: null });
    assert.match(answer.json.error, 'Catalog-Min-Sequence');
  }
  await server.stop();
});

/** Applies the changes of a feed. @returns the rows by resource and id. */
function folded(list: readonly Change[]): Map<string, Map<number, Fields>> {
  const tables = new Map<string, Map<number, Fields>>();
  for (const { resource, id, action, before, after } of list) {
    const rows = tables.get(resource) ?? new Map<number, Fields>();
    tables.set(resource, rows);
    assert.equal(rows.get(id) ?? null, before, `${resource} ${id} before`);
    assert.is(action, before === null ? 'create' : after === null ? 'delete' : 'update');
    if (after === null) rows.delete(id);
    else rows.set(id, after);
  }
  return tables;
}

/** One write of a random history; it may be rejected. */
const aWrite = fc.record({
  method: fc.constantFrom('POST', 'POST', 'PATCH', 'PUT', 'DELETE'),
  resource: fc.constantFrom('books', 'brands', 'categories', 'goods', 'specs', 'options', 'skus'),
  id: fc.nat(8),
  other: fc.nat(8),
  together: fc.boolean(),
});

type Write = typeof aWrite extends fc.Arbitrary<infer T> ? T : never;

/** Audit sizes: room for all entries, for none, and too little for the entries of a commit. */
const auditSizes = fc.constantFrom(16 * 1024 * 1024, 0, 700);

/** A body that is valid in some catalogs. */
function bodyOf({ resource, id, other }: Write): Fields {
  const name = `n${other}`;
  switch (resource) {
    case 'books':
      return { name, pub_date: '2000-01-01' };
    case 'categories':
      return { name, parent_id: other === 0 ? null : other };
    case 'specs':
      return { name, spu_id: id };
    case 'options':
      return { value: name, spec_id: other };
    case 'goods':
      return { name, brand_id: id, category1_id: 1, category2_id: 2, category3_id: 3 };
    case 'skus':
      return {
        name,
        caption: '',
        spu_id: id,
        category_id: 3,
        price: id,
        cost_price: 0,
        market_price: 0,
        stock: other,
        is_launched: true,
        code: `c${other}`,
        specs: other < 3 ? [{ spec_id: 1, option_id: 1 }] : [],
      };
    case 'brands':
      return { name };
  }
}

test('after random writes, applying all changes since 0 produces what the lists show', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aWrite, { minLength: 1, maxLength: 20 }),
      auditSizes,
      async (writes, auditSize) => {
        const server = await openService({ auditSize });
        await createCatalog(server);
        let group: Promise<unknown>[] = [];
        for (const write of writes) {
          const { method, resource, id, together } = write;
          const path = resource === 'books' ? '/books/' : `/admin/${resource}/`;
          const target = method === 'POST' ? path : `${path}${id}/`;
          const body = method === 'DELETE' ? {} : { body: bodyOf(write) };
          group.push(send(server, method, target, body));
          if (together) continue;
          await Promise.all(group);
          group = [];
        }
        await Promise.all(group);
        const tables = folded(await changes(server, 'since=0&limit=1000'));
        for (const resource of RESOURCES) {
          if (resource === 'sku_specs') continue;
          const path = resource === 'books' ? '/books/' : `/admin/${resource}/?per_page=1000`;
          const shown: Fields[] = await read(server, path);
          const rows = [...(tables.get(resource)?.values() ?? [])];
          rows.sort((a, b) => Number(a['id']) - Number(b['id']));
          assert.equal(
            shown.map((object, index) => ({ ...object, ...rows[index] })),
            shown,
            resource,
          );
          assert.is(rows.length, shown.length, resource);
        }
        const records = [...(tables.get('sku_specs')?.values() ?? [])];
        for (const { id, specs } of (await read(
          server,
          '/admin/skus/?per_page=1000',
        )) as Fields[]) {
          const own = records.filter(({ sku_id }) => sku_id === id);
          assert.equal(
            own.map(({ spec_id, option_id }) => ({ spec_id, option_id })),
            specs,
          );
        }
        await server.stop();
      },
    ),
    { numRuns: 5 },
  );
});

test('the feed is the same from memory and, after a restart, from the files', async () => {
  const server = await openService();
  const catalog = await createCatalog(server);
  await make(server, '/admin/skus/', skuFields(catalog, { name: 'Lamp' }));
  await sent(server, 201, 'POST', '/books/', book('Emma'));
  await sent(server, 200, 'PUT', '/books/1/', book('Persuasion'));
  const before = await changes(server, 'since=0');
  await server.stop();
  const again = await openService({ data: server.data });
  assert.equal(await changes(again, 'since=0'), before);
  await again.stop();
});

test.run();
