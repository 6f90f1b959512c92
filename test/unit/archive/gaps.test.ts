/** spec 15.3, 15.5: every change set of an archive can be restored, or is in a gap that is noted. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkArchive } from '../../../src/archive/check.ts';
import { readArchive } from '../../../src/archive/replay.ts';
import { Archived, BLOCK, textOf } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';
import { failureMessage } from '../../support/failure.ts';
import { MemoryObjects, unreachable } from '../../support/object-store.ts';
import { turn } from '../../support/turns.ts';

const steps = fc.array(
  fc.record({
    commits: fc.integer({ min: 1, max: 12 }),
    /** What the network does to objects of these folders meanwhile. */
    folders: fc.constantFrom([], ['changes'], ['bases'], ['changes', 'bases'], ['gaps', 'bases']),
    mode: fc.constantFrom('is cut', 'loses answers', 'loses the next answer'),
    /** How long the archiver has before the next step, in turns of the event loop. */
    turns: fc.constantFrom(1, 50),
    restarts: fc.nat(5).map((number) => number === 0),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Lets uploads to these folders fail, before or after their effect. */
function disturb(network: MemoryObjects, folders: readonly string[], mode: string): void {
  const fault = (call: string, name: string) => {
    if (call !== 'put' || !folders.some((folder) => name.startsWith(`${folder}/`))) return;
    if (mode === 'loses the next answer') network.after = () => {};
    unreachable();
  };
  network.before = mode === 'is cut' ? fault : () => {};
  network.after = mode === 'is cut' ? () => {} : fault;
}

/** @returns the first and the last change set of each gap. */
function rangesOf(gaps: readonly string[]): readonly (readonly [number, number])[] {
  return gaps.map((gap) => {
    const [first = 0, last = 0] = [...gap.matchAll(/\d+/g)].map(Number);
    return [first, last];
  });
}

test('whatever is lost, each other change set can be restored', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const directory = storeDirectory();
      const options = { network: new MemoryObjects(), history: 2 * BLOCK };
      const texts = new Map<number, string>();
      const open = async () => {
        const archived = await Archived.open(directory, options);
        archived.store.onCommit(({ changeSet }) => {
          texts.set(changeSet.sequence, textOf(archived.store));
        });
        return archived;
      };
      let archived = await open();
      await archived.archived();
      for (const { commits, folders, mode, turns, restarts } of taken) {
        disturb(options.network, folders, mode);
        await archived.commit(commits);
        for (let nth = 0; nth < turns; nth += 1) await turn();
        if (!restarts) continue;
        await archived.kill();
        archived = await open();
      }
      disturb(options.network, [], '');
      await archived.archived();
      await archived.commit(1);
      await archived.archived();
      const { findings, gaps } = await checkArchive(archived.objects);
      assert.equal(findings, []);
      const ranges = rangesOf(gaps);
      for (const [sequence, text] of texts) {
        const range = ranges.find(([first, last]) => first <= sequence && sequence < last);
        const restored = readArchive(archived.objects, { sequence });
        if (range === undefined) assert.is(textOf(await restored), text);
        else
          assert.match(
            await failureMessage(restored, 'archive_failed'),
            'has a gap after change set',
          );
      }
      await archived.close();
    }),
    { numRuns: Number(process.env['ARCHIVE_RUNS'] ?? 8) },
  );
});

test.run();
