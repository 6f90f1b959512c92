/** A new primary that reports its epoch, while other hosts report theirs (spec 15.14, 15.15). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reportEpoch } from '../../../../src/app/hosts/notify-predecessor.ts';
import { HostRole } from '../../../../src/hosts/primary/host-role.ts';
import type { HostState, KnownEpoch } from '../../../../src/http/services.ts';
import {
  currentEpoch,
  firstRecord,
  type HostRecord,
  promoted,
  readHostRecord,
  writeHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { RecordedBackoff } from '../../../support/recorded-backoff.ts';

const FIRST: HostRecord = { ...firstRecord(), role: 'follower', primary: 'https://predecessor' };

const PREDECESSORS = ['https://predecessor'];

const { history } = FIRST;

/** A host that was promoted in epoch 2. */
async function promotedHost() {
  const directory = temporaryDirectory();
  await writeHostRecord(quickDisk, directory, promoted(FIRST, 5));
  const succeeded: string[] = [];
  const warnings: string[] = [];
  const backoff = new RecordedBackoff(() => -0.99);
  const role = new HostRole({
    disk: quickDisk,
    directory,
    store: { refuseWrites() {} },
    follows: false,
    onSucceeded: (message) => void succeeded.push(message),
  });
  /** @param states what the predecessor answers, one after the other; null for no answer. */
  const report = async (...states: readonly (() => Promise<Partial<HostState> | null>)[]) => {
    const asked: (KnownEpoch | null)[] = [];
    const predecessor = {
      address: 'https://predecessor',
      async state(known: KnownEpoch | null) {
        asked.push(known);
        const state = await states[asked.length - 1]?.();
        if (state === null) throw new Error('it does not answer');
        return { ...FIRST, ...state } as HostState;
      },
    };
    const log = { warn: (message: string) => void warnings.push(message) };
    const { signal } = new AbortController();
    const epoch = { history, number: 2 };
    await reportEpoch(epoch, predecessor, { role, log, signal }, backoff);
    return asked;
  };
  const stored = () => readHostRecord(quickDisk, directory);
  return { role, succeeded, warnings, delays: backoff.delays, report, stored };
}

test('the epoch is reported until the predecessor knows it, and not after a restart', async () => {
  const { report, role, stored, warnings } = await promotedHost();
  const asked = await report(
    async () => null,
    async () => ({ role: 'primary' }),
    async () => ({ role: 'succeeded' }),
  );
  assert.equal(
    asked,
    [1, 2, 3].map(() => ({ history, number: 2 })),
  );
  assert.ok(role.isPrimary);
  assert.equal([stored()?.role, stored()?.predecessors], ['primary', []]);
  assert.is(warnings.length, 2);
});

test('a predecessor that stays down, maybe for ever, is logged once, and asked ever less often', async () => {
  const { report, warnings, delays } = await promotedHost();
  const isDown = async () => null;
  await report(isDown, isDown, isDown, async () => ({ role: 'succeeded' }));
  assert.is(warnings.filter((warning) => warning.includes('it does not answer')).length, 1);
  const [first = 0] = delays;
  assert.equal(delays, [first, 2 * first, 4 * first]);
});

test('a host that is succeeded while it reports its epoch stays succeeded', async () => {
  const { report, role, stored } = await promotedHost();
  const asked = await report(
    async () => {
      await role.learn({ history, number: 3 });
      return null;
    },
    // The predecessor must not take writes when it comes back, so it is still notified.
    async () => ({ role: 'succeeded' }),
  );
  assert.is(asked.length, 2);
  assert.not.ok(role.isPrimary);
  assert.equal([stored()?.role, stored()?.predecessors], ['succeeded', []]);
});

test('a host learns of the later epoch in which its predecessor is the primary again', async () => {
  const { report, role, stored, succeeded } = await promotedHost();
  const { epochs } = promoted(promoted(FIRST, 5), 7);
  assert.is((await report(async () => ({ role: 'primary', epochs }))).length, 1);
  assert.not.ok(role.isPrimary);
  assert.is(stored()?.role, 'succeeded');
  assert.match(succeeded.join(), /was made the primary in epoch 3/);
});

test('of several predecessors, those that do not know the epoch yet are kept', async () => {
  const { report, role, stored } = await promotedHost();
  await role.replace((record) => ({
    ...(record ?? FIRST),
    predecessors: ['https://first', 'https://predecessor'],
  }));
  await report(async () => ({ role: 'succeeded' }));
  assert.equal(stored()?.predecessors, ['https://first']);
});

test('a host that has the address of its predecessor by now does not notify itself for ever', async () => {
  const { report, role, stored, warnings } = await promotedHost();
  const { epochs } = role.record ?? FIRST;
  assert.is((await report(async () => ({ role: 'primary', epochs }))).length, 1);
  assert.ok(role.isPrimary);
  assert.equal(warnings, [], 'no other host is the primary');
  assert.equal(stored()?.predecessors, []);
});

test('a predecessor of another history by now changes nothing but that it is not notified', async () => {
  const { report, role, stored } = await promotedHost();
  const own = firstRecord();
  for (const { epochs } of [own, promoted(promoted(own, 5), 7)]) {
    await role.replace((record) => ({ ...(record ?? FIRST), predecessors: PREDECESSORS }));
    const other = { history: own.history, epochs, role: 'primary' } as const;
    assert.is((await report(async () => other)).length, 1);
    assert.ok(role.isPrimary);
    assert.equal(stored()?.predecessors, []);
    assert.is(currentEpoch(role.record ?? FIRST).number, 2);
  }
});

test('a report that is ended while the predecessor does not answer is not logged', async () => {
  const { role, warnings } = await promotedHost();
  const ending = new AbortController();
  const { signal } = ending;
  const predecessor = {
    address: 'https://predecessor',
    async state(): Promise<HostState> {
      ending.abort();
      throw new Error('the connection was ended');
    },
  };
  const log = { warn: (message: string) => void warnings.push(message) };
  await reportEpoch({ history, number: 2 }, predecessor, { role, log, signal });
  assert.equal(warnings, []);
});

test.run();
