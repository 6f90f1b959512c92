/** src/archive/archiver.ts, invariant 1: at most one upload of a base is under way. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { BaseUpload } from '../../../src/archive/base-upload.ts';
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

test.run();
