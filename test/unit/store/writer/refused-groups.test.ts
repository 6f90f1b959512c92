/** Groups that the disk refuses: how often their transactions run, and what each of them gets. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { databaseOver } from '../../../../src/store/lowdb.ts';
import { Committer } from '../../../../src/store/writer/committer.ts';
import { withClock } from '../../../support/clock.ts';
import { outcomeOf } from '../../../support/failure.ts';
import { MemoryLog } from '../../../support/memory-log.ts';

/** @param refuses whether the log refuses an append, by its number from 0. */
async function open(refuses: (attempt: number) => boolean) {
  const log = new MemoryLog();
  const counts = { attempts: 0, runs: 0 };
  log.onAppend = async () => {
    const isRefused = refuses(counts.attempts);
    counts.attempts += 1;
    if (isRefused) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  const low = databaseOver(log);
  await low.read();
  const unwanted = (error: unknown) => {
    throw error;
  };
  const committer = new Committer(low, log, { onError: unwanted, onFatal: unwanted });
  /** Creates brands of different names, all in one group. @returns what became of each. */
  const create = (names: readonly string[]) =>
    Promise.all(
      names.map((name) => {
        const created = committer.submit((draft) => {
          counts.runs += 1;
          for (const other of draft.matching('brands', 'name', name)) {
            throw new CatalogError('integrity', `brand ${other} has the name`);
          }
          const id = draft.nextId('brands');
          draft.put('brands', { id, name, logo: '', first_letter: '' });
        });
        return outcomeOf(created);
      }),
    );
  const stored = () => [...low.data.rows.brands.values()].map(({ name }) => String(name));
  return { counts, create, stored };
}

const MANY = 300;

test('if the disk refuses creations that exclude each other, each of them runs a few times', async () => {
  await withClock(async () => {
    const { counts, create } = await open(() => true);
    const outcomes = await create(Array.from({ length: MANY }, () => 'Same'));
    assert.equal(new Set(outcomes), new Set(['write_refused']));
    // As each of them is the first one of its name, once those before it have failed.
    assert.is(counts.attempts, MANY);
    assert.ok(counts.runs <= 4 * MANY, `${counts.runs} runs`);
  });
});

test('creations that run again and do not exclude each other share a group', async () => {
  await withClock(async () => {
    const { counts, create } = await open(() => true);
    await create(Array.from({ length: MANY }, (_, index) => `Brand ${Math.floor(index / 2)}`));
    assert.equal(counts, { attempts: 2, runs: 1.5 * MANY });
  });
});

test('creations that exclude each other share a group if the disk takes it', async () => {
  await withClock(async () => {
    const { counts, create } = await open(() => false);
    await create(Array.from({ length: MANY }, (_, index) => `Brand ${Math.floor(index / 3)}`));
    assert.equal(counts, { attempts: 1, runs: MANY });
  });
});

test('transactions that run again do not wait for others to join their group', async () => {
  await withClock(async (pass) => {
    const { create } = await open(() => true);
    let isOver = false;
    // A loop that is busy, for which a group would wait.
    const work = () => {
      pass(1);
      if (!isOver) setImmediate(work);
    };
    work();
    const begun = performance.now();
    await create(Array.from({ length: MANY }, () => 'Same'));
    isOver = true;
    const turns = performance.now() - begun;
    assert.ok(turns <= MANY, `${turns} turns of the loop for ${MANY} groups`);
  });
});

test('each creation gets the answer that fits the state after those before it', async () => {
  const some = fc.array(fc.constantFrom('A', 'B', 'C', 'D', 'E'), { maxLength: 40 });
  const refusals = fc.array(fc.boolean(), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(some, refusals, fc.boolean(), (names, refused, otherwise) =>
      withClock(async () => {
        const { counts, create, stored } = await open((nth) => refused[nth] ?? otherwise);
        const outcomes = await create(names);
        const there: string[] = [];
        for (const [index, name] of names.entries()) {
          const outcome = outcomes[index];
          const isTaken = there.includes(name);
          assert.is(outcome === 'integrity', isTaken, `${name} ${index}: ${outcome}`);
          if (outcome === 'done') there.push(name);
          else if (!isTaken) assert.is(outcome, 'write_refused');
        }
        assert.equal(stored(), there);
        assert.ok(counts.runs <= 4 * names.length, `${counts.runs} runs`);
      }),
    ),
  );
});

test.run();
