/**
 * A server killed by SIGKILL at each step of a checkpoint, under concurrent writers: the old or the
 * new base is there, and after a restart every answered write is there.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServers, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import {
  checked,
  dieServing,
  FULL,
  hasKept,
  prepareFull,
  recover,
  sequenceOfBase,
  textOf,
  traceServing,
} from './serving.ts';
import {
  deathsAt,
  deathsIn,
  describeDeath,
  hasMade,
  withoutRepeats,
  withoutTwins,
} from './steps.ts';

/** In a store that was migrated. */
const CHECKPOINT = [
  'create base',
  'write base',
  'sync base',
  'close base',
  'copy temporary',
  'rename outline',
  'rename base',
  'sync data directory',
  'remove change set',
  'remove kept base',
  'sync kept directory',
  'remove kept head',
  'remove kept change set',
  'remove kept changes',
  'remove kept directory',
];

const prepared = await prepareFull(FULL.small);
const traced = await traceServing(prepared, ({ data }) => !hasKept(data));
const steps = traced.filter((step) => CHECKPOINT.includes(step));

test.after(killServers);

test('a checkpoint performs the expected steps in order, and a server otherwise only commits', () => {
  assert.equal(withoutRepeats(steps), CHECKPOINT);
  const others = traced.filter((step) => !CHECKPOINT.includes(step));
  for (const step of others) assert.match(step, / (?:change set|changes|head record)$/);
});

const base = { before: sequenceOfBase(prepared.data), after: checked(prepared.data).sequence };

// Commits continue meanwhile, but do not change what the checkpoint writes.
for (const death of withoutTwins(deathsIn(steps, 3))) {
  test(`a server killed in a checkpoint, ${describeDeath(death)}, keeps every answered write`, async () => {
    const left = await dieServing(prepared, death);
    const which = hasMade(steps, 'rename base', death) ? 'after' : 'before';
    assert.is(sequenceOfBase(left.data), base[which]);
    await recover(left);
  });
}

test('a base of more than 4 MiB is also synced midway, and a kill at that sync loses nothing', async () => {
  const large = await prepareFull(FULL.large);
  for (const death of deathsAt(['sync base'], 1)) {
    const left = await dieServing(large, death);
    assert.is(sequenceOfBase(left.data), sequenceOfBase(large.data));
    await recover(left);
  }
  const made = await traceServing(large, ({ data }) => !hasKept(data));
  assert.equal(
    withoutRepeats(made).filter((step) => step === 'sync base'),
    ['sync base', 'sync base'],
  );
});

test('files of the earlier version that a killed checkpoint left are removed by the next one', async () => {
  const death = { step: 'remove kept base', nth: 1, side: 'after' } as const;
  const { data, ledger } = await dieServing(prepared, death);
  const server = await startServer({ data, args: prepared.args });
  assert.ok(hasKept(data));
  // As much as the base now holds, and the commit after which a checkpoint is due.
  for (let nth = 0; nth < 16; nth += 1) await ledger.fill(server, textOf(FULL.small));
  await until('the kept files are gone', () => !hasKept(data));
  assert.equal(ledger.violations, []);
  await server.stop();
  checked(data);
});

test.run();
