/** Bases of an archive: when one is missing, and that at most one upload is under way. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { BaseUpload } from '../../../src/archive/base-upload.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { addBook } from '../../support/books.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { codeOf } from '../../support/failure.ts';
import { MemoryObjects } from '../../support/object-store.ts';
import { openQuickStore } from '../../support/quick-store.ts';
import { turn } from '../../support/turns.ts';

/** Turns of the event loop that a request takes: many more than it takes to make a small base. */
const REQUEST_TURNS = 50;

for (const fails of [false, true]) {
  const ended = fails ? 'has failed' : 'is stored';
  test(`an upload begins only after the one before it ${ended}, and stores the newer state`, async () => {
    const store = await openQuickStore(temporaryDirectory());
    const network = new MemoryObjects();
    const events: string[] = [];
    network.before = async () => {
      const isFirst = events.length === 0;
      events.push('begun');
      for (let nth = 0; nth < REQUEST_TURNS; nth += 1) await turn();
      events.push('ended');
      if (fails && isFirst) throw new Error('ECONNRESET');
    };
    const bases = new BaseUpload(new ArchiveObjects(network, null), store);
    const first = bases.upload();
    const second = bases.upload();
    await store.transact(addBook());
    if (fails) assert.is(await codeOf(first), 'archive_failed');
    else assert.is((await first).sequence, 0);
    assert.is((await second).sequence, 1);
    assert.equal(events, ['begun', 'ended', 'begun', 'ended']);
    assert.is(bases.newest?.sequence, 1);
    assert.is(network.in('bases').length, fails ? 1 : 2);
    await store.close();
  });
}

test('a base is missing if there is none, after a checkpoint, and after a migration', () => {
  const store = { baseSequence: 5, snapshot: () => assert.unreachable() as never };
  const bases = new BaseUpload(new ArchiveObjects(new MemoryObjects(), null), store);
  assert.ok(bases.isMissing);
  const base = { name: '', sequence: 5, schema: SCHEMA_VERSION, time: null, digest: '' };
  for (const [newest, isMissing] of [
    [base, false],
    [{ ...base, sequence: 4 }, true],
    [{ ...base, schema: SCHEMA_VERSION - 1 }, true],
  ] as const) {
    bases.newest = newest;
    assert.is(bases.isMissing, isMissing);
  }
});

test.run();
