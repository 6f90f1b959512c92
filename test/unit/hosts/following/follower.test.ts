/** A follower of primaries that cut, repeat or damage their stream (spec 15.13, 15.14). */
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Backoff } from '../../../../src/backoff.ts';
import { pause } from '../../../../src/delay.ts';
import type { Disk } from '../../../../src/disk/disk.ts';
import { replaceFile } from '../../../../src/disk/durable-file.ts';
import { CatalogError, type Code } from '../../../../src/errors.ts';
import { Confirmation } from '../../../../src/hosts/following/confirmation.ts';
import {
  Follower,
  type FollowerOptions,
  isRefusal,
} from '../../../../src/hosts/following/follower.ts';
import { FollowingLog } from '../../../../src/hosts/following/following-log.ts';
import {
  HistoryGone,
  type Primary,
  StreamEnded,
} from '../../../../src/hosts/following/primary-client.ts';
import type { HostState, KnownEpoch } from '../../../../src/http/services.ts';
import {
  firstRecord,
  followerRecord,
  type HostRecord,
  promoted,
} from '../../../../src/store/hosts/host-record.ts';
import { receiveBase } from '../../../../src/store/hosts/install-base.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { Store } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';
import { stateOfPrimary } from '../../../support/host-state.ts';
import { openQuickStore } from '../../../support/quick-store.ts';
import { RecordedBackoff } from '../../../support/recorded-backoff.ts';

/** A disk that has no room for another file. */
const withoutFiles: Disk = {
  ...quickDisk,
  async publish({ temporary }) {
    const message = `ENOSPC: no space left on device, open '${temporary}'`;
    return { code: 'ENOSPC', message, reached: 'nothing' };
  },
};

/** Delays that are a hundredth of the shortest ones. */
const QUICK = () => -0.99;

const forEver = (signal: AbortSignal) => pause(Number.POSITIVE_INFINITY, signal);

/** Time for what must not happen. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 50));

const fail = (error: unknown) => {
  throw error;
};

function openStore(directory: string, create: boolean): Promise<Store> {
  return openQuickStore(directory, { create, follows: true });
}

async function write(store: Store, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    await store.transact((transaction) => {
      transaction.put('brands', {
        id: transaction.nextId('brands'),
        name: `Brand ${number}`,
        logo: '',
        first_letter: '',
      });
    });
  }
}

/** A primary with some change sets, and a follower that has fetched its base. */
async function pair() {
  const source = await openStore(temporaryDirectory(), true);
  await write(source, 1);
  const directory = temporaryDirectory();
  async function* slices() {
    yield* baseSlices(source.snapshot());
  }
  const base = await receiveBase(quickDisk, directory, slices(), () => {});
  await base.install();
  const replica = await openStore(directory, false);
  const lineage = firstRecord();
  const role = {
    record: { ...lineage, role: 'follower', primary: 'https://primary' } as HostRecord,
    replace: async (change: (record: HostRecord | null) => HostRecord) => {
      role.record = change(role.record);
    },
  };
  const state = (): HostState => stateOfPrimary(lineage, source);
  const warnings: string[] = [];
  const infos: string[] = [];
  const taken: object[] = [];
  const start = (primary: Partial<Primary>, options: Partial<FollowerOptions> = {}) => {
    const { confirmation = new Confirmation(10_000) } = options;
    const follower = new Follower({
      primary: {
        address: 'https://primary',
        state: async () => state(),
        credentials: async () => ({
          digest: 'c'.repeat(64),
          files: { keys: null, access: null, webhook_key: null },
        }),
        base: () => fail(new Error('no base was asked for')),
        changes: (since, signal) => live(source, since, signal),
        ...primary,
      },
      store: replica,
      role,
      secret: null,
      confirmation,
      replaceCredentials: async (files) => void taken.push(files),
      log: new FollowingLog({
        info: (message) => void infos.push(message),
        warn: (message) => void warnings.push(message),
      }),
      pollMs: 5,
      backoff: new Backoff(QUICK),
      ...options,
    });
    follower.start();
    return { follower, confirmation };
  };
  const close = async (follower: Follower) => {
    await follower.stop();
    await Promise.all([source.close(), replica.close()]);
  };
  return { source, replica, state, role, warnings, infos, taken, start, close };
}

/** The stream of a healthy primary: existing and new change sets. */
async function* live(
  source: Store,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let at = since;
  while (!signal.aborted) {
    if (at < source.sequence) {
      for await (const { changeSet, bytes } of source.encodedSince(at)) {
        at = changeSet.sequence;
        yield bytes;
      }
    }
    yield Buffer.from('\n');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new StreamEnded('the connection was ended');
}

/** The text of all change sets after `since`. */
async function textSince(source: Store, since: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  if (since < source.sequence) {
    for await (const { bytes } of source.encodedSince(since)) pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

const inStep = (source: Store, replica: Store) =>
  until('the follower is in step', () => replica.sequence === source.sequence);

test('calls for the state of the primary while one is under way share the next one', async () => {
  const { state, start, close } = await pair();
  const answered = Promise.withResolvers<void>();
  let asked = 0;
  const { follower } = start({
    async state() {
      asked += 1;
      await answered.promise;
      return state();
    },
  });
  await until('the primary is asked', () => asked === 1);
  const polls = Array.from({ length: 50 }, () => follower.poll());
  await turn();
  assert.is(asked, 1, 'an earlier answer does not replace a later one');
  answered.resolve();
  await Promise.all(polls);
  const requests = asked;
  await close(follower);
  assert.ok(requests > 1, 'what the primary has changed meanwhile is not missed');
  assert.ok(requests < 10, `${requests} requests`);
});

test('a follower applies existing and new change sets, and is ready once it is in step', async () => {
  const { source, replica, role, infos, taken, start, close } = await pair();
  await write(source, 3);
  const { record } = role;
  const { follower, confirmation } = start({});
  assert.is(follower.reason(), 'the host is cut off from its primary');
  await inStep(source, replica);
  await until('it is ready', () => follower.reason() === null);
  await write(source, 3);
  await inStep(source, replica);
  assert.is(replica.digest, source.digest);
  assert.ok(confirmation.isCurrent);
  assert.is(taken.length, 1, 'credentials are taken over when they change');
  assert.is(role.record, record, 'so is its record');
  assert.equal(infos, ['following https://primary']);
  assert.equal(
    { connected: follower.figures.connected, behind: follower.figures.behind },
    { connected: true, behind: 0 },
  );
  await close(follower);
});

test('a follower reaches the state of the primary although the stream is cut, repeated or damaged', async () => {
  const { source, replica, start, close } = await pair();
  const trouble = fc.constantFrom('cut', 'garbage', 'repeat', 'swap', 'flip', 'well');
  const plan = fc.sample(fc.tuple(trouble, fc.nat(4000)), { numRuns: 60, seed: 15 });
  const { follower } = start({
    async *changes(since, signal) {
      const [kind, at] = plan.pop() ?? (['well', 0] as const);
      const text = await textSince(source, since);
      switch (kind) {
        case 'cut':
          yield text.subarray(0, at);
          return;
        case 'garbage':
          yield Buffer.from(`${'{"sequence":1}'.repeat(at % 5)}\n`);
          return;
        case 'repeat':
          yield text;
          yield text;
          return;
        case 'swap':
          yield Buffer.from(text.toString().split('\n').toReversed().join('\n'));
          return;
        case 'flip':
          if (text.length > 0) {
            text.writeUInt8(text.readUInt8(at % text.length) ^ 1, at % text.length);
          }
          yield text;
          return;
        case 'well':
          yield* live(source, since, signal);
      }
    },
  });
  for (let round = 0; round < 20; round += 1) {
    await write(source, 2);
    if (round % 4 === 0) await inStep(source, replica);
  }
  plan.length = 0;
  await inStep(source, replica);
  assert.is(replica.digest, source.digest);
  assert.is(replica.count('brands'), source.count('brands'));
  await close(follower);
});

test('spec 15.13: on a gap in the history a base is requested, and credentials are still confirmed', async () => {
  const { source, replica, start, close, warnings } = await pair();
  await write(source, 2);
  const { follower, confirmation } = start({
    // oxlint-disable-next-line require-yield -- it fails before its first piece.
    async *changes() {
      throw new HistoryGone('https://primary does not keep the next change set');
    },
  });
  await follower.needsBase;
  await until('it is confirmed', () => confirmation.isCurrent);
  assert.is(follower.reason(), 'the host is fetching a new base from its primary');
  assert.is(replica.sequence, 1, 'the old state is served');
  assert.match(warnings.join(), /fetching a new base/);
  await close(follower);
});

test('spec 15.13: if a change set has more than 64 MiB, a base is requested', async () => {
  const { replica, start, close, warnings } = await pair();
  const { follower } = start({
    async *changes() {
      const piece = Buffer.alloc(1024 * 1024, 'a');
      for (let mib = 0; mib < 65; mib += 1) yield piece;
      throw new Error('more was read');
    },
  });
  await follower.needsBase;
  assert.match(
    warnings.join(),
    'change set 2 of https://primary is too large; fetching a new base',
  );
  assert.is(replica.sequence, 1, 'the old state is served');
  await close(follower);
});

test('spec 15.15: a follower keeps what the primary has to report, and reports what it has learned', async () => {
  const { source, replica, state, role, start, close } = await pair();
  let predecessors = ['https://first'];
  const sent: (KnownEpoch | null)[] = [];
  const { follower } = start({
    async state(known) {
      sent.push(known);
      return { ...state(), predecessors };
    },
  });
  await inStep(source, replica);
  await until('it keeps them', () => role.record.predecessors.join() === 'https://first');
  predecessors = [];
  await until('it has dropped them', () => role.record.predecessors.length === 0);
  assert.is(sent.at(-1)?.number, 1);
  role.record = { ...role.record, latest: 7 };
  await until('it reports the epoch', () => sent.at(-1)?.number === 7);
  assert.is(role.record.latest, 7);
  await close(follower);
});

test('spec 15.14: nothing is applied from a primary with another history, which is reported once', async () => {
  const { source, replica, state, start, close, warnings } = await pair();
  await write(source, 2);
  const { follower } = start({ state: async () => ({ ...state(), history: 'f'.repeat(32) }) });
  await until('it is reported', () => warnings.length > 0);
  assert.match(warnings.join(), /another history/);
  assert.is(replica.sequence, 1);
  assert.is(follower.figures.connected, false);
  await close(follower);
  assert.is(warnings.length, 1, 'once, however often it is tried');
});

test('spec 15.14: a primary that was set back and has written since is reported once, with what to do', async () => {
  const { source, replica, start, close, warnings } = await pair();
  await write(source, 2);
  const other = await openStore(temporaryDirectory(), true);
  await write(other, 3);
  let asked = 0;
  const { follower } = start({
    async *changes(since, signal) {
      asked += 1;
      // As the stream of a server does.
      yield Buffer.from('\n');
      yield* live(other, since, signal);
    },
  });
  await until('it has tried several times', () => asked > 3);
  await follower.stop();
  assert.equal(warnings, [
    'not following: change set 2 of https://primary does not follow the last one of this directory: move this directory away, and start in an empty one',
  ]);
  assert.is(replica.sequence, 1);
  await other.close();
  await close(follower);
});

test('a primary that does not answer is asked until it does, and the log says both', async () => {
  const { source, replica, state, start, close, warnings } = await pair();
  await write(source, 2);
  let failures = 5;
  const { follower } = start({
    async state() {
      failures -= 1;
      if (failures >= 0) throw new Error('it is down');
      return state();
    },
  });
  await inStep(source, replica);
  assert.equal(warnings, ['not following: it is down', 'following https://primary']);
  await close(follower);
});

test('requests that the host itself has ended are no trouble of the primary', async () => {
  const { source, replica, state, start, close, warnings } = await pair();
  await write(source, 2);
  let failures = 3;
  const { follower } = start({
    async state() {
      failures -= 1;
      if (failures >= 0) throw new StreamEnded('the connection was ended');
      return state();
    },
  });
  await inStep(source, replica);
  assert.equal(warnings, []);
  await close(follower);
});

test('a follower that is stopped during a request for the state ends', async () => {
  const { source, replica, state, start } = await pair();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { follower } = start({
    async state() {
      asked.resolve();
      await answered.promise;
      return state();
    },
  });
  await asked.promise;
  let ended = false;
  const stopping = follower.stop().then(() => (ended = true));
  answered.resolve();
  await until('it has ended', () => ended);
  await stopping;
  await Promise.all([source.close(), replica.close()]);
});

test('a change set that the disk refuses is applied again, and none is skipped', async () => {
  const { source, replica, start, close } = await pair();
  await write(source, 4);
  let refusals = 3;
  const receive = replica.receive.bind(replica);
  replica.receive = (received) => {
    refusals -= 1;
    return refusals >= 0 ? Promise.reject(new Error('no space left on device')) : receive(received);
  };
  const { follower } = start({});
  await inStep(source, replica);
  assert.is(replica.digest, source.digest);
  await close(follower);
});

test('while the disk refuses a change set, the log says so once, and attempts get rarer', async () => {
  const { source, replica, warnings, start, close } = await pair();
  await write(source, 1);
  const { receive } = replica;
  let attempts = 0;
  replica.receive = async () => {
    attempts += 1;
    throw new Error('no space left on device');
  };
  const { follower } = start({});
  await until('it was tried a few times', () => attempts >= 5);
  assert.equal(warnings, ['not following: no space left on device']);
  assert.is(follower.figures.connected, false);
  replica.receive = receive.bind(replica);
  await inStep(source, replica);
  await until('the log says so', () => warnings.length === 2);
  assert.is(warnings[1], 'following https://primary');
  await close(follower);
});

test('a change set that the disk refuses while nothing arrives ends no server', async () => {
  const { source, replica, start, close } = await pair();
  await write(source, 1);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  let attempts = 0;
  replica.receive = async () => {
    attempts += 1;
    throw new Error('no space left on device');
  };
  const { follower } = start({
    async *changes(since, signal) {
      yield await textSince(source, since);
      await forEver(signal);
    },
  });
  await until('it was tried', () => attempts > 0);
  await aWhile();
  await close(follower);
  process.off('unhandledRejection', note);
  assert.equal(unhandled, []);
});

test('while the disk refuses the accounts of the primary, the log says so once', async () => {
  const { start, close, warnings } = await pair();
  const access = join(temporaryDirectory(), 'access.json');
  let attempts = 0;
  const { follower } = start({
    async credentials() {
      attempts += 1;
      // Names the temporary file in its error, as the disk of the machine does.
      await replaceFile(withoutFiles, access, Buffer.from('{}'));
      throw new Error('it was written');
    },
  });
  await until('it was tried a few times', () => attempts >= 5);
  assert.is(warnings.length, 1, warnings.join('\n'));
  assert.match(warnings[0] ?? '', /^not following: ENOSPC: .* '\S+\.tmp'$/);
  await close(follower);
});

test('a stop waits for a poll under way, and later polls write nothing', async () => {
  const { state, role, taken, start, close } = await pair();
  const answer = Promise.withResolvers<void>();
  let asked = 0;
  const { follower } = start({
    async state() {
      asked += 1;
      if (asked > 1) await answer.promise;
      return { ...state(), credentials: `${asked}`.repeat(64) };
    },
    changes: () => fail(new Error('no stream')),
  });
  await until('the first one has ended', () => taken.length === 1);
  await until('the second one waits', () => asked === 2);
  const closed = close(follower).then(() => taken.length);
  answer.resolve();
  assert.is(await closed, 2);
  role.record = { ...role.record, role: 'primary' };
  await follower.poll();
  assert.is(role.record.role, 'primary');
  assert.is(asked, 2);
});

test('a follower that stops while a change set is written waits until it is, also if the stream is cut', async () => {
  const { source, replica, start, close } = await pair();
  await write(source, 1);
  const receive = replica.receive.bind(replica);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const events: string[] = [];
  replica.receive = async (received) => {
    events.push('begun');
    await held;
    await receive(received);
    events.push('written');
  };
  const { follower } = start({
    async *changes(since) {
      yield await textSince(source, since);
      throw new Error('the connection is cut');
    },
  });
  await until('the write has begun', () => events.length > 0);
  const stopped = follower.stop().then(() => events.push('stopped'));
  await Promise.race([stopped, aWhile()]);
  release();
  await stopped;
  assert.equal(events, ['begun', 'written', 'stopped']);
  await close(follower);
});

test('a follower that learns of a later epoch while it takes over a record keeps that epoch', async () => {
  const { state, role, start, close } = await pair();
  const { replace } = role;
  role.replace = async (change) => {
    if (role.record !== null) role.record = { ...role.record, latest: 9 };
    await replace(change);
  };
  const predecessors = ['https://before'];
  const { follower } = start({ state: async () => ({ ...state(), predecessors }) });
  await until('it has the record', () => role.record?.predecessors.length === 1);
  assert.is(role.record?.latest, 9);
  await close(follower);
});

test('spec 15.13: a host is not ready before it has every change set that the primary had', async () => {
  const { source, start, close } = await pair();
  await write(source, 2);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { follower, confirmation } = start({
    async *changes(since, signal) {
      await held;
      yield* live(source, since, signal);
    },
  });
  await until('the primary has answered', () => confirmation.isCurrent);
  assert.is(follower.reason(), 'the host is not in step with its primary yet');
  assert.is(follower.figures.behind, 2);
  release();
  await until('it is ready', () => follower.reason() === null);
  await close(follower);
});

test('how far a host is behind counts from its last question to the primary', async () => {
  const { source, replica, start, close } = await pair();
  const { follower, confirmation } = start({}, { pollMs: 60_000 });
  await until('the primary has answered', () => confirmation.isCurrent);
  const answered = performance.now();
  await write(source, 3);
  await inStep(source, replica);
  await aWhile();
  const since = performance.now() - answered;
  const { behind, behindMs } = follower.figures;
  assert.is(behind, 0, 'it has more than the primary had');
  assert.ok(behindMs >= since, `${behindMs} of ${since}`);
  await close(follower);
});

test('spec 15.12: the time without a confirmation counts from the sending of the request', async () => {
  const { state, start, close } = await pair();
  const instant = { monotonic: 1, wall: 1 };
  const confirmation = new Confirmation(10_000, () => ({ ...instant }));
  const { follower } = start(
    {
      async state() {
        instant.monotonic += 7000;
        return state();
      },
    },
    { confirmation, pollMs: 60_000 },
  );
  await until('the primary has answered', () => confirmation.isCurrent);
  assert.is(confirmation.age, 7000);
  await close(follower);
});

test('spec 15.12: accounts that could not be stored are not confirmed, and are stored later', async () => {
  const { start, close } = await pair();
  const confirmation = new Confirmation(10_000);
  const confirmed: boolean[] = [];
  const { follower } = start(
    {},
    {
      confirmation,
      async replaceCredentials() {
        confirmed.push(confirmation.isCurrent);
        if (confirmed.length < 3) throw new Error('no space left on device');
      },
    },
  );
  await until('they are confirmed', () => confirmation.isCurrent);
  assert.equal(confirmed, [false, false, false]);
  await close(follower);
});

for (const [which, before] of Object.entries({
  'was the primary': { role: 'primary', primary: null },
  'was the primary until another host took its place': { role: 'succeeded', primary: null },
  'followed the primary at another address': { role: 'follower', primary: 'https://earlier' },
} as const)) {
  test(`spec 15.14: the record of a host that ${which} says whom it follows now`, async () => {
    const { source, replica, role, state, start, close } = await pair();
    role.record = { ...role.record, ...before };
    const { follower } = start({});
    await inStep(source, replica);
    await until('it is ready', () => follower.reason() === null);
    assert.equal(role.record, followerRecord('https://primary', state()));
    await close(follower);
  });
}

test('spec 15.14: a host takes over the epochs of its primary', async () => {
  const { role, state, start, close } = await pair();
  const { epochs } = promoted(role.record, 1);
  const { follower } = start({ state: async () => ({ ...state(), epochs }) });
  await until('it is ready', () => follower.reason() === null);
  assert.equal(role.record.epochs, epochs);
  await close(follower);
});

test('spec 15.13: attempts get rarer while they fail, until the host follows again', async () => {
  const { state, start, close } = await pair();
  const backoff = new RecordedBackoff(QUICK);
  let failures = 4;
  const { follower } = start(
    {
      async state() {
        failures -= 1;
        if (failures >= 0) throw new Error('it is down');
        return state();
      },
      async *changes() {
        yield Buffer.from('\n');
      },
    },
    { backoff },
  );
  const { delays } = backoff;
  await until('it has followed twice', () => delays.length >= 6);
  const [first = 0] = delays;
  assert.equal(
    delays.slice(0, 6).map((delay) => Math.round(delay / first)),
    [1, 2, 4, 8, 1, 1],
  );
  await close(follower);
});

test('a host that waits before its next attempt stops at once', async () => {
  const { warnings, start, close } = await pair();
  class Slow extends Backoff {
    override delay = () => 600_000;
  }
  const state = () => Promise.reject(new Error('it is down'));
  const { follower } = start({ state }, { backoff: new Slow() });
  await until('it waits', () => warnings.length > 0);
  await close(follower);
});

test('a host that applies change sets follows, also while no empty line arrives', async () => {
  const { source, start, close } = await pair();
  await write(source, 2);
  const { follower } = start({
    async *changes(since, signal) {
      yield await textSince(source, since);
      await forEver(signal);
    },
  });
  await until('it follows', () => follower.figures.connected);
  await close(follower);
});

test('while a change set is written, at most the next one is read', async () => {
  const { source, replica, start, close } = await pair();
  await write(source, 5);
  const receive = replica.receive.bind(replica);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  replica.receive = async (received) => {
    await held;
    await receive(received);
  };
  let read = 0;
  const { follower } = start({
    async *changes(since, signal) {
      for await (const { bytes } of source.encodedSince(since)) {
        read += 1;
        yield bytes;
      }
      await forEver(signal);
    },
  });
  await until('the next one is read', () => read === 2);
  await aWhile();
  assert.is(read, 2);
  release();
  await inStep(source, replica);
  await close(follower);
});

test('a stop waits also for a poll that a request of a client has caused', async () => {
  const { state, start, close } = await pair();
  const answer = Promise.withResolvers<void>();
  let asked = 0;
  const { follower, confirmation } = start(
    {
      async state() {
        asked += 1;
        if (asked > 1) await answer.promise;
        return state();
      },
      // oxlint-disable-next-line require-yield -- nothing arrives.
      async *changes(_, signal) {
        await forEver(signal);
      },
    },
    { pollMs: 60_000 },
  );
  await until('the first one has ended', () => confirmation.isCurrent);
  void follower.poll();
  await until('the second one waits', () => asked === 2);
  let isStopped = false;
  const stopped = follower.stop().then(() => (isStopped = true));
  await Promise.race([stopped, aWhile()]);
  assert.not.ok(isStopped);
  answer.resolve();
  await close(follower);
});

test('a host that may not follow is told apart from a primary that does not answer', () => {
  const isRefused = (code: Code) => isRefusal(new CatalogError(code, ''));
  for (const code of ['not_primary', 'history_differs', 'schema_version', 'key_file'] as const) {
    assert.ok(isRefused(code), code);
  }
  for (const code of ['unauthorized', 'forbidden'] as const) assert.not.ok(isRefused(code), code);
  assert.not.ok(isRefusal(new Error('it cannot be reached')));
});

test.run();
