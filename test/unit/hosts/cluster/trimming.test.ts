/** src/hosts/cluster/trimming.ts: which host removes change sets, and which of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { EtcdLog } from '../../../../src/hosts/cluster/etcd-log.ts';
import type { LiveHost } from '../../../../src/hosts/cluster/registry.ts';
import { Trimming, trimOnce } from '../../../../src/hosts/cluster/trimming.ts';
import { encodeChangeSet } from '../../../../src/store/files/change-set.ts';
import { withTimersOf } from '../../../support/clock.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { until } from '../../../support/until.ts';

/** Milliseconds between two runs. */
const INTERVAL_MS = 600_000;

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A log with four change sets. */
async function filled(client: MemoryEtcd): Promise<EtcdLog> {
  const log = new EtcdLog(client);
  let previous = 'a'.repeat(64);
  await log.begin({ sequence: 0, digest: previous });
  const rest = { time: '2026-01-01T00:00:00.000Z', writer: 'w', last_ids: {}, put: {}, delete: {} };
  for (let sequence = 1; sequence <= 4; sequence += 1) {
    const encoded = encodeChangeSet({ sequence, previous, ...rest });
    await log.append(encoded);
    previous = encoded.changeSet.digest;
  }
  return log;
}

/** The registry of a host that writes, alone. */
const alone = () => ({ term: '7' as string | null, liveHosts: [] as LiveHost[] });

const hostAt = (sequence: number): LiveHost => ({
  name: `host at ${sequence}`,
  origin: null,
  sequence,
  baseBytes: 0,
  isInSync: true,
});

test('the writer removes what is a day old and every live host has, and goes on after an error', () =>
  withTimersOf(INTERVAL_MS, async (timers) => {
    const { now } = Date;
    const client = new MemoryEtcd();
    const log = await filled(client);
    const registry = { term: null as string | null, liveHosts: [hostAt(4), hostAt(3)] };
    const errors: string[] = [];
    const onError = (error: unknown) => void errors.push(messageOf(error));
    const trimming = new Trimming({ client, log, registry, onError });
    /** Lets a run happen. @returns the numbers of the change sets that the log keeps then. */
    const kept = async () => {
      const { begun } = timers;
      for (const end of timers.running.values()) end();
      await until('the run is over', () => timers.begun > begun);
      const keys = Object.keys(client.values).filter((key) => key.startsWith('changes/'));
      return keys.map((key) => Number(key.slice('changes/'.length)));
    };
    try {
      assert.equal(await kept(), [1, 2, 3, 4]);
      registry.term = '7';
      assert.equal(await kept(), [1, 2, 3, 4], 'they are new');
      Date.now = () => now() + DAY_MS - 2 * HOUR_MS;
      assert.equal(await kept(), [1, 2, 3, 4], 'they are not a day old');
      registry.term = null;
      Date.now = () => now() + DAY_MS + 2 * HOUR_MS;
      assert.equal(await kept(), [1, 2, 3, 4], 'another host may be the writer');
      registry.term = '7';
      client.isSilent = true;
      assert.equal(await kept(), [1, 2, 3, 4]);
      assert.equal(errors, ['etcd does not answer']);
      client.isSilent = false;
      assert.equal(await kept(), [3, 4], 'a live host needs change set 4');
      Date.now = () => now() + 2 * DAY_MS + 4 * HOUR_MS;
      assert.equal(await kept(), [3, 4]);
      const marks = Object.keys(client.values).filter((key) => key.startsWith('marks/'));
      assert.is(marks.length, 2, 'the last one that is a day old, and that of this hour');
    } finally {
      Date.now = now;
      await trimming.close();
    }
  }));

test('a mark is the first head of its hour, and counts once that hour is a day ago', async () => {
  const client = new MemoryEtcd();
  const { log, moveTo } = logUpTo(70_100);
  const run = (now: number) => trimOnce({ client, log, registry: alone() }, now);
  await run(0);
  moveTo(70_200);
  assert.is(await run(HOUR_MS - 1), null);
  assert.is(await run(DAY_MS + HOUR_MS - 1), null, 'a part of that hour is not a day ago');
  assert.is(await run(DAY_MS + HOUR_MS), 70_100);
});

test('a host that stops does not trim', async () => {
  const client = new MemoryEtcd();
  const { log } = logUpTo(70_100);
  const registry = { term: '7', liveHosts: [] };
  const trimming = new Trimming({ client, log, registry, onError: () => {} });
  await trimming.close();
  assert.equal(client.values, {});
});

/** A log that begins with a store that had change sets, and whose head is at a number. */
function logUpTo(sequence: number) {
  const removed: (readonly [number, number])[] = [];
  const at = (place: number) => ({ sequence: place, digest: 'a'.repeat(64) });
  const positions = { origin: at(70_000), head: at(sequence) };
  const log = {
    positions: async () => positions,
    head: async () => positions.head,
    trim: async (below: number, from = 0) => void removed.push([from, below]),
  };
  return { log, removed, moveTo: (place: number) => void (positions.head = at(place)) };
}

test('change sets are removed in steps, so that etcd can carry out writes between them', async () => {
  const client = new MemoryEtcd();
  const { log, removed, moveTo } = logUpTo(72_500);
  const run = (now: number) => trimOnce({ client, log, registry: alone() }, now);
  assert.is(await run(0), null);
  moveTo(72_600);
  assert.is(await run(2 * HOUR_MS), null);
  assert.is(await run(DAY_MS + HOUR_MS), 72_500);
  const steps = [
    [70_000, 71_000],
    [71_000, 72_000],
    [72_000, 72_500],
  ];
  assert.equal(removed, steps, 'from the beginning of the log on');
  assert.is(await run(DAY_MS + 3 * HOUR_MS), 72_600);
  assert.equal(removed.slice(3), [[72_500, 72_600]], 'what is left');
});

test('a host that stops does not finish the removal, and the next run continues with the rest', async () => {
  const client = new MemoryEtcd();
  const { log, removed } = logUpTo(72_000);
  await trimOnce({ client, log, registry: alone() }, 0);
  const ending = new AbortController();
  const { trim } = log;
  log.trim = async (below, from) => {
    ending.abort();
    await trim(below, from);
  };
  await trimOnce({ client, log, registry: alone() }, DAY_MS + HOUR_MS, ending.signal);
  assert.equal(removed, [[70_000, 71_000]]);
  await trimOnce({ client, log, registry: alone() }, DAY_MS + HOUR_MS);
  assert.equal(removed.slice(1), [[71_000, 72_000]]);
});

test('between two steps it counts who is live and who writes', async () => {
  const client = new MemoryEtcd();
  const { log, removed } = logUpTo(75_000);
  const registry = alone();
  await trimOnce({ client, log, registry }, 0);
  const { trim } = log;
  log.trim = async (below, from) => {
    await trim(below, from);
    if (below === 71_000) registry.liveHosts.push(hostAt(71_500));
    if (below === 72_500) registry.term = null;
  };
  const kept = await trimOnce({ client, log, registry }, DAY_MS + HOUR_MS);
  assert.is(kept, 71_500, 'a host that has joined needs the next one');
  registry.liveHosts = [];
  const left = await trimOnce({ client, log, registry }, DAY_MS + HOUR_MS);
  assert.is(left, 72_500, 'another host may be the writer');
  const steps = [
    [70_000, 71_000],
    [71_000, 71_500],
    [71_500, 72_500],
  ];
  assert.equal(removed, steps);
});

test.run();
