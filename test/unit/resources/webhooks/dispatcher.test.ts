/** spec 14.7: where the deliveries of a webhook continue, and which responses are successes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { Arrivals } from '../../../../src/resources/changes/arrivals.ts';
import type { ChangeSource } from '../../../../src/resources/changes/change-source.ts';
import { Dispatcher, type DispatchContext } from '../../../../src/resources/webhooks/dispatcher.ts';
import { DeliveryState } from '../../../../src/resources/webhooks/delivery-state.ts';
import type { Webhook } from '../../../../src/resources/webhooks/ports.ts';
import { SharedChanges } from '../../../../src/resources/webhooks/shared-changes.ts';
import type { ChangeSet } from '../../../../src/store/change-set.ts';
import { countingTurns, turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';
import { NO_STORAGE, ONE_SECRET, WEBHOOK } from '../../../support/webhooks.ts';

/** Warnings after which the test fails, since an endless loop of promises would hang it. */
const PLENTY = 5;

/** A change set that creates a brand. */
function changeSetOf(sequence: number): ChangeSet {
  return {
    sequence,
    previous: '',
    digest: '',
    time: '2026-01-01T00:00:00.000Z',
    last_ids: {},
    put: { brands: [{ id: sequence, name: 'A', logo: '', first_letter: '' }] },
    delete: {},
  };
}

/** A change set with messages of one brand each. */
function longChangeSetOf(sequence: number): ChangeSet {
  const row = { name: 'A'.repeat(140_000), logo: '', first_letter: '' };
  const brands = [1, 2, 3].map((id) => ({ id, ...row }));
  return { ...changeSetOf(sequence), put: { brands } };
}

async function* shortChangeSets(sequence: number, to: number) {
  for (let at = sequence + 1; at <= to; at += 1) yield changeSetOf(at);
}

/** The change sets of a history of which nothing is in memory. */
function changesOf(
  after: ChangeSource['after'],
  options?: ConstructorParameters<typeof SharedChanges>[2],
): SharedChanges {
  return new SharedChanges({ recent: () => undefined }, after, options);
}

function webhookOf(origin: number): Webhook {
  return { ...WEBHOOK, origin };
}

/** A store up to a change set, and a receiver that accepts everything. */
function world(webhook: Webhook, last: number) {
  const store = { last };
  const warnings: string[] = [];
  const told: number[] = [];
  const arrivals = new Arrivals(() => store.last);
  const context: DispatchContext = {
    store: { get: () => webhook as never, oldest: 0 },
    source: {
      get sequence() {
        return store.last;
      },
      arrivals,
    },
    changes: changesOf(shortChangeSets),
    secrets: ONE_SECRET,
    storage: NO_STORAGE,
    send: async ({ body }) => {
      told.push((JSON.parse(body) as { data: { id: number }[] }).data[0]?.id ?? 0);
      return 204;
    },
    isOnDuty: () => true,
    now: Date.now,
    mark: async () => {},
    warn(message) {
      warnings.push(message);
      if (warnings.length >= PLENTY) throw new Error('it goes on for ever');
    },
    onError: () => {},
    onAttempt: () => {},
  };
  const commit = () => {
    store.last += 1;
    void arrivals.announce(store.last);
  };
  return { context, commit, warnings, told };
}

test('a webhook whose position is beyond the store continues at the end of the store and warns once', async () => {
  const webhook = webhookOf(99);
  const { context, commit, warnings, told } = world(webhook, 3);
  const dispatcher = new Dispatcher(context, webhook.id, new DeliveryState(webhook.origin));
  dispatcher.start();
  await until('it has begun', () => warnings.length > 0);
  assert.equal(warnings, [
    'webhook 1 continues after change set 3: its last delivered change sets are not in this store',
  ]);
  commit();
  await until('the next change set is delivered', () => told.length > 0);
  assert.equal(told, [4]);
  await dispatcher.stop(0);
});

test('only a response from 200 to 299 is a success', async () => {
  for (const [status, isSuccess] of [
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [500, false],
  ] as const) {
    const { context } = world(webhookOf(0), 1);
    const attempts: boolean[] = [];
    const state = new DeliveryState(0);
    const send = async () => status;
    const dispatcher = new Dispatcher(
      { ...context, send, onAttempt: (each) => attempts.push(each) },
      1,
      state,
    );
    dispatcher.start();
    await until('it is sent', () => attempts.length > 0);
    await dispatcher.stop(0);
    assert.equal(attempts, [isSuccess], `${status}`);
    const [{ state: outcome, status: listed } = {}] = state.deliveries;
    assert.equal([outcome, listed], [isSuccess ? 'delivered' : 'failed', status]);
  }
});

test('the first failure since the start is logged, also of a webhook that has been failing', async () => {
  const webhook = { ...webhookOf(0), failing_since: '2026-01-01T00:00:00.000Z' };
  const { context, warnings } = world(webhook, 1);
  let attempts = 0;
  const dispatcher = new Dispatcher(
    {
      ...context,
      secrets: {
        id: async () => '',
        secretOf() {
          throw new CatalogError('key_file', 'the key is missing');
        },
      },
      retryDelay: () => 1,
      onAttempt: () => (attempts += 1),
    },
    webhook.id,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('it has failed more than once', () => attempts > 2);
  await dispatcher.stop(0);
  assert.equal(warnings, ['a delivery to webhook 1 failed and is tried again: the key is missing']);
});

test('after a logged failure the first success is logged, and the next failure again', async () => {
  let webhook = webhookOf(0);
  const { context, commit, told } = world(webhook, 1);
  const events: (number | string)[] = [];
  const statuses = [500, 500, 204, 204, 500, 204];
  const dispatcher = new Dispatcher(
    {
      ...context,
      store: { get: () => webhook as never, oldest: 0 },
      async send(request) {
        const status = statuses.shift() ?? 204;
        events.push(status);
        if (status === 204) await context.send(request);
        return status;
      },
      mark: async (_, change) => {
        webhook = { ...webhook, ...change };
      },
      retryDelay: () => 1,
      warn: (message) => events.push(message),
    },
    webhook.id,
    new DeliveryState(0),
  );
  dispatcher.start();
  for (const delivered of [1, 2, 3]) {
    await until('it is delivered', () => told.length === delivered);
    commit();
  }
  await until('the last one is delivered', () => told.length === 4);
  await dispatcher.stop(0);
  const failed = 'a delivery to webhook 1 failed and is tried again: the response was 500';
  const recovered = 'deliveries to webhook 1 succeed again';
  assert.equal(events, [500, failed, 500, 204, recovered, 204, 500, failed, 204, recovered, 204]);
});

test('failing_since stays the time of the first failure until the webhook is deactivated', async () => {
  for (const [status, attempts] of [
    [410, 1],
    [500, 73],
  ] as const) {
    let webhook = webhookOf(0);
    const { context } = world(webhook, 1);
    let time = Date.parse('2026-01-01T00:00:00.000Z');
    const first = '2026-01-01T01:00:00.000Z';
    const changes: Partial<Webhook>[] = [];
    const state = new DeliveryState(0);
    let sent = 0;
    const dispatcher = new Dispatcher(
      {
        ...context,
        store: { get: () => webhook as never, oldest: 0 },
        async send() {
          sent += 1;
          time += 3_600_000;
          return status;
        },
        async mark(_, change) {
          changes.push(change);
          webhook = { ...webhook, ...change };
        },
        now: () => time,
        retryDelay: () => 0,
      },
      webhook.id,
      state,
    );
    dispatcher.start();
    await until('it is deactivated', () => !webhook.active);
    await dispatcher.stop(0);
    assert.is(sent, attempts);
    const failing = attempts > 1 ? [{ failing_since: first }] : [];
    assert.equal(changes, [...failing, { active: false, failing_since: first }]);
  }
});

test('the first success since the start is logged if the webhook has been failing', async () => {
  const webhook = { ...webhookOf(0), failing_since: '2026-01-01T00:00:00.000Z' };
  const { context, warnings, told } = world(webhook, 3);
  const dispatcher = new Dispatcher(
    // As if the disk refused each time: the webhook still counts as failing.
    { ...context, mark: () => Promise.reject(new CatalogError('write_refused', 'no space')) },
    webhook.id,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('all are delivered', () => told.length === 3);
  await dispatcher.stop(0);
  assert.equal(warnings, ['deliveries to webhook 1 succeed again']);
});

test('if the disk refuses to deactivate a webhook, a failure is logged, and the next attempt has its delay', async () => {
  const { context, warnings } = world(webhookOf(0), 1);
  const errors: unknown[] = [];
  let sent = 0;
  const dispatcher = new Dispatcher(
    {
      ...context,
      async send() {
        sent += 1;
        return 410;
      },
      mark: () => Promise.reject(new CatalogError('write_refused', 'no space')),
      onError: (error) => errors.push(error),
      retryDelay: () => 3_600_000,
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('the disk has refused', () => errors.length > 0);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  await dispatcher.stop(0);
  assert.is(sent, 1);
  assert.is(errors.length, 1);
  assert.equal(warnings, [
    'a delivery to webhook 1 failed and is tried again: the response was 410',
  ]);
});

test('a failure is logged again after a webhook was deactivated and activated again', async () => {
  let webhook = webhookOf(0);
  const { context, warnings } = world(webhook, 1);
  const dispatcher = new Dispatcher(
    {
      ...context,
      store: { get: () => webhook as never, oldest: 0 },
      mark: async (_, change) => void (webhook = { ...webhook, ...change }),
      retryDelay: () => 0,
      send: async () => (warnings.length === 1 ? 410 : 500),
    },
    webhook.id,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('it is deactivated', () => warnings.length === 2);
  webhook = { ...webhook, active: true };
  dispatcher.changed(true);
  await until('the next attempt has failed', () => dispatcher.state.deliveries[0]?.status === 500);
  await dispatcher.stop(0);
  assert.equal(warnings, [
    'a delivery to webhook 1 failed and is tried again: the response was 500',
    'webhook 1 is deactivated: the response was 410',
    'a delivery to webhook 1 failed and is tried again: the response was 500',
  ]);
});

test('a history that cannot be read is reported, and not read again at once', async () => {
  const { context } = world(webhookOf(0), 1);
  const errors: unknown[] = [];
  const unreadable = new Error('unreadable');
  const dispatcher = new Dispatcher(
    {
      ...context,
      // oxlint-disable-next-line require-yield
      changes: changesOf(async function* () {
        await turn();
        throw unreadable;
      }),
      onError: (error) => errors.push(error),
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('it is reported', () => errors.length > 0);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  await dispatcher.stop(0);
  assert.equal(errors, [unreadable]);
});

test('while the state cannot be saved, that is reported once, and a stop saves it', async () => {
  const { context } = world(webhookOf(0), 1);
  const full = new Error('no space left on device');
  const errors: unknown[] = [];
  const saved: string[] = [];
  let refused = 0;
  let isFull = true;
  const dispatcher = new Dispatcher(
    {
      ...context,
      storage: {
        ...context.storage,
        async save(_, { text }) {
          if (!isFull) return void saved.push(text);
          refused += 1;
          throw full;
        },
      },
      send: async () => 500,
      retryDelay: (failures) => (failures < 3 ? 0 : 3_600_000),
      onError: (error) => errors.push(error),
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('three failures are not saved', () => refused === 3);
  isFull = false;
  await dispatcher.stop(0);
  assert.equal(errors, [full]);
  assert.equal(
    saved.map((text) => (JSON.parse(text) as { failures: number }).failures),
    [3],
  );
});

test('a failure is saved although nothing is delivered after it, and stop waits for that', async () => {
  const { context } = world(webhookOf(0), 1);
  const free = Promise.withResolvers<void>();
  const saved: string[] = [];
  let failures = 0;
  let isStopped = false;
  const dispatcher = new Dispatcher(
    {
      ...context,
      storage: {
        ...context.storage,
        async save(_, state) {
          const { text } = state;
          await free.promise;
          saved.push(text);
        },
      },
      send: async () => 500,
      onAttempt: () => (failures += 1),
      retryDelay: () => 3_600_000,
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('it has failed', () => failures > 0);
  const stopping = dispatcher.stop(0).then(() => (isStopped = true));
  for (let turns = 0; turns < 10; turns += 1) await turn();
  assert.not.ok(isStopped);
  free.resolve();
  await stopping;
  assert.equal(
    saved.map((text) => (JSON.parse(text) as { failures: number }).failures),
    [1],
  );
});

test('a host that is no longer the writer sends nothing more, also in the middle of its work', async () => {
  const { context, told } = world(webhookOf(0), 3);
  let isOnDuty = true;
  const state = new DeliveryState(0);
  const send: DispatchContext['send'] = async (request) => {
    isOnDuty = false;
    return context.send(request);
  };
  const dispatcher = new Dispatcher({ ...context, send, isOnDuty: () => isOnDuty }, 1, state);
  dispatcher.start();
  await until('the first change set is delivered', () => state.position > 0);
  await dispatcher.stop(0);
  assert.equal(told, [1]);
});

test('a request that fails after another host has become the writer marks no webhook', async () => {
  const { context, warnings } = world(webhookOf(0), 1);
  let isOnDuty = true;
  let marks = 0;
  const sent = Promise.withResolvers<void>();
  const dispatcher = new Dispatcher(
    {
      ...context,
      isOnDuty: () => isOnDuty,
      async mark() {
        marks += 1;
      },
      async send() {
        isOnDuty = false;
        sent.resolve();
        throw new Error('no answer within 15 seconds');
      },
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await sent.promise;
  await dispatcher.stop(0);
  assert.is(marks, 0);
  assert.equal(warnings, []);
});

test('a stop ends deliveries after the message in progress, in the middle of a change set', async () => {
  const { context, told } = world(webhookOf(0), 1);
  const { send } = context;
  let stopped = Promise.resolve();
  const dispatcher: Dispatcher = new Dispatcher(
    {
      ...context,
      changes: changesOf(async function* () {
        yield longChangeSetOf(1);
      }),
      async send(request) {
        stopped = dispatcher.stop(60_000);
        return send(request);
      },
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('a message is sent', () => told.length > 0);
  await stopped;
  assert.equal(told, [1]);
  assert.is(dispatcher.state.position, 0);
});

test('a stop ends the reading of change sets of which nothing is delivered', async () => {
  const webhook = { ...webhookOf(0), resources: '["books"]' };
  const { context } = world(webhook, 1000);
  let read = 0;
  const stopped = Promise.withResolvers<void>();
  const dispatcher: Dispatcher = new Dispatcher(
    {
      ...context,
      changes: changesOf(async function* (sequence, to) {
        read += 1;
        if (read === 3) stopped.resolve(dispatcher.stop(0));
        yield* shortChangeSets(sequence, to);
      }),
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await stopped.promise;
  assert.is(read, 3);
});

test('webhooks whose receivers do not answer share a long change set, which is read once', async () => {
  const { context } = world(webhookOf(0), 1);
  let read = 0;
  const changes = changesOf(async function* () {
    read += 1;
    yield longChangeSetOf(1);
  });
  const sent: string[] = [];
  const turnsWithRequests = new Set<number>();
  const answer = Promise.withResolvers<number>();
  const dispatchers: Dispatcher[] = [];
  await countingTurns(async (turns) => {
    const send: DispatchContext['send'] = ({ body }) => {
      sent.push(body);
      turnsWithRequests.add(turns());
      return answer.promise;
    };
    for (let nth = 0; nth < 100; nth += 1) {
      dispatchers.push(new Dispatcher({ ...context, changes, send }, 1, new DeliveryState(0)));
    }
    for (const dispatcher of dispatchers) dispatcher.start();
    await until('each has sent a message', () => sent.length === dispatchers.length);
  });
  assert.is(new Set(sent).size, 1);
  assert.is(read, 1);
  assert.ok(turnsWithRequests.size > 1, 'signing them all at once would block the event loop');
  answer.resolve(204);
  await until('all are delivered', () => dispatchers.every(({ state }) => state.position === 1));
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop(0)));
  assert.is(sent.length, 300);
  assert.is(read, 1);
});

test('a message to a receiver that fails holds no text, so that other webhooks need not wait', async () => {
  const { context } = world(webhookOf(0), 2);
  const changes = changesOf(
    async function* (sequence) {
      yield longChangeSetOf(sequence + 1);
    },
    // Only one text is kept, and a clock that stands still does not take it from its reader.
    { maxBytes: 1, now: () => 0 },
  );
  const requests: PromiseWithResolvers<number>[] = [];
  const send: DispatchContext['send'] = () => {
    const request = Promise.withResolvers<number>();
    requests.push(request);
    return request.promise;
  };
  const failing = new Dispatcher(
    { ...context, changes, send, retryDelay: () => 1 },
    1,
    new DeliveryState(0),
  );
  failing.start();
  await until('the first attempt begins', () => requests.length === 1);
  requests[0]?.resolve(500);
  await until('the next attempt begins', () => requests.length === 2);
  const other = new Dispatcher({ ...context, changes }, 1, new DeliveryState(1));
  other.start();
  await until('the other one is delivered', () => other.state.position === 2);
  requests[1]?.resolve(204);
  await until('the rest is sent, too', () => requests.length === 3);
  assert.equal(
    failing.state.deliveries.map(({ id }) => id.slice(-2)),
    ['_1'],
  );
  requests[2]?.resolve(204);
  await Promise.all([other.stop(0), failing.stop(0)]);
});

test('a stop while a webhook waits for a text sends nothing', async () => {
  const { context, told } = world(webhookOf(0), 1);
  const reading = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const changes = changesOf(async function* () {
    reading.resolve();
    await read.promise;
    yield changeSetOf(1);
  });
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const dispatcher = new Dispatcher({ ...context, changes, onError }, 1, new DeliveryState(0));
  dispatcher.start();
  await reading.promise;
  await dispatcher.stop(0);
  read.resolve();
  assert.equal([told, errors], [[], []]);
  assert.is(dispatcher.state.position, 0);
});

test('a change set that is delivered is not delivered again for other resources', async () => {
  let webhook = webhookOf(0);
  const { context, commit, told } = world(webhook, 1);
  const dispatcher: Dispatcher = new Dispatcher(
    {
      ...context,
      store: { get: () => webhook as never, oldest: 0 },
      async send(request) {
        if (told.length === 0) {
          webhook = { ...webhook, resources: '["brands"]' };
          dispatcher.changed(true);
        }
        return context.send(request);
      },
    },
    1,
    new DeliveryState(0),
  );
  dispatcher.start();
  await until('it is delivered', () => told.length > 0);
  commit();
  await until('the next one is delivered', () => dispatcher.state.position === 2);
  await dispatcher.stop(0);
  assert.equal(told, [1, 2]);
});

test.run();
