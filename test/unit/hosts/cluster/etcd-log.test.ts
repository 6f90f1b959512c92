/** src/hosts/cluster/etcd-log.ts: what is damaged in etcd is refused, and the error names it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { transact } from '../../../../src/hosts/cluster/etcd-keys.ts';
import { EtcdLog } from '../../../../src/hosts/cluster/etcd-log.ts';
import type { LogPosition } from '../../../../src/store/change-log.ts';
import { encodeChangeSet } from '../../../../src/store/files/change-set.ts';
import { codeOf, failureMessage } from '../../../support/failure.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { until } from '../../../support/until.ts';

const ORIGIN = { sequence: 0, digest: 'a'.repeat(64) };
const FIRST = 'changes/000000000001';

/** A change set without rows. */
function changeSetAfter(sequence: number, previous: string) {
  const time = '2026-01-01T00:00:00.000Z';
  const nothing = { last_ids: {}, put: {}, delete: {} };
  return encodeChangeSet({ sequence: sequence + 1, previous, time, writer: 'w', ...nothing });
}

/** A log with one change set, and the value of a key of it. */
async function filled() {
  const client = new MemoryEtcd();
  const log = new EtcdLog(client);
  await log.begin(ORIGIN);
  const first = changeSetAfter(ORIGIN.sequence, ORIGIN.digest);
  assert.is(await log.append(first), 'appended');
  const put = (key: string, value: string) => transact(client, [], [{ put: key, value }]);
  const { found } = await transact(client, [], [{ get: FIRST }]);
  return { client, log, first, put, value: found[0]?.[0]?.value.toString() ?? '' };
}

test('a change set that is damaged in the log is refused', async () => {
  const { log, put, value } = await filled();
  assert.is((await log.read(0)).length, 1);
  const endless = value.replace('"parts":0', '"parts":129');
  const all = ['', 'null\n', '{}\n', value.slice(1), value.replace('\n', ' '), endless];
  for (const damaged of all) {
    await put(FIRST, damaged);
    const message = await failureMessage(log.read(0), 'store_damaged');
    assert.is(message, 'a change set in the log is damaged', JSON.stringify(damaged));
  }
});

test('a head that is damaged in the log is refused', async () => {
  const { log, first, put } = await filled();
  const { digest } = first.changeSet;
  for (const damaged of ['', '1', `1:${digest.slice(1)}`, `:${digest}`, `1:${digest}0`, 'null']) {
    await put('head', damaged);
    for (const work of [() => log.head(), () => log.read(0)]) {
      assert.is(await failureMessage(work, 'store_damaged'), 'head in the log is damaged');
    }
  }
});

test('an append is no conflict if the log has removed that change set, or has lost those before it', async () => {
  const { client, log, first } = await filled();
  const later = changeSetAfter(5, first.changeSet.digest);
  assert.is(await codeOf(log.append(later)), 'history_differs');
  await log.trim(2);
  assert.is(await codeOf(log.append(first)), 'history_gone');
  await transact(client, [], [{ remove: 'head' }]);
  assert.is(await codeOf(log.append(first)), 'history_differs');
});

test('an append that is repeated is one, and another change set under its number is a conflict', async () => {
  const { log, first } = await filled();
  assert.is(await log.append(first), 'appended');
  const { sequence, previous } = first.changeSet;
  const time = '2026-01-02T00:00:00.000Z';
  const nothing = { last_ids: {}, put: {}, delete: {} };
  const other = encodeChangeSet({ sequence, previous, time, writer: 'v', ...nothing });
  assert.is(await log.append(other), 'conflict');
  await log.append(changeSetAfter(1, first.changeSet.digest));
  assert.is(await log.append(first), 'appended');
  assert.is(await log.append(other), 'conflict');
  assert.equal(await log.read(0, 1), [first.bytes]);
});

test('a read ends at the head, and fails after it, before what is kept, and at a gap', async () => {
  const { client, log, first } = await filled();
  const second = changeSetAfter(1, first.changeSet.digest);
  const third = changeSetAfter(2, second.changeSet.digest);
  for (const each of [second, third]) await log.append(each);
  assert.equal(await log.read(3), []);
  assert.is(await codeOf(log.read(4)), 'history_differs');
  await transact(client, [], [{ remove: 'changes/000000000002' }]);
  assert.equal(await log.read(0), [first.bytes]);
  assert.is(await codeOf(log.read(1)), 'history_gone');
  await transact(client, [], [{ remove: 'origin' }]);
  assert.is(await codeOf(log.head()), 'history_differs');
});

test('change sets before one of a newer schema are read', async () => {
  const { client, log, first } = await filled();
  await new EtcdLog(client, 99).append(changeSetAfter(1, first.changeSet.digest));
  assert.equal(await log.read(0), [first.bytes]);
  assert.match(await failureMessage(log.read(1), 'schema_version'), 'schema version 99');
});

test('a change set of more than 64 MiB is refused, and one of 128 parts is not damaged', async () => {
  const { log, first, put, value } = await filled();
  const { changeSet } = changeSetAfter(1, first.changeSet.digest);
  const bytes = Buffer.alloc(64 * 1024 * 1024 + 1);
  assert.is(await codeOf(log.append({ changeSet, bytes })), 'body_too_large');
  await put(FIRST, value.replace('"parts":0', '"parts":128'));
  assert.is(await codeOf(log.read(0)), 'history_gone', 'its parts are missing');
});

test('a log whose keys were removed ends before every host, and a read says so', async () => {
  const client = new (class extends MemoryEtcd {
    override async *watch(_: object, signal: AbortSignal): AsyncGenerator {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield* [];
    }
  })();
  const log = new EtcdLog(client);
  await log.begin(ORIGIN);
  await transact(client, [], [{ remove: 'head' }, { remove: 'origin' }]);
  const heads: (LogPosition | null)[] = [];
  const end = log.follow((head) => heads.push(head));
  await until('the head is asked for', () => heads.length > 0);
  await end();
  assert.is(heads[0]?.sequence, -1);
  assert.match(await failureMessage(log.read(0), 'history_differs'), 'the log in etcd is empty');
});

test('a read of large change sets ends before all of them are in memory', async () => {
  const log = new EtcdLog(new MemoryEtcd());
  await log.begin(ORIGIN);
  let previous = ORIGIN.digest;
  for (let sequence = 1; sequence <= 3; sequence += 1) {
    const { changeSet } = changeSetAfter(sequence - 1, previous);
    // The log takes whatever bytes there are.
    await log.append({ changeSet, bytes: Buffer.alloc(6 * 1024 * 1024, sequence) });
    previous = changeSet.digest;
  }
  const read = await log.read(0);
  assert.equal(
    read.map((bytes) => [bytes.length, bytes[0]]),
    [
      [6 * 1024 * 1024, 1],
      [6 * 1024 * 1024, 2],
    ],
  );
  assert.is((await log.read(0, 1)).length, 1, 'nor does it ask for more than the caller wants');
  const rest = await log.read(read.length);
  assert.equal(
    rest.map((bytes) => bytes[0]),
    [3],
  );
});

test('change sets that a slow network cannot carry in the time of one call are read in fewer at a time', async () => {
  const client = new MemoryEtcd();
  const log = new EtcdLog(client);
  await log.begin(ORIGIN);
  let previous = ORIGIN.digest;
  for (let sequence = 1; sequence <= 16; sequence += 1) {
    const encoded = changeSetAfter(sequence - 1, previous);
    await log.append(encoded);
    previous = encoded.changeSet.digest;
  }
  const call = client.call.bind(client);
  let failures = 0;
  const limits = new Set<string | undefined>();
  client.call = async (path, body) => {
    limits.add(/"limit":(\d+)/.exec(JSON.stringify(body))?.[1]);
    const response = await call(path, body);
    // A few change sets and the head.
    if (JSON.stringify(response).length < 2500) return response;
    failures += 1;
    throw new CatalogError('log_unavailable', 'no answer in 3000 ms');
  };
  let at = 0;
  for (let tries = 0; at < 16 && tries < 40; tries += 1) {
    const read = await log.read(at).catch((error: CatalogError) => {
      assert.is(error.code, 'log_unavailable');
      return [];
    });
    at += read.length;
  }
  assert.is(at, 16);
  assert.ok(failures > 0);
  client.isSilent = true;
  for (let tries = 0; tries < 6; tries += 1)
    assert.is(await codeOf(log.read(0)), 'log_unavailable');
  client.isSilent = false;
  assert.is(limits.has('0'), false, 'to etcd, that would mean any number');
  client.call = call;
  for (let tries = 0; tries < 15; tries += 1) await log.read(0);
  assert.is((await log.read(0)).length, 16, 'a network that is fast again is used');
  assert.is((await log.read(0, 1)).length, 1);
  assert.is((await log.read(0)).length, 16, 'a caller that wants few does not slow down others');
});

test('a log is begun once, also by two hosts at the same time', async () => {
  const client = new MemoryEtcd();
  const other = { sequence: 7, digest: 'b'.repeat(64) };
  const begun = await Promise.all([
    new EtcdLog(client).begin(ORIGIN),
    new EtcdLog(client).begin(other),
  ]);
  assert.equal(begun, [
    { origin: ORIGIN, head: ORIGIN },
    { origin: ORIGIN, head: ORIGIN },
  ]);
});

test('the parts of a change set are removed with it, and no others', async () => {
  const client = new MemoryEtcd();
  const log = new EtcdLog(client);
  await log.begin(ORIGIN);
  const bytes = Buffer.alloc(1024 * 1024);
  const first = changeSetAfter(0, ORIGIN.digest).changeSet;
  const second = changeSetAfter(1, first.digest).changeSet;
  for (const changeSet of [first, second]) await log.append({ changeSet, bytes });
  const parts = () => Object.keys(client.values).filter((key) => key.startsWith('parts/'));
  assert.is(parts().length, 4);
  await log.trim(2);
  const kept = `parts/000000000002/${second.digest}`;
  assert.equal(parts(), [`${kept}/0`, `${kept}/1`]);
  assert.is((await log.read(1))[0]?.length, bytes.length);
  await transact(client, [], [{ remove: `${kept}/1` }]);
  const message = await failureMessage(log.read(1), 'history_gone');
  assert.match(message, 'the log does not keep change set 2 any more');
});

test.run();
