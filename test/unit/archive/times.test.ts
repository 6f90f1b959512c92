/** spec 15.4, 15.6: what a restore to a time and the removal of old objects do if a clock was wrong. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readArchive } from '../../../src/archive/replay.ts';
import { prune } from '../../../src/archive/retention.ts';
import { Archived } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';

const { now } = Date;

test.after.each(() => {
  Date.now = now;
});

function setClock(time: string): void {
  Date.now = () => Date.parse(time);
}

/** Writes until there is a checkpoint of it. @returns the sequence of its base in the archive. */
async function addBase(archived: Archived): Promise<number> {
  const { sequence } = archived.store;
  // One of what was written before may still be under way.
  while (archived.store.baseSequence <= sequence) await archived.commit(1);
  await archived.archived();
  return basesOf(archived).at(-1) ?? 0;
}

function basesOf({ network }: Archived): number[] {
  return network.in('bases').map((name) => Number(name.slice(0, 12)));
}

/** A base at 10:00, a change at 12:00, a base while the clock is years behind, one at 14:00. */
async function behindForAWhile() {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  setClock('2026-12-01T10:00:00.000Z');
  const first = await addBase(archived);
  const end = archived.store.sequence;
  setClock('2026-12-01T12:00:00.000Z');
  await archived.commit(1);
  setClock('2020-01-01T00:00:00.000Z');
  await addBase(archived);
  setClock('2026-12-01T14:00:00.000Z');
  const last = await addBase(archived);
  return { archived, first, end, last };
}

test('a base of a clock that was behind is not used for a time before the changes that it holds', async () => {
  const { archived, end } = await behindForAWhile();
  const { sequence } = await readArchive(archived.objects, { at: '2026-12-01T11:00:00.000Z' });
  assert.is(sequence, end);
  await archived.close();
});

test('a base of a clock that was behind does not count as old', async () => {
  const { archived, first, last } = await behindForAWhile();
  const hour = 3_600_000;
  await prune(archived.objects, 3 * hour, Date.parse('2026-12-01T14:00:00.000Z'));
  assert.is(basesOf(archived)[0], first);
  await prune(archived.objects, 3 * hour, Date.parse('2026-12-01T17:00:00.000Z'));
  assert.equal(basesOf(archived), [last]);
  await archived.close();
});

test('a base of a clock that was years ahead does not stop the removal of old ones', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  setClock('2026-12-01T10:00:00.000Z');
  await addBase(archived);
  setClock('2036-01-01T00:00:00.000Z');
  await addBase(archived);
  setClock('2026-12-01T14:00:00.000Z');
  const last = await addBase(archived);
  await prune(archived.objects, 0, Date.parse('2026-12-01T14:00:00.000Z'));
  assert.equal(basesOf(archived), [last]);
  await archived.close();
});

test('a clock that goes back by more than a minute is logged, once an hour', async () => {
  const archived = await Archived.open(storeDirectory());
  setClock('2026-12-01T10:00:00.000Z');
  await archived.commit(1);
  setClock('2026-12-01T09:59:00.000Z');
  await archived.commit(1);
  await archived.archived();
  assert.equal(archived.log, []);
  setClock('2026-12-01T09:58:59.999Z');
  await archived.commit(2);
  await archived.archived();
  assert.is(archived.log.length, 1);
  assert.match(archived.log.join(), 'change set 3 is of 2026-12-01T09:58:59.999Z');
  // As of two hosts that write in turn.
  setClock('2026-12-01T10:00:00.000Z');
  await archived.commit(1);
  setClock('2026-12-01T09:58:00.000Z');
  await archived.commit(1);
  await archived.archived();
  assert.is(archived.log.length, 1);
  await archived.close();
});

test('a clock that went back while the server was stopped is logged', async () => {
  const directory = storeDirectory();
  const first = await Archived.open(directory);
  setClock('2026-12-01T10:00:00.000Z');
  await first.commit(1);
  await first.close();
  setClock('2020-01-01T00:00:00.000Z');
  const second = await Archived.open(directory, { network: first.network });
  await second.commit(1);
  await second.archived();
  assert.match(second.log.join(), 'change set 2 is of 2020-01-01T00:00:00.000Z');
  await second.close();
});

test.run();
