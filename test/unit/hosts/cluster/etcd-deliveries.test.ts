/** spec 15.28: the state of deliveries that the next writer reads, and how often it is written. */
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, messageOf } from '../../../../src/errors.ts';
import { EtcdDeliveries } from '../../../../src/hosts/cluster/etcd-deliveries.ts';
import { transact } from '../../../../src/hosts/cluster/etcd-keys.ts';
import { DeliveryState } from '../../../../src/resources/webhooks/delivery-state.ts';
import { codeOf } from '../../../support/failure.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';

const message = (sequence: number) => ({
  id: `msg_${sequence}`,
  sequence,
  changes: 1,
  body: '{}',
  progress: { of: `msg_${sequence}`, messages: 1, changes: 1 },
});

/** A webhook to which everything up to a change set was delivered. */
function stateAt(position: number): DeliveryState {
  const state = new DeliveryState(position);
  state.delivered(message(position), { status: 204, error: null }, 0);
  return state;
}

/** Longer than the time between two writes. */
const anotherWrite = () => pause(1500);

const positionIn = (text: string | null) => DeliveryState.parse(text ?? '')?.position;
const listIn = (text: string | null) =>
  DeliveryState.parse(text ?? '')?.deliveries.map(({ sequence }) => sequence);

/** Hosts over one etcd; each call makes another one the writer. */
function world() {
  const client = new MemoryEtcd();
  const errors: string[] = [];
  const writer = async (name: string): Promise<string> => {
    const steps = [{ put: 'writer', value: name }, { get: 'writer' }];
    return (await transact(client, [], steps)).found[1]?.[0]?.revision ?? '';
  };
  const clock = { now: 0 };
  const host = () =>
    new EtcdDeliveries({
      client,
      onError: (error) => void errors.push(messageOf(error)),
      now: () => clock.now,
    });
  return { client, clock, errors, writer, host };
}

test('the next writer continues from the position of the previous one and has its list of deliveries', async () => {
  const { writer, host } = world();
  const [one, two] = [host(), host()];
  await one.open(await writer('one'));
  assert.equal(one.ids(), []);
  for (let id = 1; id <= 20; id += 1) await one.save(id, stateAt(40 + id));
  await one.close();
  await two.open(await writer('two'));
  assert.is(two.ids().length, 20);
  assert.is(positionIn(two.load(17)), 57);
  assert.equal(listIn(two.load(17)), [57]);
  assert.is(two.load(21), null);
  await two.close();
});

test('a host that is no longer the writer, but does not know it, changes nothing', async () => {
  const { writer, host } = world();
  const [one, two] = [host(), host()];
  await one.open(await writer('one'));
  await two.open(await writer('two'));
  for (const id of [1, 2]) await two.save(id, stateAt(9));
  await two.close();
  await one.save(1, stateAt(7));
  await one.forget(2);
  await one.close();
  for (const id of [1, 2]) assert.equal(listIn(await host().latest(id)), [9]);
});

test('many saves make one write of the position, the list is written once a minute, and closing writes both', async () => {
  const { client, clock, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  const before = client.writes;
  const state = stateAt(1);
  for (let position = 1; position <= 500; position += 1) {
    state.position = position;
    await one.save(1, state);
  }
  assert.is(client.writes, before, 'a save is not a write');
  while (client.writes === before) await pause(5);
  assert.is(positionIn(await host().latest(1)), 500);
  const written: unknown[] = [];
  const look = async () => {
    const text = await host().latest(1);
    written.push([positionIn(text), listIn(text)]);
  };
  for (const [position, now] of [
    [501, 59_999],
    [502, 60_000],
    [503, 60_000],
  ] as const) {
    clock.now = now;
    const earlier = client.writes;
    state.delivered(message(position), { status: 204, error: null }, 0);
    state.position = position;
    await one.save(1, state);
    while (client.writes === earlier) await pause(5);
    await look();
  }
  const idle = client.writes;
  await anotherWrite();
  assert.is(client.writes, idle, 'nothing has changed');
  await one.close();
  await look();
  assert.equal(written, [
    [501, [1]],
    [502, [502, 501, 1]],
    [503, [502, 501, 1]],
    [503, [503, 502, 501, 1]],
  ]);
  assert.is(client.writes - before, 5);
});

test('a state is written once etcd answers again, and the failure is reported once', async () => {
  const { client, errors, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  client.isSilent = true;
  await one.save(1, stateAt(5));
  await one.save(2, stateAt(5));
  while (errors.length === 0) await pause(5);
  await one.save(1, stateAt(6));
  client.isSilent = false;
  await one.close();
  const texts = [await host().latest(1), await host().latest(2)];
  assert.equal(texts.map(positionIn), [6, 5]);
  assert.equal(texts.map(listIn), [[6], [5]]);
  assert.equal(errors, ['etcd does not answer']);
});

test('a position whose write failed is written once etcd answers again, without another save', async () => {
  const { client, errors, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  const positionIs = async (position: number) => {
    while (positionIn(await host().latest(1)) !== position) await pause(5);
  };
  const state = stateAt(4);
  await one.save(1, state);
  await positionIs(4);
  client.isSilent = true;
  state.position = 5;
  await one.save(1, state);
  while (errors.length === 0) await pause(5);
  await anotherWrite();
  assert.is(errors.length, 1, 'the first of several failures is reported');
  client.isSilent = false;
  await positionIs(5);
  await one.close();
});

test('what was saved in an earlier term is not written over the progress of another writer', async () => {
  const { writer, host } = world();
  const [one, two] = [host(), host()];
  await one.open(await writer('one'));
  await one.close();
  await one.save(1, stateAt(3));
  await two.open(await writer('two'));
  await two.save(1, stateAt(9));
  await two.close();
  await one.open(await writer('one'));
  await one.save(2, stateAt(4));
  await one.close();
  const texts = [await host().latest(1), await host().latest(2)];
  assert.equal(texts.map(positionIn), [9, 4]);
  assert.equal(texts.map(listIn), [[9], [4]]);
});

test('closing ends even if etcd does not answer', async () => {
  const { client, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  for (let id = 1; id <= 100; id += 1) await one.save(id, stateAt(5));
  client.isSilent = true;
  await one.close();
  assert.equal(client.values, { writer: 'one' });
});

test('the state of a deleted webhook is removed', async () => {
  const { client, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  await one.save(1, stateAt(5));
  await one.save(2, stateAt(6));
  await one.close();
  await one.open(await writer('one'));
  await one.forget(1);
  await one.close();
  assert.is(await host().latest(1), null);
  assert.is(client.values['deliveries/places'], JSON.stringify({ 2: stateAt(6).place }));
});

test('the state of a webhook that is deleted before it was written is not written', async () => {
  const { client, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  await one.save(1, stateAt(5));
  await one.save(2, stateAt(6));
  await one.forget(1);
  await one.close();
  assert.is(client.values['deliveries/states/1'], undefined);
  assert.is(client.values['deliveries/places'], JSON.stringify({ 2: stateAt(6).place }));
});

/** Holds the next write of progress. */
function heldWrite(client: MemoryEtcd) {
  const [begun, outcome] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const key = Buffer.from('/shop/deliveries/places').toString('base64');
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    if (!JSON.stringify(body).includes(`"request_put":{"key":"${key}"`)) return call(path, body);
    client.call = call;
    begun.resolve();
    await outcome.promise;
    return call(path, body);
  };
  return { begun: begun.promise, carryOut: outcome.resolve, fail: outcome.reject };
}

test('the state of a webhook that is deleted during a write that fails is not written later', async () => {
  const { client, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  const write = heldWrite(client);
  await one.save(1, stateAt(5));
  await write.begun;
  await one.forget(1);
  write.fail(new CatalogError('log_unavailable', 'the connection is lost'));
  await one.save(2, stateAt(6));
  await one.close();
  assert.equal(
    Object.keys(client.values).filter((key) => key.startsWith('deliveries/')),
    ['deliveries/places', 'deliveries/states/2'],
  );
});

test('the last write of a host that stops comes after the one that is under way', async () => {
  const { client, writer, host } = world();
  const one = host();
  await one.open(await writer('one'));
  const write = heldWrite(client);
  const state = stateAt(5);
  await one.save(1, state);
  await write.begun;
  state.position = 6;
  await one.save(1, state);
  const closed = one.close();
  await pause(5);
  write.carryOut();
  await closed;
  assert.is(positionIn(await host().latest(1)), 6);
});

test('the state of a single host is copied to etcd only the first time', async () => {
  const { writer, host } = world();
  const own = (position: number) => ({ ids: () => [3], load: () => stateAt(position).text });
  await host().offer(own(8));
  await host().offer(own(2));
  const one = host();
  await one.open(await writer('one'));
  assert.is(positionIn(one.load(3)), 8);
  assert.equal(listIn(one.load(3)), [8]);
  await one.close();
});

test('a host that is slow to share its states replaces no progress of the writer', async () => {
  const { writer, host } = world();
  const ids = Array.from({ length: 50 }, (_, id) => id);
  const slow = host().offer({ ids: () => ids, load: () => stateAt(2).text });
  const one = host();
  await one.offer({ ids: () => [], load: () => null });
  await one.open(await writer('one'));
  for (const id of ids) await one.save(id, stateAt(9));
  await one.close();
  await slow;
  for (const id of ids) {
    const text = await host().latest(id);
    assert.equal([positionIn(text), listIn(text)], [9, [9]]);
  }
});

test('webhooks of which only a position or only a list is left are found, so that both are removed', async () => {
  const { client, writer, host } = world();
  const { place, text } = stateAt(5);
  const steps = [
    { put: 'deliveries/places', value: JSON.stringify({ 1: place }) },
    { put: 'deliveries/states/2', value: text },
  ];
  await transact(client, [], steps);
  const one = host();
  await one.open(await writer('one'));
  assert.equal(one.ids(), [1, 2]);
  for (const id of one.ids()) assert.is(positionIn(one.load(id)), 5);
  await one.close();
});

test('a position is enough to continue from, if the rest of a state is damaged', async () => {
  const { client, writer, host } = world();
  const steps = [
    { put: 'deliveries/places', value: JSON.stringify({ 1: stateAt(5).place }) },
    { put: 'deliveries/states/1', value: '{"deliv' },
  ];
  await transact(client, [], steps);
  const one = host();
  await one.open(await writer('one'));
  assert.is(positionIn(one.load(1)), 5);
  await one.close();
});

test('malformed positions in etcd are reported as store_damaged', async () => {
  const { client, writer, host } = world();
  await transact(client, [], [{ put: 'deliveries/places', value: '[1]' }]);
  assert.is(await codeOf(host().open(await writer('one'))), 'store_damaged');
});

test.run();
