/** The committer: groups, their limits and order, and the effect of failures. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, messageOf } from '../../../../src/errors.ts';
import type { ChangeSetContent } from '../../../../src/store/change-set.ts';
import { encodeChangeSet } from '../../../../src/store/files/change-set.ts';
import { atOnce } from '../../../../src/slices.ts';
import { State } from '../../../../src/store/state.ts';
import { Committer } from '../../../../src/store/writer/committer.ts';
import { Draft, type Transaction } from '../../../../src/store/writer/draft.ts';
import type { Commit } from '../../../../src/store/writer/local-commits.ts';
import { databaseOver } from '../../../../src/store/lowdb.ts';
import type { StoreObserver } from '../../../../src/store/observer.ts';
import { addBook } from '../../../support/books.ts';
import { withClock } from '../../../support/clock.ts';
import { codeOf, outcomeOf } from '../../../support/failure.ts';
import { MemoryLog } from '../../../support/memory-log.ts';
import { turn } from '../../../support/turns.ts';

async function open(observer?: StoreObserver) {
  const log = new MemoryLog();
  const low = databaseOver(log);
  await low.read();
  const fatalities: string[] = [];
  const unwanted = (error: unknown) => {
    throw error;
  };
  const onFatal = (error: unknown) => void fatalities.push(messageOf(error));
  const committer = new Committer(low, log, { onError: unwanted, onFatal, observer });
  return { log, low, committer, fatalities };
}

test('listeners get each change set with its number and digest, and its rows, in order', async () => {
  const { log, committer } = await open();
  const heard: Commit[] = [];
  committer.listen((commit) => heard.push(commit));
  for (let nth = 0; nth < 3; nth += 1) await committer.submit(addBook(`${nth}`));
  await turn();
  assert.equal(
    heard.map(({ changeSet }) => changeSet),
    log.changeSets,
  );
  assert.equal(
    heard.map(({ changeSet }) => changeSet.sequence),
    [1, 2, 3],
  );
  assert.is(heard[1]?.changeSet.previous, heard[0]?.changeSet.digest);
  assert.equal(
    heard.flatMap(({ changes }) => changes.map(({ id }) => id)),
    [1, 2, 3],
  );
});

/** How many books each group has written. */
const sizesIn = (log: MemoryLog) => log.changeSets.map(({ put }) => put.books?.length ?? 0);

test('a group ends when it has 1 MiB of changes, and the transactions after it share the next ones', async () => {
  await withClock(async () => {
    const { log, committer } = await open();
    const large = 'x'.repeat(300 * 1024);
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => committer.submit(addBook(large))),
    );
    assert.equal(
      ids,
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    // Four of these rows are more than 1 MiB.
    assert.equal(sizesIn(log), [4, 4, 2]);
  });
});

test('a group ends after 5 ms of work, and the transactions after it share the next ones', async () => {
  await withClock(async (pass) => {
    const { log, committer } = await open();
    const slow = (transaction: Transaction) => {
      pass(2);
      return addBook()(transaction);
    };
    await Promise.all(Array.from({ length: 11 }, () => committer.submit(slow)));
    assert.equal(sizesIn(log), [3, 3, 3, 2]);
  });
});

test('a group has at most 1024 transactions', async () => {
  await withClock(async () => {
    const { log, committer } = await open();
    await Promise.all(Array.from({ length: 1025 }, () => committer.submit(addBook())));
    assert.equal(sizesIn(log), [1024, 1]);
  });
});

test('while the event loop is busy, what is submitted within 7 ms of the last group shares the next one', async () => {
  await withClock(async (pass) => {
    const { log, committer } = await open();
    await committer.submit(addBook());
    const submitted: Promise<number>[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      submitted.push(committer.submit(addBook()));
      pass(2);
      await turn();
    }
    await Promise.all(submitted);
    assert.equal(sizesIn(log), [1, 3]);
  });
});

test('a long transaction shares its group with none before it and none after it', async () => {
  await withClock(async () => {
    const { log, committer } = await open();
    const ids = await Promise.all([
      committer.submit(addBook()),
      committer.submitLong(function* (transaction) {
        yield;
        return addBook()(transaction);
      }),
      committer.submit(addBook()),
    ]);
    assert.equal(ids, [1, 2, 3]);
    assert.equal(sizesIn(log), [1, 1, 1]);
  });
});

test('if a group is not written, what wrote fails with it, and what saw its changes runs again', async () => {
  const { log, committer } = await open();
  log.onAppend = async () => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  const count = (transaction: Transaction) => [...transaction.ids('books')].length;
  const refuse = (transaction: Transaction) => {
    throw new Error(`there are ${count(transaction)} books`);
  };
  const earlier = [committer.submit(count), committer.submit(refuse).catch(messageOf)];
  const wrote = codeOf(committer.submit(addBook()));
  const later = [committer.submit(count), committer.submit(refuse).catch(messageOf)];
  const wroteLater = codeOf(committer.submit(addBook()));
  assert.equal(await Promise.all(earlier), [0, 'there are 0 books']);
  assert.equal(await Promise.all([wrote, wroteLater]), ['write_refused', 'write_refused']);
  assert.equal(await Promise.all(later), [0, 'there are 0 books']);
});

test('if it is not known whether a group is on the disk, none of it runs again', async () => {
  await withClock(async () => {
    const { log, committer, fatalities } = await open();
    log.onAppend = async () => {
      throw new CatalogError('durability_unknown', 'the sync failed');
    };
    let runs = 0;
    const answers = [committer.submit(addBook()), committer.submit(() => (runs += 1))].map(codeOf);
    assert.equal(await Promise.all(answers), ['durability_unknown', 'durability_unknown']);
    await committer.close();
    assert.is(runs, 1);
    assert.equal(fatalities, ['the sync failed']);
  });
});

test('if the state cannot take a change set that is written, that is fatal, and later transactions are refused', async () => {
  const { log, low, committer, fatalities } = await open();
  low.data.apply = () => {
    throw new Error('an index contradicts its table');
  };
  const failed = await committer.submit(addBook()).catch(messageOf);
  assert.is(failed, 'an index contradicts its table', 'it is not said that nothing was changed');
  assert.equal(fatalities, ['an index contradicts its table']);
  assert.is(await codeOf(committer.submit(addBook())), 'store_closed');
  assert.is(log.changeSets.length, 1);
  await committer.close();
});

test('if an observer throws, that is fatal, the commit is answered and later transactions are refused', async () => {
  let failing = false;
  const { committer, fatalities } = await open({
    committed() {
      if (failing) throw new Error('no metrics');
    },
    appending() {},
    checkpointed() {},
  });
  await committer.submit(addBook());
  failing = true;
  // The change set is durable: its transaction is answered in any case.
  assert.is(await committer.submit(addBook()), 2);
  await turn();
  assert.equal(fatalities, ['a commit could not be completed: no metrics']);
  const late = await committer.submit(addBook()).catch(messageOf);
  assert.is(late, 'the store takes no more writes: a commit could not be completed: no metrics');
  await committer.close();
});

test('what waits while an observer throws is rejected, and does not run', async () => {
  const { log, low, committer, fatalities } = await open({
    committed() {
      throw new Error('no metrics');
    },
    appending() {},
    checkpointed() {},
  });
  let release: () => void = () => {};
  log.onAppend = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const first = committer.submit(addBook());
  await turn();
  let runs = 0;
  const counted = () => {
    runs += 1;
  };
  const waiting = [committer.submit(counted), committer.catchUp(1)];
  const outcomes = waiting.map((each) => each.catch(messageOf));
  log.onAppend = () => Promise.resolve();
  release();
  assert.is(await first, 1);
  for (const outcome of outcomes) {
    const why = 'a commit could not be completed: no metrics';
    assert.is(await outcome, `the store takes no more writes: ${why}`);
  }
  await committer.close();
  assert.is(runs, 0);
  assert.is(low.data.sequence, 1);
  assert.is(fatalities.length, 1);
});

/** The change set that another host would make of a transaction on the same state. */
function madeElsewhere(
  state: State,
  transaction: (draft: Transaction) => unknown,
  different: Partial<ChangeSetContent> = {},
) {
  const draft = new Draft(state);
  draft.run(transaction);
  const content = atOnce(draft.changeSet('2026-01-01T00:00:00.000Z')) as ChangeSetContent;
  return encodeChangeSet({ ...content, ...different });
}

test('a change set of another host is applied in turn, unchanged, and listeners get it', async () => {
  const { log, low, committer } = await open();
  const heard: Commit[] = [];
  committer.listen((commit) => heard.push(commit));
  const received = madeElsewhere(low.data, addBook('from elsewhere'));
  const taken = committer.receive(received);
  const id = await committer.submit(addBook('own'));
  await taken;
  assert.is(id, 2, 'the transaction after it sees it');
  assert.equal(log.changeSets[0], received.changeSet);
  assert.is(log.changeSets[1]?.previous, received.changeSet.digest);
  await turn();
  assert.equal(heard.map(({ changeSet, bytes }) => [changeSet.sequence, bytes]).slice(0, 1), [
    [1, received.bytes.length],
  ]);
});

test('spec 15.4: a change set is not older than that of another host whose clock is ahead', async () => {
  const { log, low, committer } = await open();
  const time = new Date(Date.now() + 30_000).toISOString();
  await committer.receive(madeElsewhere(low.data, addBook(), { time }));
  await committer.submit(addBook());
  assert.equal(
    log.changeSets.map((each) => each.time),
    [time, time],
  );
});

test('a change set of another history is refused as history_differs, and changes nothing', async () => {
  const { log, low, committer } = await open();
  const late = madeElsewhere(low.data, addBook());
  await committer.submit(addBook('first'));
  assert.is(await codeOf(committer.receive(late)), 'history_differs');
  const foreign = madeElsewhere(State.empty(), addBook(), { sequence: 2 });
  assert.is(await codeOf(committer.receive(foreign)), 'history_differs');
  const misnumbered = madeElsewhere(low.data, addBook(), { sequence: 3 });
  assert.is(await codeOf(committer.receive(misnumbered)), 'history_differs');
  assert.is(log.changeSets.length, 1);
  assert.is(await committer.submit(addBook('next')), 2);
});

test('an observer gets the outcome of every group, and of every change set of another host', async () => {
  await withClock(async () => {
    const outcomes: unknown[] = [];
    const { log, low, committer } = await open({
      committed: ({ transactions, changes, refused }) =>
        outcomes.push([transactions, changes, refused]),
      appending() {},
      checkpointed() {},
    });
    const commitAll = async () => {
      const received = madeElsewhere(low.data, addBook());
      await outcomeOf(committer.receive(received));
      await Promise.all([addBook(), addBook()].map((run) => outcomeOf(committer.submit(run))));
      await committer.submit(() => {});
    };
    await commitAll();
    log.onAppend = async () => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    await commitAll();
    assert.equal(outcomes, [
      [1, 1, null],
      [2, 2, null],
      [1, 0, null],
      [1, 1, 'disk'],
      [2, 2, 'disk'],
      [1, 0, null],
    ]);
  });
});

test('an observer gets how long each commit has taken, from when its transactions began to run', async () => {
  await withClock(async (pass) => {
    const took: number[] = [];
    const { log, low, committer } = await open({
      committed: ({ milliseconds }) => took.push(milliseconds),
      appending() {},
      checkpointed() {},
    });
    log.onAppend = async () => pass(100);
    const received = madeElsewhere(low.data, addBook());
    await committer.receive(received);
    await committer.submit((transaction) => {
      pass(2);
      return addBook()(transaction);
    });
    assert.equal(took, [100, 102]);
  });
});

test('transactions on both sides of a change set of another host are two groups', async () => {
  const { log, low, committer } = await open();
  const received = madeElsewhere(low.data, addBook());
  const first = committer.submit(addBook());
  const taken = codeOf(committer.receive(received));
  const second = committer.submit(addBook());
  assert.equal([await first, await second], [1, 2]);
  assert.equal(sizesIn(log), [1, 1]);
  assert.is(await taken, 'history_differs', 'its turn came after the first one');
});

test('after close, transactions and change sets of other hosts fail as store_closed, and change nothing', async () => {
  const { log, low, committer } = await open();
  const received = madeElsewhere(low.data, addBook());
  const taken = committer.submit(addBook());
  const closed = committer.close();
  const late = [committer.submit(addBook()), committer.receive(received), committer.catchUp(1)].map(
    codeOf,
  );
  assert.equal(await Promise.all(late), ['store_closed', 'store_closed', 'store_closed']);
  assert.is(await taken, 1);
  await closed;
  assert.equal(sizesIn(log), [1]);
  assert.is(low.data.sequence, 1);
});

test('while a checkpoint is under way, no other one begins, and after it the next commit begins one', async () => {
  const { log, committer } = await open();
  const checkpoints: PromiseWithResolvers<void>[] = [];
  log.checkpointDue = true;
  log.checkpoint = () => {
    const checkpoint = Promise.withResolvers<void>();
    checkpoints.push(checkpoint);
    return checkpoint.promise;
  };
  await committer.submit(addBook());
  await committer.submit(addBook());
  assert.is(checkpoints.length, 1);
  checkpoints[0]?.resolve();
  await turn();
  await committer.submit(addBook());
  assert.is(checkpoints.length, 2);
});

test('close waits for a checkpoint under way, so that the next owner of the files writes alone', async () => {
  const { log, committer } = await open();
  const written = Promise.withResolvers<void>();
  log.checkpointDue = true;
  log.checkpoint = () => written.promise;
  await committer.submit(addBook());
  let isClosed = false;
  const closed = committer.close().then(() => (isClosed = true));
  await turn();
  assert.not.ok(isClosed);
  written.resolve();
  await closed;
});

test('what runs or waits when a checkpoint ends writing is rejected, and nothing of it is written', async () => {
  const { log, committer, fatalities } = await open();
  const written = Promise.withResolvers<void>();
  log.checkpointDue = true;
  log.checkpoint = () => written.promise;
  await committer.submit(addBook());
  const running = committer.submitLong(function* (transaction) {
    const id = addBook()(transaction);
    written.reject(new CatalogError('durability_unknown', 'the sync failed'));
    while (fatalities.length === 0) yield;
    return id;
  });
  const outcomes = [running, committer.submit(addBook())].map(codeOf);
  // Their outcome is known: nothing of them is on the disk.
  assert.equal(await Promise.all(outcomes), ['store_closed', 'store_closed']);
  await committer.close();
  assert.is(log.changeSets.length, 1);
  assert.equal(fatalities, ['the sync failed']);
});

test('a change set of another host that the disk refuses can be sent again', async () => {
  const { log, low, committer } = await open();
  const received = madeElsewhere(low.data, addBook());
  log.onAppend = async () => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  assert.is(await codeOf(committer.receive(received)), 'write_refused');
  log.onAppend = async () => {};
  await committer.receive(received);
  assert.is(low.data.digest, received.changeSet.digest);
});

test.run();
