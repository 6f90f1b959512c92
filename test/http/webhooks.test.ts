/** spec 14.5 to 14.8: webhooks, what is delivered to them, and in which order. */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { messageOf } from '../../src/errors.ts';
import type { OutgoingRequest } from '../../src/resources/webhooks/ports.ts';
import { restoreBackup } from '../../src/store/backup.ts';
import { checkStore } from '../../src/store/check.ts';
import { readSnapshot } from '../../src/store/directory.ts';
import { type Fields, read } from '../support/catalog.ts';
import { type Sent, sent, tokenFor } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import {
  closeServices,
  openService,
  type Service,
  type ServiceOptions,
} from '../support/service.ts';
import { callProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const WEBHOOKS = '/admin/webhooks/';
const BRANDS = '/admin/brands/';
const URL = 'https://receiver.example/hook?from=catalog';

test.after(closeServices);

const name = (text: string): Sent => ({ body: { name: text } });

/** A receiver in process. */
class Receiver {
  readonly requests: OutgoingRequest[] = [];
  /** The next responses; 204 if there are none. */
  readonly answers: (number | Error)[] = [];
  /** Whether it does not respond. */
  hangs = false;

  readonly send = async (request: OutgoingRequest): Promise<number> => {
    this.requests.push(request);
    if (this.hangs) {
      return new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(new Error('ended')));
      });
    }
    const answer = this.answers.shift() ?? 204;
    if (answer instanceof Error) throw answer;
    return answer;
  };

  async count(length: number): Promise<void> {
    await until(`${length} requests arrive`, () => this.requests.length >= length);
  }

  get ids(): (string | undefined)[] {
    return this.requests.map(({ headers }) => headers['webhook-id']);
  }

  /** The actions, resources and ids of the changes in each request. */
  get told(): string[] {
    return this.requests.map(({ body }) =>
      (JSON.parse(body).data as Fields[])
        .map(({ action, resource, id }) => `${String(action)} ${String(resource)} ${String(id)}`)
        .join(', '),
    );
  }
}

/** A service that delivers to a receiver in process, and retries at once. */
function open(receiver: Receiver, options: ServiceOptions = {}): Promise<Service> {
  return openService({ send: receiver.send, retryDelay: () => 0, ...options });
}

const states = async (at: Service, id = 1) =>
  ((await read(at, `${WEBHOOKS}${id}/deliveries/`)) as Fields[]).map(({ state }) => state);

test('the response that creates a webhook contains its secret, and no other response does', async () => {
  const server = await open(new Receiver());
  const body = { url: URL, resources: ['skus', 'brands'] };
  const { json, headers } = await sent(server, 201, 'POST', WEBHOOKS, { body });
  const { secret, created, ...rest } = json;
  const shown = { id: 1, ...body, active: true, failing_since: null };
  assert.equal(rest, shown);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.is(headers.get('location'), `${WEBHOOKS}1/`);
  const one = await sent(server, 200, 'GET', `${WEBHOOKS}1/`);
  assert.equal(one.json, { ...shown, created });
  assert.equal(Object.keys(one.json), [
    'id',
    'url',
    'resources',
    'active',
    'created',
    'failing_since',
  ]);
  assert.is(one.headers.get('etag'), headers.get('etag'));
  assert.equal((await sent(server, 200, 'GET', WEBHOOKS)).json, [one.json]);
  const put = await sent(server, 200, 'PUT', `${WEBHOOKS}1/`, { body: { url: URL } });
  assert.equal(put.json, { ...one.json, resources: [] });
  const patched = await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { active: false } });
  assert.equal(patched.json, { ...put.json, active: false });
  await sent(server, 412, 'PATCH', `${WEBHOOKS}1/`, {
    body: { active: true },
    headers: { 'if-match': headers.get('etag') ?? '' },
  });
  await sent(server, 204, 'DELETE', `${WEBHOOKS}1/`);
  await sent(server, 410, 'GET', `${WEBHOOKS}1/`);
  await sent(server, 404, 'GET', `${WEBHOOKS}1/deliveries/`);
  await server.stop();
});

test('a replayed creation of a webhook contains the same secret', async () => {
  const server = await open(new Receiver());
  const request = { body: { url: URL }, headers: { 'idempotency-key': 'k' } };
  const first = await sent(server, 201, 'POST', WEBHOOKS, request);
  const second = await sent(server, 201, 'POST', WEBHOOKS, request);
  assert.is(second.text, first.text);
  assert.is(second.headers.get('idempotent-replayed'), 'true');
  assert.is(((await read(server, WEBHOOKS)) as unknown[]).length, 1);
  await server.stop();
});

test('a replayed creation contains no secret of another key than that of the webhook', async () => {
  const server = await open(new Receiver());
  const request = { body: { url: URL }, headers: { 'idempotency-key': 'k' } };
  const { text } = await sent(server, 201, 'POST', WEBHOOKS, request);
  const path = join(server.data, 'webhook-key.json');
  const file = readFileSync(path);
  rmSync(path);
  await sent(server, 500, 'POST', WEBHOOKS, request);
  const reason = 'the key with which webhook 1 was created is another one';
  assert.ok(server.log.some((line) => line.includes(reason)));
  writeFileSync(path, file, { mode: 0o600 });
  assert.is((await sent(server, 201, 'POST', WEBHOOKS, request)).text, text);
  await server.stop();
});

test('the secret is in no file of the store, and the file of its key is private to the owner', async () => {
  const server = await open(new Receiver());
  const headers = { 'idempotency-key': 'k' };
  const { json } = await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL }, headers });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await server.stop();
  const secret = String(json.secret).slice('whsec_'.length);
  const files = readdirSync(server.data, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const { parentPath, name: file } of files) {
    assert.not.ok(readFileSync(join(parentPath, file)).includes(secret), file);
  }
  assert.is(statSync(join(server.data, 'webhook-key.json')).mode & 0o077, 0);
  assert.equal(checkStore(machineDisk, server.data).findings, []);
});

test('only admins may use webhooks, their audit entries and deliveries, and reverse their writes', async () => {
  const server = await open(new Receiver());
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { url: `${URL}&more` } });
  for (const role of ['viewer', 'editor']) {
    const token = await tokenFor(role);
    await sent(server, 403, 'GET', WEBHOOKS, { token });
    await sent(server, 403, 'POST', WEBHOOKS, { token, body: { url: URL } });
    await sent(server, 403, 'GET', `${WEBHOOKS}1/`, { token });
    await sent(server, 403, 'GET', `${WEBHOOKS}1/deliveries/`, { token });
    await sent(server, 403, 'GET', `${WEBHOOKS}1/audits/`, { token });
    await sent(server, 403, 'POST', '/admin/audits/2/reversal/', { token });
  }
  await sent(server, 401, 'GET', WEBHOOKS, { token: null });
  assert.is(((await read(server, `${WEBHOOKS}1/audits/`)) as unknown[]).length, 2);
  const undone = await sent(server, 200, 'POST', '/admin/audits/2/reversal/');
  assert.is(undone.json.url, URL);
  await server.stop();
});

test('a write is undone although deliveries have failed since, and failing_since stays', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500, 500, 500);
  const server = await open(receiver, { retryDelay: (failures) => (failures > 0 ? 3600_000 : 0) });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { resources: ['brands'] } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  const failing = async () => ((await read(server, `${WEBHOOKS}1/`)) as Fields)['failing_since'];
  await until('it fails', async () => (await failing()) !== null);
  const since = await failing();
  const undone = await sent(server, 200, 'POST', '/admin/audits/2/reversal/');
  assert.equal([undone.json.resources, undone.json.failing_since], [[], since]);
  const forced = { body: { force: true } };
  await sent(server, 204, 'POST', '/admin/audits/1/reversal/', forced);
  await server.stop();
});

test('an invalid url, invalid resources and an invalid active are 422', async () => {
  const server = await open(new Receiver());
  const refused: readonly (readonly [unknown, string])[] = [
    ...[
      '',
      'receiver.example',
      '/hook',
      'ftp://receiver.example/',
      'HTTPS://receiver.example/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'https://',
      'https:///path',
      'http://a b.example/',
      'http://receiver.example\\@other.example/',
      'https://empfänger.example/',
      'https://receiver.example/é',
      'https://receiver.example/%zz',
      'https://receiver.example/[1]',
      'https://receiver.example/?q=\u0000',
      'https://ann:secret@receiver.example/',
      'https://ann@receiver.example/',
      'https://receiver.example/#top',
      `https://receiver.example/${'x'.repeat(2048)}`,
      7,
      null,
    ].map((url) => [{ url }, 'url'] as const),
    [{}, 'url'],
    [{ url: URL, resources: ['brand'] }, 'resources'],
    [{ url: URL, resources: ['audits'] }, 'resources'],
    [{ url: URL, resources: ['skus', 'skus'] }, 'resources'],
    [{ url: URL, resources: 'skus' }, 'resources'],
    [{ url: URL, resources: null }, 'resources'],
    [{ url: URL, active: 'yes' }, 'active'],
  ];
  for (const [body, field] of refused) {
    const { json } = await sent(server, 422, 'POST', WEBHOOKS, { body });
    assert.equal(Object.keys(json.fields), [field], JSON.stringify(body).slice(0, 80));
  }
  await server.stop();
});

test('a url is stored as it was sent, with a port, an IPv6 address or a query', async () => {
  const server = await open(new Receiver());
  for (const url of [
    'http://127.0.0.1:8080',
    'http://[::1]:8080/hook',
    "https://receiver_1.example/a/~b;c=1/%C3%A9?q=(x)*'y'&z=@:,$!+",
    'https://xn--empfnger-4za.example/',
  ]) {
    const { json } = await sent(server, 201, 'POST', WEBHOOKS, { body: { url } });
    assert.is(json.url, url);
  }
  await server.stop();
});

test('there are at most 100 webhooks; one more is 409, also by undoing a deletion', async () => {
  const server = await open(new Receiver());
  const body = { url: URL, active: false };
  for (let count = 0; count < 100; count += 1) await sent(server, 201, 'POST', WEBHOOKS, { body });
  const { json } = await sent(server, 409, 'POST', WEBHOOKS, { body });
  assert.match(json.error, '100 webhooks');
  await sent(server, 204, 'DELETE', `${WEBHOOKS}1/`);
  await sent(server, 201, 'POST', WEBHOOKS, { body });
  const undo = '/admin/audits/101/reversal/';
  assert.match((await sent(server, 409, 'POST', undo)).json.error, '100 webhooks');
  await sent(server, 409, 'POST', undo, { body: { force: true } });
  await sent(server, 204, 'DELETE', `${WEBHOOKS}2/`);
  await sent(server, 200, 'POST', undo);
  await server.stop();
});

test('a delivery contains what the feed shows an admin, with a Standard Webhooks signature', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', BRANDS, name('before the webhook'));
  const { json } = await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  const token = await tokenFor('editor', { sub: 'ann' });
  await sent(server, 201, 'POST', BRANDS, { ...name('Ondine'), token });
  await receiver.count(1);
  const { url, headers, body } = receiver.requests[0] as OutgoingRequest;
  assert.is(url, URL);
  assert.is(headers['content-type'], 'application/json');
  const payload = new Webhook(json.secret).verify(body, { ...headers }) as Fields;
  const feed: Fields[] = await read(server, '/admin/changes/?since=2');
  assert.equal(payload, { type: 'catalog.changes', timestamp: feed[0]?.['time'], data: feed });
  assert.is(feed[0]?.['subject'], 'ann');
  assert.throws(() => new Webhook(json.secret).verify(`${body} `, { ...headers }));
  await server.stop();
});

test('a webhook with resources gets only their changes, with one message for each change set', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL, resources: ['brands'] } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await sent(server, 201, 'POST', '/admin/categories/', name('B'));
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body: [{ name: 'C' }, { name: 'D' }] });
  await receiver.count(2);
  assert.equal(receiver.told, ['create brands 1', 'create brands 2, create brands 3']);
  assert.is(new Set(receiver.ids).size, 2);
  await server.stop();
});

test('a large change set is delivered in several messages, in order', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  const body = Array.from({ length: 900 }, (_, nth) => ({ name: `${nth} ${'x'.repeat(200)}` }));
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body });
  const names = () =>
    receiver.requests.flatMap((request) =>
      (JSON.parse(request.body).data as { after: Fields }[]).map(({ after }) => after['name']),
    );
  await until('all changes arrive', () => names().length >= body.length);
  assert.equal(
    names(),
    body.map((each) => each.name),
  );
  assert.ok(receiver.requests.length > 1);
  for (const request of receiver.requests) assert.ok(request.body.length < 200_000);
  assert.is(new Set(receiver.ids).size, receiver.requests.length);
  await server.stop();
});

test('a failed delivery is retried with the same id, and later deliveries wait', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500, 302, new Error('no answer within 15 seconds'));
  const server = await open(receiver);
  const { json } = await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await sent(server, 201, 'POST', BRANDS, name('B'));
  await receiver.count(5);
  const [first, ...more] = receiver.ids;
  assert.equal(more.slice(0, 3), [first, first, first]);
  assert.not.equal(more[3], first);
  assert.equal(receiver.told.slice(3), ['create brands 1', 'create brands 2']);
  for (const { headers, body } of receiver.requests) {
    new Webhook(json.secret).verify(body, { ...headers });
  }
  await until('both are listed', async () => (await states(server)).length === 2);
  const [latest, oldest]: Fields[] = await read(server, `${WEBHOOKS}1/deliveries/`);
  assert.equal(
    [oldest?.['id'], oldest?.['attempts'], oldest?.['status'], oldest?.['next_attempt']],
    [first, 4, 204, null],
  );
  assert.equal([latest?.['attempts'], latest?.['state'], latest?.['changes']], [1, 'delivered', 1]);
  assert.is(server.log.length, 2, 'an outage is logged once, and so is its end');
  await server.stop();
});

test('failing_since is the time of the first failed attempt, and null after the next success', async () => {
  const receiver = new Receiver();
  receiver.answers.push(503);
  const server = await open(receiver, { retryDelay: (failures) => (failures > 0 ? 3600_000 : 0) });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  const failing = async () => ((await read(server, `${WEBHOOKS}1/`)) as Fields)['failing_since'];
  await until('it fails', async () => (await failing()) !== null);
  const [delivery]: Fields[] = await read(server, `${WEBHOOKS}1/deliveries/`);
  assert.is(await failing(), delivery?.['first_attempt']);
  assert.equal([delivery?.['state'], delivery?.['status']], ['failed', 503]);
  assert.ok(String(delivery?.['next_attempt']) > String(delivery?.['last_attempt']));
  // A new url is tried at once.
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { url: `${URL}&second` } });
  await until('it succeeds', async () => (await failing()) === null);
  assert.is(receiver.requests.at(-1)?.url, `${URL}&second`);
  await server.stop();
});

test('a new url aborts the request to the old one, which then has no effect', async () => {
  const receiver = new Receiver();
  receiver.hangs = true;
  const server = await open(receiver, { retryDelay: () => 3600_000 });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(1);
  receiver.hangs = false;
  const body = { url: `${URL}&second` };
  const { json } = await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body });
  await receiver.count(2);
  assert.ok(receiver.requests[0]?.signal.aborted);
  assert.is(receiver.requests[1]?.url, body.url);
  assert.is(receiver.ids[1], receiver.ids[0]);
  await until('it is listed', async () => (await states(server)).length === 1);
  assert.equal(await states(server), ['delivered']);
  assert.equal(await read(server, `${WEBHOOKS}1/`), json);
  assert.equal(server.log, []);
  await server.stop();
});

test('a failed delivery has a next_attempt only while the webhook is active', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500, 500);
  const server = await open(receiver, { retryDelay: () => 3600_000 });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  const delivery = async (): Promise<Fields | undefined> =>
    (await read(server, `${WEBHOOKS}1/deliveries/`))[0];
  await until('it fails', async () => (await delivery())?.['attempts'] === 1);
  assert.type((await delivery())?.['next_attempt'], 'string');
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { active: false } });
  assert.is((await delivery())?.['next_attempt'], null);
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { active: true } });
  await until('it fails again', async () => (await delivery())?.['attempts'] === 2);
  assert.type((await delivery())?.['next_attempt'], 'string');
  await server.stop();
});

test('a webhook whose receiver responds with 410 is inactive until it is activated again', async () => {
  const receiver = new Receiver();
  receiver.answers.push(410);
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  const isActive = async () => ((await read(server, `${WEBHOOKS}1/`)) as Fields)['active'];
  await until('it is deactivated', async () => (await isActive()) === false);
  await sent(server, 201, 'POST', BRANDS, name('B'));
  assert.is(receiver.requests.length, 1);
  assert.match(server.log.at(-1) ?? '', /webhook 1 is deactivated: the response was 410/);
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { active: true } });
  await receiver.count(3);
  assert.equal(receiver.told.slice(1), ['create brands 1', 'create brands 2']);
  await server.stop();
});

test('a webhook is deactivated after three days of failures', async () => {
  const receiver = new Receiver();
  let now = Date.now();
  const hour = 3600_000;
  const server = await open(receiver, {
    clock: { now: () => now },
    retryDelay: () => 0,
    send: async (request) => {
      receiver.requests.push(request);
      now += hour;
      return 500;
    },
  });
  const token = await tokenFor('admin', { exp: Math.floor(now / 1000) + 3600 * 24 * 30 });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL }, token });
  await sent(server, 201, 'POST', BRANDS, { ...name('A'), token });
  const hook = async () => (await sent(server, 200, 'GET', `${WEBHOOKS}1/`, { token })).json;
  await until('it is deactivated', async () => !(await hook()).active);
  assert.is(receiver.requests.length, 3 * 24 + 1);
  assert.not.equal((await hook()).failing_since, null);
  await server.stop();
});

test('a clock that is set back does not delay the next attempt', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500);
  let now = Date.now();
  const server = await open(receiver, {
    clock: { now: () => now },
    retryDelay: () => {
      now -= 24 * 3600_000;
      return 0;
    },
  });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(2);
  await server.stop();
});

/** The data directory of a server that was stopped after the delivery of the creation of a brand. */
async function dataAfterDelivery(receiver: Receiver): Promise<string> {
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(1);
  await server.stop();
  return server.data;
}

test('a start removes what a killed process has left half-written beside the states', async () => {
  const receiver = new Receiver();
  const data = await dataAfterDelivery(receiver);
  const folder = join(data, 'webhooks');
  writeFileSync(join(folder, '.0123456789abcdef.tmp'), '{"position":');
  const again = await open(receiver, { data });
  assert.equal(readdirSync(folder), ['1.json']);
  await again.stop();
});

test('after a restart deliveries continue where they stopped', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(1);
  receiver.hangs = true;
  await sent(server, 201, 'POST', BRANDS, name('B'));
  await sent(server, 201, 'POST', BRANDS, name('C'));
  await receiver.count(2);
  await server.stop();
  const later = new Receiver();
  const again = await open(later, { data: server.data });
  await later.count(2);
  assert.equal(later.told, ['create brands 2', 'create brands 3']);
  assert.is(later.ids[0], receiver.ids[1], 'under the id of the attempt that the stop has ended');
  await until('all are listed', async () => (await states(again)).length === 3);
  await again.stop();
});

test('a delivery that is answered while the server stops is not repeated', async () => {
  const begun = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<number>();
  const server = await open(new Receiver(), {
    send({ signal }) {
      signal.addEventListener('abort', () => answered.reject(new Error('ended')));
      begun.resolve();
      return answered.promise;
    },
  });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await begun.promise;
  const stopped = server.stop();
  await pause(200);
  answered.resolve(204);
  await stopped;
  const later = new Receiver();
  const again = await open(later, { data: server.data });
  await sent(again, 201, 'POST', BRANDS, name('B'));
  await later.count(1);
  assert.equal(later.told, ['create brands 2']);
  await again.stop();
});

test('after a restart the messages of a change set that were delivered are not sent again', async () => {
  const receiver = new Receiver();
  const server = await open(receiver, {
    send(request) {
      // The first two messages are delivered, and the third one gets no response.
      receiver.hangs = receiver.requests.length >= 2;
      return receiver.send(request);
    },
  });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  const body = Array.from({ length: 2000 }, (_, nth) => ({ name: `${nth} ${'x'.repeat(200)}` }));
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body });
  await receiver.count(3);
  await server.stop();
  const later = new Receiver();
  const again = await open(later, { data: server.data });
  const idsIn = (requests: readonly OutgoingRequest[]) =>
    requests.flatMap((request) =>
      (JSON.parse(request.body).data as Fields[]).map(({ id }) => Number(id)),
    );
  await until('the rest arrives', () => idsIn(later.requests).at(-1) === body.length);
  assert.is(later.ids[0], receiver.ids[2], 'under the id of the attempt that the stop has ended');
  assert.equal(
    idsIn([...receiver.requests.slice(0, 2), ...later.requests]),
    body.map((_, nth) => nth + 1),
  );
  assert.is(new Set(later.ids).size, later.requests.length);
  await again.stop();
});

test('a new url gets the whole change set of which the former one has got a part', async () => {
  const receiver = new Receiver();
  const server = await open(receiver, {
    send(request) {
      receiver.hangs = request.url === URL && receiver.requests.length >= 1;
      return receiver.send(request);
    },
  });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  const body = Array.from({ length: 1000 }, (_, nth) => ({ name: `${nth} ${'x'.repeat(200)}` }));
  await sent(server, 201, 'POST', `${BRANDS}bulk/`, { body });
  await receiver.count(2);
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { url: `${URL}&second` } });
  await receiver.count(4);
  assert.equal(receiver.ids.slice(2, 4), receiver.ids.slice(0, 2));
  await server.stop();
});

test('if the position of a webhook is lost, deliveries start again at its creation', async () => {
  const receiver = new Receiver();
  const data = await dataAfterDelivery(receiver);
  writeFileSync(join(data, 'webhooks', '1.json'), '{"position":');
  const again = await open(receiver, { data });
  await receiver.count(2);
  assert.equal(receiver.told, ['create brands 1', 'create brands 1']);
  assert.is(receiver.ids[1], receiver.ids[0]);
  assert.match(again.log[0] ?? '', `because ${join(data, 'webhooks', '1.json')} is damaged`);
  await again.stop();
});

test('a directory in place of a position is named by an error that ends the start', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await server.stop();
  const path = join(server.data, 'webhooks', '1.json');
  rmSync(path, { force: true });
  mkdirSync(path, { recursive: true });
  const message = await open(receiver, { data: server.data }).then(String, messageOf);
  assert.ok(message.startsWith(`${path} cannot be read (EISDIR`), message);
  assert.match(message, 'move it away');
});

test('a position after the last change set is reset to the creation of the webhook and logged', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', BRANDS, name('before the webhook'));
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(1);
  await server.stop();
  // As in a copy that was made while the server ran.
  const file = join(server.data, 'webhooks', '1.json');
  const state = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...state, position: 99 }));
  const again = await open(receiver, { data: server.data });
  await receiver.count(2);
  assert.is(receiver.ids[1], receiver.ids[0]);
  assert.match(again.log[0] ?? '', /webhook 1 continues after change set 2: .* not in this store/);
  await until('both are listed', async () => (await states(again)).length === 3);
  assert.equal(await states(again), ['delivered', 'skipped', 'delivered']);
  await again.stop();
});

test('a position before the oldest change set is moved to the oldest and logged', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL, active: false } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await sent(server, 201, 'POST', BRANDS, name('B'));
  await server.stop();
  // Like a restored store: rows without the history before them.
  const again = await open(receiver, { data: await restored(server.data) });
  await sent(again, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { active: true } });
  await sent(again, 201, 'POST', BRANDS, name('C'));
  await receiver.count(1);
  assert.equal(receiver.told, ['create brands 3']);
  await until('both are listed', async () => (await states(again)).length === 2);
  assert.equal(await states(again), ['delivered', 'skipped']);
  assert.match(again.log.join('\n'), /webhook 1 continues after change set 3/);
  await again.stop();
});

/** Restores a backup of the data directory. @returns the directory of the restored store. */
async function restored(data: string): Promise<string> {
  const target = temporaryDirectory();
  await restoreBackup(machineDisk, readSnapshot(data), target);
  copyFileSync(join(data, 'webhook-key.json'), join(target, 'webhook-key.json'));
  return target;
}

test('a sequence that is used again after a restore has another message id', async () => {
  const receiver = new Receiver();
  const server = await open(receiver);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await server.stop();
  const target = await restored(server.data);
  for (const data of [server.data, target]) {
    const again = await open(receiver, { data });
    await sent(again, 201, 'POST', BRANDS, name('A'));
    await until('it is listed', async () => (await states(again))[0] === 'delivered');
    await again.stop();
  }
  assert.equal(receiver.told, ['create brands 1', 'create brands 1']);
  assert.is(new Set(receiver.ids).size, 2);
});

test('a change set that is delivered for other resources has another message id', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500);
  const server = await open(receiver, { demo: true, retryDelay: () => 3600_000 });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL, resources: ['skus'] } });
  const body = { stock: 3, specs: [{ spec_id: 1, option_id: 1 }] };
  await sent(server, 200, 'PATCH', '/admin/skus/1/', { body });
  await until('it fails', async () => (await states(server))[0] === 'failed');
  const resources = ['sku_specs'];
  await sent(server, 200, 'PATCH', `${WEBHOOKS}1/`, { body: { resources } });
  await receiver.count(2);
  assert.is(receiver.told[0], 'update skus 1');
  assert.match(receiver.told[1] ?? '', /^create sku_specs \d+$/);
  assert.is(new Set(receiver.ids).size, 2);
  await until('both are listed', async () => (await states(server)).length === 2);
  const listed: Fields[] = await read(server, `${WEBHOOKS}1/deliveries/`);
  assert.equal(
    listed.map(({ state, next_attempt: next }) => [state, next]),
    [
      ['delivered', null],
      ['failed', null],
    ],
  );
  await server.stop();
});

for (const [what, webhooks] of [
  ['is missing', []],
  ['is another one', [{ url: `${URL}&second` }]],
] as const) {
  test(`if the key of its secret ${what}, nothing is sent to a webhook; the delivery and check say why`, async () => {
    const receiver = new Receiver();
    const server = await open(receiver);
    await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
    await server.stop();
    rmSync(join(server.data, 'webhook-key.json'));
    const again = await open(receiver, { data: server.data, retryDelay: () => 3600_000 });
    // The first one begins a new key.
    for (const body of webhooks) await sent(again, 201, 'POST', WEBHOOKS, { body });
    await sent(again, 201, 'POST', BRANDS, name('A'));
    await until('it fails', async () => (await states(again)).length === 1);
    const [delivery]: Fields[] = await read(again, `${WEBHOOKS}1/deliveries/`);
    const why = `webhook-key.json: the key with which webhook 1 was created ${what}; `;
    const error = String(delivery?.['error']);
    assert.ok(error.startsWith(why), `without the path of the directory: ${error}`);
    await receiver.count(webhooks.length);
    assert.equal(
      receiver.requests.map(({ url }) => url),
      webhooks.map(({ url }) => url),
    );
    const { status, stderr } = await callProgram(['check', '--data', server.data]);
    assert.is(status, 0, stderr);
    assert.match(stderr, `WARNING: nothing is delivered to webhook 1: ${server.data}/${why}`);
    assert.is(stderr.split('\n').length, 2, 'and of no other webhook');
    await again.stop();
  });
}

test('a webhook that is changed before its first delivery delivers every message once', async () => {
  const receiver = new Receiver();
  const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answer = Promise.withResolvers<number>();
  const server = await open(receiver, {
    send: async (request) => {
      if (request.url !== URL) return receiver.send(request);
      // The deletion of the webhook waits until this request ends.
      request.signal.addEventListener('abort', () => aborted.resolve());
      begun.resolve();
      return answer.promise;
    },
  });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await begun.promise;
  await sent(server, 204, 'DELETE', `${WEBHOOKS}1/`);
  await aborted.promise;
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: `${URL}&second` } });
  await sent(server, 200, 'PATCH', `${WEBHOOKS}2/`, { body: { url: `${URL}&third` } });
  answer.resolve(204);
  await sent(server, 201, 'POST', BRANDS, name('B'));
  await sent(server, 201, 'POST', BRANDS, name('C'));
  await receiver.count(2);
  await until('both are listed', async () => (await states(server, 2)).length >= 2);
  await server.stop();
  assert.equal(receiver.told, ['create brands 2', 'create brands 3']);
});

test('a deleted webhook gets no more deliveries, and its file is removed', async () => {
  const receiver = new Receiver();
  receiver.answers.push(500);
  const server = await open(receiver, { retryDelay: () => 3600_000 });
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('A'));
  await receiver.count(1);
  await sent(server, 204, 'DELETE', `${WEBHOOKS}1/`);
  await sent(server, 201, 'POST', WEBHOOKS, { body: { url: URL } });
  await sent(server, 201, 'POST', BRANDS, name('B'));
  await receiver.count(2);
  assert.equal(receiver.told, ['create brands 1', 'create brands 2']);
  await server.stop();
  assert.equal(readdirSync(join(server.data, 'webhooks')), ['2.json']);
});

test.run();
