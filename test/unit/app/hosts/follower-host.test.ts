/** A follower: its first base, and one that replaces its catalog (spec 15.10, 15.13). */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Catalog } from '../../../../src/app/catalog.ts';
import { FollowerHost } from '../../../../src/app/hosts/follower-host.ts';
import type { HostParts } from '../../../../src/app/hosts/host.ts';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { pause } from '../../../../src/delay.ts';
import type { Membership } from '../../../../src/app/hosts/membership.ts';
import { TEMPORARY } from '../../../../src/disk/durable-file.ts';
import type { FileLock } from '../../../../src/disk/lock.ts';
import {
  HistoryGone,
  type Primary,
  StreamEnded,
} from '../../../../src/hosts/following/primary-client.ts';
import { withChecksum } from '../../../../src/json/checksum.ts';
import { HostRole } from '../../../../src/hosts/primary/host-role.ts';
import { ownDirectory } from '../../../../src/store/directory.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import {
  firstRecord,
  followerRecord,
  promoted,
  readHostRecord,
  writeHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import type { HostState } from '../../../../src/http/services.ts';
import { receiveBase } from '../../../../src/store/hosts/install-base.ts';
import { FixedCredentials } from '../../../support/credentials.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureMessage } from '../../../support/failure.ts';
import { stateOfPrimary } from '../../../support/host-state.ts';
import { openQuickStore } from '../../../support/quick-store.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

const ADDRESS = 'https://primary';

/**
 * A host whose primary does not keep the next change set when it is asked for the first time.
 *
 * @param setup.isDown the primary does not answer.
 * @param setup.isEmpty the host has no catalog yet.
 * @param setup.breaksOff the primary sends no whole base.
 * @param setup.wasPrimary the host was the primary, and does not know that another one is.
 */
async function follower({
  isDown = false,
  isEmpty = false,
  breaksOff = false,
  wasPrimary = false,
} = {}) {
  const source = await openQuickStore(temporaryDirectory());
  const data = temporaryDirectory();
  async function* slices() {
    yield* baseSlices(source.snapshot());
  }
  const lineage = firstRecord();
  if (!isEmpty) {
    await (await receiveBase(quickDisk, data, slices(), () => {})).install();
    const record = wasPrimary ? lineage : followerRecord(ADDRESS, lineage);
    await writeHostRecord(quickDisk, data, record);
  }
  const tokenFile = join(temporaryDirectory(), 'token');
  writeFileSync(tokenFile, 'token', { mode: 0o600 });
  let asked = 0;
  let states = 0;
  const answers: { isDown: boolean; state: Partial<HostState> } = { isDown, state: {} };
  const gates = { open: Promise.resolve(), close: Promise.resolve(), base: Promise.resolve() };
  /** Resolves when the primary has sent a base but for its end. */
  const sent = Promise.withResolvers<void>();
  const primary: Primary = {
    address: ADDRESS,
    state: async () => {
      states += 1;
      if (answers.isDown) throw new Error('it is down');
      return { ...stateOfPrimary(lineage, source), ...answers.state };
    },
    credentials: async () => ({
      digest: 'c'.repeat(64),
      files: { keys: null, access: null, webhook_key: null },
    }),
    async *base(signal) {
      if (breaksOff) throw new Error('it breaks off');
      yield* slices();
      sent.resolve();
      await Promise.race([gates.base, ended(signal)]);
    },
    async *changes(_, signal) {
      asked += 1;
      if (asked === 1) throw new HistoryGone('it does not keep them');
      yield Buffer.from('\n');
      await pause(Number.POSITIVE_INFINITY, signal);
    },
  };
  /** What the host has done, and when a catalog may be opened or closed. */
  const done: string[] = [];
  const memberships: Membership[] = [];
  /** What another process does once a catalog is closed, one for each time. */
  const whenClosed: (() => void)[] = [];
  const used: (Catalog | null)[] = [];
  let catalog: Catalog | null = null;
  const open = async (membership: Membership) => {
    memberships.push(membership);
    done.push('open');
    await gates.open;
    const store = await openQuickStore(data, { create: false, follows: true });
    const close = async () => {
      done.push('close');
      await gates.close;
      await store.close();
      whenClosed.shift()?.();
    };
    try {
      await membership.join(store);
    } catch (error) {
      await close();
      throw error;
    }
    const role = new HostRole({
      disk: quickDisk,
      directory: data,
      store,
      follows: true,
      onSucceeded() {},
    });
    catalog = { store, role, close } as unknown as Catalog;
    used.push(catalog);
    return catalog;
  };
  const follow = { address: ADDRESS, tokenFile, forward: true, maxUnconfirmed: 10_000 };
  const warnings: string[] = [];
  const stopping = new AbortController();
  const parts = {
    stop: stopping.signal,
    options: { data, basePath: '' },
    context: { disk: quickDisk, env: {}, version: 'test' },
    observability: { log: { info() {}, warn: (message: string) => void warnings.push(message) } },
    current: {
      get catalog() {
        return catalog;
      },
      open,
      use(next: Catalog | null) {
        used.push(next);
        catalog = next;
      },
    },
  } as unknown as HostParts;
  const host = new FollowerHost({ ...follow, insecure: false }, parts, primary);
  await host.begin();
  const has = (...steps: readonly string[]) =>
    until(`the steps are ${steps.join()}`, () => done.join() === steps.join());
  const isAsked = (times: number) => until(`asked ${times} times`, () => states >= times);
  /** Ends the host as a server does. @param running what its `run` has returned. */
  const end = async (running: Promise<unknown> = Promise.resolve()) => {
    stopping.abort();
    await running;
    await catalog?.close(0);
    await source.close();
  };
  return {
    host,
    stopping,
    data,
    done,
    memberships,
    answers,
    gates,
    sent: sent.promise,
    whenClosed,
    has,
    used,
    warnings,
    isAsked,
    end,
  };
}

/** Ends like a transfer that the signal ends. */
const ended = async (signal: AbortSignal) => {
  await pause(Number.POSITIVE_INFINITY, signal);
  throw new StreamEnded('the connection was ended');
};

const temporariesIn = (data: string) => readdirSync(data).filter((name) => TEMPORARY.test(name));

const inodeOfBase = (data: string) => statSync(join(data, DATA_FILES.base)).ino;

test('a catalog is replaced by a base, and the new one is closed at the end', async () => {
  const { host, done, has, used, end } = await follower();
  const running = host.run();
  await has('open', 'close', 'open');
  await until('it serves again', () => used.at(-1) !== null);
  await end(running);
  assert.equal(done, ['open', 'close', 'open', 'close']);
});

test('a host that has warned that it does not follow warns when it follows again', async () => {
  const { host, warnings, end } = await follower();
  const running = host.run();
  await until('it follows', () => warnings.length === 2);
  assert.equal(warnings, [
    'it does not keep them; fetching a new base, and serving the old state meanwhile',
    'following https://primary',
  ]);
  await end(running);
});

for (const [isEmpty, warning] of [
  [false, 'not following: it is down'],
  [true, 'no base yet: it is down'],
] as const) {
  test(`a primary that is down at the start and afterwards is reported once: ${warning}`, async () => {
    const { host, warnings, isAsked, end } = await follower({ isDown: true, isEmpty });
    assert.equal(warnings, [warning]);
    const began = performance.now();
    const running = host.run();
    await isAsked(4);
    assert.equal(warnings, [warning]);
    // The shortest delays are 50 and 100 ms; a timer may end a little early.
    assert.ok(performance.now() - began >= 140, 'attempts get rarer');
    await end(running);
  });
}

test('a host is a follower before it has its first base, so that no start writes its directory', async () => {
  const { host, data, warnings, end } = await follower({ isEmpty: true, breaksOff: true });
  const running = host.run();
  await until('it has no base', () => warnings.length > 0);
  assert.equal(warnings, ['no base yet: it breaks off']);
  assert.is(readHostRecord(quickDisk, data)?.role, 'follower');
  await end(running);
});

test('a host that is not the primary gives no first base', async () => {
  const { host, data, answers, warnings, end } = await follower({ isDown: true, isEmpty: true });
  answers.isDown = false;
  answers.state = { role: 'follower', primary: 'https://other' };
  const refusal = 'https://primary follows https://other itself; follow that one';
  const running = host.run();
  await until('it is asked again', () => warnings.length > 1);
  assert.equal(warnings, ['no base yet: it is down', `no base yet: ${refusal}`]);
  assert.is(readHostRecord(quickDisk, data), null);
  // At a start the host ends with the reason.
  assert.is(await failureMessage(host.begin(), 'not_primary'), refusal);
  await end(running);
});

test('spec 15.14: a host without a base takes none of an earlier epoch than it knows', async () => {
  const { host, data, answers, warnings, end } = await follower({ isDown: true, isEmpty: true });
  // The directory of a start that got no base from the primary of the next epoch.
  const { history, epochs } = firstRecord();
  const next = promoted(followerRecord(ADDRESS, { history, epochs, predecessors: [] }), 0);
  await writeHostRecord(quickDisk, data, followerRecord('https://next', next));
  answers.isDown = false;
  answers.state = { history, epochs };
  const running = host.run();
  await until('it has judged the primary', () => warnings.length > 1);
  const refusal = `${ADDRESS} is the primary of epoch 1, and epoch 2 has begun; follow the primary of that one`;
  assert.equal(warnings, ['no base yet: it is down', `no base yet: ${refusal}`]);
  assert.is(readHostRecord(quickDisk, data)?.latest, 2);
  await end(running);
});

test('spec 15.15: an old primary that does not know of another one follows the host that it is told to', async () => {
  const { host, data, has, end } = await follower({ wasPrimary: true });
  const running = host.run();
  await has('open', 'close', 'open');
  const record = readHostRecord(quickDisk, data);
  assert.equal([record?.role, record?.primary], ['follower', ADDRESS]);
  await end(running);
});

test('spec 15.12: the catalog of a follower sends nothing to webhooks, and accepts confirmed tokens', async () => {
  const { memberships, end } = await follower({ isDown: true });
  const [membership] = memberships;
  assert.is(membership?.deliveries, 'never');
  const own = new FixedCredentials([{ kid: 'k', secret: new Uint8Array(32) }]);
  assert.is(await codeOf(() => membership?.confirmed(own).current()), 'cut_off');
  await end();
});

test('a base does not replace the store of a directory that another process owns by then', async () => {
  const { host, data, done, whenClosed, end } = await follower();
  const before = inodeOfBase(data);
  const locks: FileLock[] = [];
  whenClosed.push(() => locks.push(ownDirectory(data, 'promote')));
  assert.is(await codeOf(host.run()), 'store_locked');
  assert.is(inodeOfBase(data), before);
  assert.equal(temporariesIn(data), []);
  assert.equal(done, ['open', 'close']);
  for (const lock of locks) lock.close();
  await end();
});

test('a base does not replace the store of a directory that was promoted by then', async () => {
  const { host, data, done, whenClosed, end } = await follower();
  const before = inodeOfBase(data);
  const record = promoted(followerRecord(ADDRESS, firstRecord()), 0);
  whenClosed.push(() => writeFileSync(join(data, DATA_FILES.host), withChecksum(record).bytes));
  assert.is(await codeOf(host.run()), 'usage');
  assert.is(inodeOfBase(data), before);
  assert.equal(temporariesIn(data), []);
  assert.equal(done, ['open', 'close']);
  await end();
});

for (const isEmpty of [true, false]) {
  const which = isEmpty ? 'first' : 'new';
  test(`a host whose directory is promoted before its ${which} base is opened does not follow`, async () => {
    const { host, data, done, gates, has, used, end } = await follower({ isEmpty });
    const opening = Promise.withResolvers<void>();
    // The catalog before a new base is open already.
    gates.open = opening.promise;
    const code = codeOf(host.run());
    const steps = isEmpty ? ['open'] : ['open', 'close', 'open'];
    await has(...steps);
    const record = promoted(followerRecord(ADDRESS, firstRecord()), 0);
    writeFileSync(join(data, DATA_FILES.host), withChecksum(record).bytes);
    opening.resolve();
    assert.is(await code, 'usage');
    assert.not.ok(used.slice(isEmpty ? 0 : 1).some((catalog) => catalog !== null));
    assert.equal(done, [...steps, 'close']);
    await end();
  });
}

test('a host that is stopped while it closes its catalog for a base closes it once, and opens no other', async () => {
  const { host, stopping, done, gates, has, end } = await follower();
  const closing = Promise.withResolvers<void>();
  gates.close = closing.promise;
  let hasEnded = false;
  const running = host.run().then(() => {
    hasEnded = true;
  });
  await has('open', 'close');
  stopping.abort();
  await turn();
  assert.not.ok(hasEnded);
  closing.resolve();
  await end(running);
  assert.equal(done, ['open', 'close']);
});

test('a host that cannot replace its catalog says why, even if it is stopped meanwhile', async () => {
  const { host, stopping, data, gates, has, end } = await follower();
  const closing = Promise.withResolvers<void>();
  gates.close = closing.promise;
  const code = codeOf(host.run());
  await has('open', 'close');
  stopping.abort();
  const record = promoted(followerRecord(ADDRESS, firstRecord()), 0);
  writeFileSync(join(data, DATA_FILES.host), withChecksum(record).bytes);
  closing.resolve();
  assert.is(await code, 'usage');
  await end();
});

test('a stop at the end of the first base opens no catalog', async () => {
  const { host, done, gates, sent, end } = await follower({ isEmpty: true });
  const sending = Promise.withResolvers<void>();
  gates.base = sending.promise;
  const running = host.run();
  await sent;
  sending.resolve();
  await end(running);
  assert.equal(done, []);
});

for (const isEmpty of [true, false]) {
  const steps = isEmpty ? [] : ['open', 'close'];
  test(`a stop removes what has arrived of a ${isEmpty ? 'first' : 'new'} base`, async () => {
    const { host, stopping, data, done, gates, sent, end } = await follower({ isEmpty });
    gates.base = new Promise(() => {});
    const running = host.run();
    await sent;
    assert.is(temporariesIn(data).length, 1);
    stopping.abort();
    await running;
    assert.equal(temporariesIn(data), []);
    assert.equal(done, steps.slice(0, 1));
    await end();
    assert.equal(done, steps);
  });
}

test('a host that is stopped while it opens the catalog of a base ends when that is open', async () => {
  const { host, stopping, done, gates, has, end } = await follower();
  const running = host.run();
  const opening = Promise.withResolvers<void>();
  gates.open = opening.promise;
  await has('open', 'close', 'open');
  stopping.abort();
  await turn();
  opening.resolve();
  await end(running);
  assert.equal(done, ['open', 'close', 'open', 'close']);
});

test.run();
