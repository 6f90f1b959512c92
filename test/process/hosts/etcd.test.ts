/** The log, the credentials and the registry in a real etcd node, with TLS and a user. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { openCluster } from '../../../src/app/cluster/open.ts';
import { changeAccess } from '../../../src/auth/access.ts';
import { endTokens } from '../../../src/auth/accounts.ts';
import { LiveCredentials } from '../../../src/auth/credentials.ts';
import { loadKeys } from '../../../src/auth/keys.ts';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { messageOf } from '../../../src/errors.ts';
import { parseLogAddress } from '../../../src/hosts/cluster/address.ts';
import { EtcdClient, type EtcdOptions } from '../../../src/hosts/cluster/etcd-client.ts';
import { EtcdCredentials } from '../../../src/hosts/cluster/etcd-credentials.ts';
import type { Clocks } from '../../../src/hosts/following/confirmation.ts';
import { EtcdLog } from '../../../src/hosts/cluster/etcd-log.ts';
import { transact } from '../../../src/hosts/cluster/etcd-keys.ts';
import { requireSameHistory } from '../../../src/hosts/cluster/joining.ts';
import { readLiveHosts, Registry } from '../../../src/hosts/cluster/registry.ts';
import { trimOnce } from '../../../src/hosts/cluster/trimming.ts';
import type { EncodedChangeSet } from '../../../src/store/change-set.ts';
import { encodeChangeSet } from '../../../src/store/files/change-set.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { refusableDisk } from '../../support/disk.ts';
import {
  CALL_MS,
  type Etcd,
  HAS_ETCD,
  makeCertificate,
  startEtcd,
  testWithEtcd as test,
} from '../../support/etcd.ts';
import { codeOf, failureMessage, failureOf } from '../../support/failure.ts';
import { until } from '../../support/until.ts';

const ORIGIN = 'a'.repeat(64);
const USER = { name: 'root', password: 'correct horse' };

let etcd: Etcd;
let options: EtcdOptions;
let files: ReturnType<typeof makeCertificate>;

uvuTest.before(async () => {
  if (!HAS_ETCD) return;
  files = makeCertificate(temporaryDirectory());
  etcd = await startEtcd(1, { tls: files });
  const [ca, cert, key] = [files.ca, files.cert, files.key].map((path) =>
    readFileSync(path, 'utf8'),
  );
  const certificates = { ca, cert, key };
  options = { endpoints: etcd.endpoints, prefix: '/none/', certificates, timeoutMs: CALL_MS };
  const admin = new EtcdClient(options);
  await admin.call('auth/user/add', USER);
  await admin.call('auth/role/add', { name: 'root' });
  await admin.call('auth/user/grant', { user: USER.name, role: 'root' });
  await admin.call('auth/enable', {});
  options = { ...options, login: USER };
});

uvuTest.after(() => (HAS_ETCD ? etcd.close() : undefined));

const clientFor = (prefix: string) => new EtcdClient({ ...options, prefix });

function next(
  after: { sequence: number; digest: string },
  time = '2026-01-01T00:00:00.000Z',
): EncodedChangeSet {
  const { sequence, digest: previous } = after;
  const rest = { last_ids: {}, writer: 'w', put: {}, delete: {} };
  return encodeChangeSet({ sequence: sequence + 1, previous, time, ...rest });
}

/** Creates a log with `count` change sets. */
async function filled(prefix: string, count: number) {
  const client = clientFor(prefix);
  const log = new EtcdLog(client);
  await log.begin({ sequence: 0, digest: ORIGIN });
  const entries: EncodedChangeSet[] = [];
  let last = { sequence: 0, digest: ORIGIN };
  for (let nth = 0; nth < count; nth += 1) {
    const entry = next(last);
    assert.is(await log.append(entry), 'appended');
    entries.push(entry);
    last = entry.changeSet;
  }
  return { client, log, entries, last };
}

test('an append can be repeated, and conflicts if the head has another successor', async () => {
  const { log, entries, last } = await filled('/append/', 3);
  assert.equal(await log.head(), { sequence: 3, digest: last.digest });
  const [first, second] = entries as [EncodedChangeSet, EncodedChangeSet];
  assert.is(await log.append(first), 'appended', 'a repeated append');
  assert.is(await log.append(next(first.changeSet, 'another')), 'conflict');
  assert.is(await log.append(next(last, 'mine')), 'appended');
  assert.is(await log.append(next(last, 'yours')), 'conflict');
  const read = await log.read(1);
  assert.ok(Buffer.from(read[0] as Uint8Array).equals(Buffer.from(second.bytes)), 'verbatim');
  assert.equal(await log.read(4), []);
});

test('a change set above the request size of etcd is stored in parts; 65 MiB are rejected', async () => {
  const { log, last } = await filled('/parts/', 0);
  const large = next(last, 'x'.repeat(3 * 1024 * 1024));
  assert.is(await log.append(large), 'appended');
  const [read] = await log.read(0);
  assert.ok(Buffer.from(read as Uint8Array).equals(Buffer.from(large.bytes)));
  const excessive = { changeSet: large.changeSet, bytes: new Uint8Array(65 * 1024 * 1024) };
  assert.is(await codeOf(log.append(excessive)), 'body_too_large');
});

test('a host logs in with the first line of its password file', async () => {
  const logPasswordFile = join(temporaryDirectory(), 'password');
  writeFileSync(logPasswordFile, `${USER.password}\n`);
  const cluster = openCluster({
    log: parseLogAddress(etcd.url('password')),
    logCa: files.ca,
    logCert: files.cert,
    logKey: files.key,
    logUser: USER.name,
    logPasswordFile,
  });
  assert.equal(await cluster.others(), []);
});

test('a host that is too far behind, ahead, or of another history cannot join', async () => {
  const { log, entries, last } = await filled('/history/', 6);
  const at = (sequence: number, digest: string) => requireSameHistory(log, { sequence, digest });
  await at(0, ORIGIN);
  await at(2, entries[1]?.changeSet.digest ?? '');
  await at(6, last.digest);
  assert.is(await codeOf(at(7, last.digest)), 'history_differs');
  assert.is(await codeOf(at(3, last.digest)), 'history_differs');
  assert.is(await codeOf(at(0, 'b'.repeat(64))), 'history_differs');
  await log.trim(5);
  assert.is(await codeOf(at(2, entries[1]?.changeSet.digest ?? '')), 'history_gone');
  assert.is(await codeOf(log.read(2)), 'history_gone');
  assert.is(await codeOf(log.read(9)), 'history_differs');
  assert.is(await codeOf(new EtcdLog(clientFor('/empty/')).head()), 'history_differs');
});

test('a host applies change sets up to one of a newer schema, and its error names the version', async () => {
  const { client, log, last } = await filled('/schema/', 1);
  await new EtcdLog(client, 99).append(next(last));
  assert.is((await log.read(0)).length, 1);
  const message = await failureMessage(log.read(1), 'schema_version');
  assert.match(message, /change set 2 .* schema version 99/);
});

test('a follower of the log is notified of the current head and of a new head', async () => {
  const { log, last } = await filled('/follow/', 1);
  const told: (number | undefined)[] = [];
  const stop = log.follow((head) => told.push(head?.sequence));
  await until('the head is told', () => told.includes(1));
  await log.append(next(last));
  await until('the new head is told', () => told.includes(2));
  await stop();
});

test('change sets older than a day are trimmed, except those that a live host still needs', async () => {
  const { client, log, last } = await filled('/marks/', 4);
  const now = Date.UTC(2026, 0, 1);
  const hour = 3600 * 1000;
  /** The log, and a registry with another host, if it has a sequence. */
  const at = (sequence: number | null) => {
    const rest = { name: 'b', origin: null, baseBytes: 0, isInSync: true };
    return {
      client,
      log,
      registry: { term: '7', liveHosts: sequence === null ? [] : [{ ...rest, sequence }] },
    };
  };
  assert.is(await trimOnce(at(null), now), null);
  await log.append(next(last));
  assert.is(await trimOnce(at(null), now + 23 * hour), null);
  assert.is(await trimOnce(at(2), now + 25 * hour), 2);
  assert.is(await codeOf(log.read(0)), 'history_gone');
  assert.is((await log.read(1)).length, 4);
  assert.is(await trimOnce(at(5), now + 49 * hour), 5);
});

test('hosts see each other, one is the writer, and another takes over when it leaves', async () => {
  const client = clientFor('/registry/');
  const member = (name: string, origin: string | null) =>
    new Registry({
      client,
      name,
      origin,
      sequence: () => 7,
      baseBytes: () => 4096,
      replicationState: () => 'in sync',
      onError: (error) => assert.unreachable(messageOf(error)),
    });
  const one = member('one', 'http://127.0.0.1:1');
  await until('the first is the writer', () => one.term !== null);
  assert.is(one.writerOrigin, null);
  const two = member('two', 'http://127.0.0.1:2');
  await until('the second knows it', () => two.writerOrigin === 'http://127.0.0.1:1');
  assert.equal(
    two.liveHosts.map(({ name, sequence }) => [name, sequence]),
    [
      ['one', 7],
      ['two', 7],
    ],
  );
  assert.equal(
    await readLiveHosts(client),
    two.liveHosts,
    'a host that is not there yet sees them too',
  );
  await one.close();
  await until('the second takes over', () => two.term !== null);
  await two.close();
});

test('changes of accounts reach all hosts without loss, and credentials expire after 10 seconds', async () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  const share = (directory: string, clocks?: Clocks) =>
    new EtcdCredentials({
      client: clientFor('/credentials/'),
      disk: machineDisk,
      directory,
      onError: (error) => {
        throw error;
      },
      clocks,
    });
  let [time, wall] = [0, 0];
  const one = share(first);
  const two = share(second, () => ({ monotonic: time, wall }));
  await one.open(async () => void (await loadKeys(first, undefined)));
  await two.open(async () => assert.unreachable('there are keys already'));
  const live = await LiveCredentials.open(second, undefined, { shared: two });
  assert.equal(live.current().keys, await loadKeys(first, undefined));
  assert.is(live.clockDifference, 2);
  const end = (directory: string, shared: EtcdCredentials, subject: string) =>
    changeAccess(machineDisk, directory, (draft, now) => endTokens(draft, subject, now), {
      shared,
    });
  await Promise.all([end(first, one, 'ann'), end(first, one, 'bob')]);
  await until('it is on the other host', () => live.current().access.subjects.size === 2);
  await end(second, two, 'eve');
  await until('and back', () => readFileSync(join(first, 'access.json'), 'utf8').includes('eve'));
  // A host that has not seen the last change cannot overwrite it.
  const stale = share(first);
  const path = join(first, 'access.json');
  assert.is(await codeOf(stale.push({ path, code: 'access_file' }, {})), 'busy');
  await Promise.all([one.close(), two.close()]);
  time += 10_001;
  assert.is(await live.settled(() => null), null, 'asking again confirms them');
  time += 10_001;
  const unconfirmed = /have not been confirmed for 10 seconds/;
  assert.throws(() => live.current(), unconfirmed);
  assert.is(await live.settled(() => null), null);
  // While a machine sleeps, only the wall clock advances.
  wall += 10_001;
  assert.throws(() => live.current(), unconfirmed);
});

test('a host that cannot write changed accounts to its disk accepts no token', async () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  const refusal = { active: false };
  let [time, attempts, reports] = [0, 0, 0];
  const share = (directory: string, disk: Disk) =>
    new EtcdCredentials({
      client: clientFor('/refused/'),
      disk,
      directory,
      onError: () => (reports += 1),
      clocks: () => ({ monotonic: time, wall: 0 }),
    });
  const refusable = refusableDisk(refusal);
  const counting: Disk = {
    ...refusable,
    publish(job) {
      attempts += 1;
      return refusable.publish(job);
    },
  };
  const [one, two] = [share(first, machineDisk), share(second, counting)];
  await one.open(async () => void (await loadKeys(first, undefined)));
  await two.open(async () => assert.unreachable('there are keys already'));
  const live = await LiveCredentials.open(second, undefined, { shared: two });
  const end = (directory: string, disk: Disk, shared: EtcdCredentials, subject: string) =>
    changeAccess(disk, directory, (draft, now) => endTokens(draft, subject, now), { shared });
  refusal.active = true;
  await end(first, machineDisk, one, 'ann');
  time += 10_001;
  const before = attempts;
  await until('the other host has tried again', () => attempts > before + 1);
  assert.is(reports, 1);
  assert.throws(() => live.current(), /have not been confirmed for 10 seconds/);
  refusal.active = false;
  const subjects = () => live.settled(({ access }) => access.subjects.size).catch(() => 0);
  await until('it has the change', async () => (await subjects()) === 1);

  refusal.active = true;
  const own = await failureOf(end(second, counting, two, 'bob'));
  assert.match(own.message, 'the change was made on the other hosts');
  assert.is(own.code, 'write_unknown');
  await until('they have it', () =>
    readFileSync(join(first, 'access.json'), 'utf8').includes('bob'),
  );
  refusal.active = false;
  await until('and so has this one', () => live.current().access.subjects.size === 2);
  await Promise.all([one.close(), two.close()]);
});

test('the error for a wrong password says so, and a client without a certificate fails', async () => {
  const wrong = new EtcdClient({ ...options, login: { name: 'root', password: 'wrong' } });
  const refused = await failureOf(transact(wrong, [], [{ get: 'head' }]));
  assert.match(refused.message, 'does not accept the user and password');
  const { login } = options;
  const bare = new EtcdClient({ endpoints: options.endpoints, prefix: '/none/', login });
  assert.is(await codeOf(transact(bare, [], [{ get: 'head' }])), 'log_unavailable');
});

uvuTest.run();
