/** src/hosts/cluster/trimming.ts: which host removes change sets, and which of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { EtcdLog } from '../../../../src/hosts/cluster/etcd-log.ts';
import type { Member } from '../../../../src/hosts/cluster/registry.ts';
import { Trimming } from '../../../../src/hosts/cluster/trimming.ts';
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

const memberAt = (sequence: number): Member => ({
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
    const registry = { isWriter: false, members: [memberAt(4), memberAt(3)] };
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
      registry.isWriter = true;
      assert.equal(await kept(), [1, 2, 3, 4], 'they are new');
      Date.now = () => now() + DAY_MS - 2 * HOUR_MS;
      assert.equal(await kept(), [1, 2, 3, 4], 'they are not a day old');
      registry.isWriter = false;
      Date.now = () => now() + DAY_MS + 2 * HOUR_MS;
      assert.equal(await kept(), [1, 2, 3, 4], 'another host is the writer');
      registry.isWriter = true;
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

test.run();
