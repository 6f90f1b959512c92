/** spec 15.26, 15.28: which host is the writer, and for how long it may rely on its lease. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import type { ReplicationState } from '../../../../src/hosts/cluster/log-follower.ts';
import { transact } from '../../../../src/hosts/cluster/etcd-keys.ts';
import { readLiveHosts, Registry } from '../../../../src/hosts/cluster/registry.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { until } from '../../../support/until.ts';

function world() {
  const client = new MemoryEtcd();
  const clock = { monotonic: 0, wall: 0 };
  const registries: Registry[] = [];
  const errors: string[] = [];
  const join = (name: string, origin: string | null = `http://${name}`) => {
    const host = { state: 'in sync' as ReplicationState };
    const registry = new Registry({
      client,
      name,
      origin,
      sequence: () => 17,
      baseBytes: () => 4096,
      replicationState: () => host.state,
      onError: (error) => void errors.push(messageOf(error)),
      beatMs: 2,
      now: () => clock.monotonic,
      clocks: () => ({ ...clock }),
    });
    registries.push(registry);
    return Object.assign(host, { registry });
  };
  const close = () => Promise.all(registries.map((registry) => registry.close()));
  return { client, clock, errors, join, close };
}

test('a single host becomes the writer, even without an address, and makes its writes itself', async () => {
  for (const origin of [null, 'http://a']) {
    const { join, close } = world();
    const { registry } = join('a', origin);
    await until('it is the writer', () => registry.term !== null);
    assert.is(registry.writerOrigin, null);
    await close();
  }
});

test('a key among those of the hosts that none of them wrote does not keep them from each other', async () => {
  const { client, errors, join, close } = world();
  for (const [nth, value] of ['', 'x', 'null', '{"origin":1}'].entries()) {
    await transact(client, [], [{ put: `hosts/${nth}`, value }]);
  }
  const a = join('a');
  await until('the first one writes', () => a.registry.term !== null);
  const b = join('b');
  await until('the second one knows', () => b.registry.writerOrigin === 'http://a');
  assert.equal(b.registry.liveHosts.map(({ name }) => name).toSorted(), ['a', 'b']);
  assert.equal((await readLiveHosts(client)).map(({ name }) => name).toSorted(), ['a', 'b']);
  assert.equal(errors, []);
  await close();
});

test('a host without an address is the writer only while no host with an address can be', async () => {
  const { join, close } = world();
  const a = join('a', null);
  await until('the first one writes', () => a.registry.term !== null);
  const b = join('b');
  await until('the second one does', () => b.registry.term !== null);
  await until('the first one knows', () => a.registry.writerOrigin === 'http://b');
  assert.is(a.registry.term, null);
  b.state = 'stopped';
  await until('the second one cannot go on', () => a.registry.term !== null);
  await close();
});

test('a host without an address does not take the role while a host in sync has one', async () => {
  const { client, join, close } = world();
  const value = '{"origin":"http://b","sequence":1,"base_bytes":1,"in_step":true}';
  await transact(client, [], [{ put: 'hosts/b', value }]);
  const call = client.call.bind(client);
  const writers = new Set<string | undefined>();
  client.call = async (path, body) => {
    const response = await call(path, body);
    writers.add(client.values['writer']);
    return response;
  };
  const { registry } = join('a', null);
  await until('it knows the other one', () => registry.liveHosts.length === 2);
  const { writes } = client;
  await until('there were some beats', () => client.writes > writes + 3);
  assert.equal([...writers], [undefined]);
  await close();
});

test('a writer that is stopped is replaced, and a writer whose log is unreachable is not', async () => {
  const { client, join, close } = world();
  const a = join('a');
  await until('the first one writes', () => a.registry.term !== null);
  const b = join('b');
  await until('both are there', () => a.registry.liveHosts.length === 2);
  const { term } = a.registry;
  assert.is.not(term, null);
  a.state = 'unreachable';
  const { writes } = client;
  await until('there were some beats', () => client.writes > writes + 6);
  assert.is(a.registry.term, term);
  a.state = 'stopped';
  await until('the second one writes', () => b.registry.term !== null);
  assert.is(a.registry.term, null);
  await close();
});

test('a writer that gives its role up does not rely on it if there is no response', async () => {
  const { client, errors, join, close } = world();
  const a = join('a');
  await until('the first one writes', () => a.registry.term !== null);
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    const response = await call(path, body);
    // The role is given up by the only call that removes a key.
    if (JSON.stringify(body).includes('request_delete_range')) client.isSilent = true;
    if (client.isSilent) throw new Error('the connection is lost');
    return response;
  };
  a.state = 'stopped';
  await until('the response is lost', () => errors.length > 0);
  const { term } = a.registry;
  client.isSilent = false;
  await close();
  assert.is(client.values['writer'], undefined, 'another host may be the writer');
  assert.is(term, null);
});

test('a host does not rely on the last 2 seconds of its lease, by either clock', async () => {
  const { client, clock, errors, join, close } = world();
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  client.isSilent = true;
  await until('its sign of life is not answered', () => errors.length > 0);
  const { writes } = client;
  clock.monotonic = 13_000;
  assert.ok(registry.term !== null);
  clock.monotonic += 1;
  assert.is(registry.term, null);
  clock.monotonic = 5000;
  assert.ok(registry.term !== null);
  clock.wall = 13_001;
  assert.is(registry.term, null, 'the machine has slept');
  client.isSilent = false;
  // It relies on its lease as soon as that is renewed, which is before it writes its key.
  await until('it is answered again', () => registry.term !== null);
  await until('it writes its key', () => client.writes > writes);
  assert.equal(errors, ['etcd does not answer'], 'reported once');
  await close();
});

test('a writer that lost its lease gets a new term, even if no other host was the writer', async () => {
  const { client, join, close } = world();
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  const { term } = registry;
  client.endLeases();
  await until('it is the writer again', () => ![null, term].includes(registry.term));
  await close();
});

test('a lease counts from when its renewal was sent, however late the response is', async () => {
  const { client, clock, errors, join, close } = world();
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    const response = await call(path, body);
    if (path.startsWith('lease/')) clock.monotonic += 5000;
    return response;
  };
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  client.isSilent = true;
  await until('its beats are not answered', () => errors.length > 0);
  clock.monotonic += 8000;
  assert.ok(registry.term !== null);
  clock.monotonic += 1;
  assert.is(registry.term, null);
  client.isSilent = false;
  await close();
});

test('a writer that has lost its lease is none, even while it gets no other lease', async () => {
  const { client, errors, join, close } = world();
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  const call = client.call.bind(client);
  client.call = (path, body) => {
    if (path === 'lease/grant') throw new Error('etcd grants no lease');
    return call(path, body);
  };
  client.endLeases();
  await until('it asks for another lease', () => errors.length > 0);
  assert.is(registry.term, null);
  await close();
});

test('a host that is not in sync does not become the writer', async () => {
  const { client, join, close } = world();
  const a = join('a');
  a.state = 'catching up';
  const { writes } = client;
  await until('there were some beats', () => client.writes > writes + 3);
  assert.is(client.values['writer'], undefined);
  a.state = 'in sync';
  await until('it writes', () => a.registry.term !== null);
  await close();
});

test('a host that gives its role up leaves the role of another host as it is', async () => {
  const { client, join, close } = world();
  const a = join('a');
  await until('the first one writes', () => a.registry.term !== null);
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    if (JSON.stringify(body).includes('request_delete_range')) {
      client.call = call;
      await transact(client, [], [{ put: 'writer', value: 'b' }]);
    }
    return call(path, body);
  };
  a.state = 'stopped';
  await until('it has given its role up', () => client.call === call);
  const { writes } = client;
  await until('there were some beats', () => client.writes > writes + 3);
  assert.is(client.values['writer'], 'b');
  await close();
});

test('a host that stops leaves no key behind, and others need not wait for the end of its lease', async () => {
  const { client, join, close } = world();
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  await close();
  assert.equal(client.values, {});
});

test('a host that has not heard of the others for as long as their leases last passes no writes to them', async () => {
  const { client, clock, errors, join, close } = world();
  clock.monotonic = 60_000;
  const a = join('a');
  await until('the first one writes', () => a.registry.term !== null);
  const b = join('b');
  await until('the second one knows', () => b.registry.writerOrigin === 'http://a');
  client.isSilent = true;
  await until('the beats of both are not answered', () => errors.length === 2);
  clock.monotonic += 14_999;
  assert.is(b.registry.writerOrigin, 'http://a');
  clock.monotonic += 1;
  assert.is(b.registry.writerOrigin, null);
  client.isSilent = false;
  await close();
});

test('a writer that was killed and starts again does not pass its writes to its own address', async () => {
  const { client, join, close } = world();
  const before = '{"origin":"http://a","sequence":1,"base_bytes":1,"in_step":true}';
  const steps = [
    { put: 'hosts/killed', value: before },
    { put: 'writer', value: 'killed' },
  ];
  await transact(client, [], steps);
  const a = join('a');
  const b = join('b');
  await until('the other host knows', () => b.registry.writerOrigin === 'http://a');
  await until('both are there', () => a.registry.liveHosts.length === 3);
  assert.is(a.registry.writerOrigin, null);
  await close();
});

test('of two hosts that find no writer at the same time only one becomes the writer', async () => {
  const { client, join, close } = world();
  const key = Buffer.from('/shop/writer').toString('base64');
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    if (JSON.stringify(body).includes(`"request_put":{"key":"${key}"`)) {
      client.call = call;
      await transact(client, [], [{ put: 'writer', value: 'b' }]);
    }
    return call(path, body);
  };
  const a = join('a');
  await until('the first one wants to write', () => client.call === call);
  const { writes } = client;
  await until('there were some beats', () => client.writes > writes + 3);
  assert.equal([client.values['writer'], a.registry.term], ['b', null]);
  await close();
});

test('a host reports to the others what it has and how large its base is', async () => {
  const { client, join, close } = world();
  const { registry } = join('a');
  await until('it has reported', () => registry.liveHosts.length === 1);
  const own = { name: 'a', origin: 'http://a', sequence: 17, baseBytes: 4096, isInSync: true };
  assert.equal(await readLiveHosts(client), [own]);
  await close();
});

test('a lease lasts 15 seconds', async () => {
  const { client, join, close } = world();
  const granted: unknown[] = [];
  const call = client.call.bind(client);
  client.call = (path, body) => {
    if (path === 'lease/grant') granted.push(body);
    return call(path, body);
  };
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  assert.equal(granted, [{ TTL: 15 }]);
  await close();
});

test('a host that stops during a heartbeat leaves no key behind', async () => {
  const { client, join, close } = world();
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = client.call.bind(client);
  let isAsked = false;
  client.call = async (path, body) => {
    if (path === 'lease/grant') {
      isAsked = true;
      await promise;
    }
    return call(path, body);
  };
  join('a');
  await until('it asks for a lease', () => isAsked);
  const closed = close();
  resolve();
  await closed;
  // A heartbeat that went on would write its keys in these turns.
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  assert.equal(client.values, {});
});

test('a host stops without an error if etcd does not answer', async () => {
  const { client, join, close } = world();
  const { registry } = join('a');
  await until('it is the writer', () => registry.term !== null);
  client.isSilent = true;
  await close();
});

test.run();
