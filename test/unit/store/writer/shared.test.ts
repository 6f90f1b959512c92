/** Several writers on a shared log: conflicts, unknown outcomes, and a log that does not answer. */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, hasCode, messageOf, systemErrorCode } from '../../../../src/errors.ts';
import { databaseOver } from '../../../../src/store/lowdb.ts';
import type { State } from '../../../../src/store/state.ts';
import { Committer } from '../../../../src/store/writer/committer.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { addBook, bookRow } from '../../../support/books.ts';
import { withClock, withTimersOf } from '../../../support/clock.ts';
import { codeOf, failureMessage } from '../../../support/failure.ts';
import { type Fault, LostConnection, MemoryChangeLog } from '../../../support/memory-change-log.ts';
import { MemoryLog } from '../../../support/memory-log.ts';
import { add } from '../../../support/memory-store.ts';
import { until } from '../../../support/until.ts';

/** Increments a counter: a lost or repeated update shows in the sum. */
const increment =
  (id: number) =>
  (transaction: Transaction): number => {
    const row = transaction.get('books', id);
    const readcount = (row?.readcount ?? 0) + 1;
    transaction.put('books', { ...bookRow(id, 'counter'), readcount });
    return readcount;
  };

interface Host {
  readonly committer: Committer;
  readonly local: MemoryLog;
  readonly state: () => State;
  readonly errors: string[];
  readonly fatalities: string[];
  /** What refused each group of transactions. */
  readonly refusals: unknown[];
  /** Sets the timeout of writes, which before that is {@link TIMEOUT_MS}. */
  readonly wait: (milliseconds: number) => void;
}

/**
 * Ends the attempts of a host after an error that no test has planned, such as a fault of the
 * program: a host repeats them until they succeed.
 */
function requirePlanned(error: unknown): void {
  if (error instanceof LostConnection || systemErrorCode(error) !== null) return;
  if (hasCode(error, 'log_unavailable')) return;
  throw new Error(`an attempt failed unexpectedly: ${messageOf(error)}`, { cause: error });
}

/** Milliseconds that are long enough for any machine. */
const TIMEOUT_MS = 300_000;

/** Hosts of one history on a shared log. */
async function openHosts(count: number) {
  const origin = 'a'.repeat(64);
  const log = new MemoryChangeLog({ sequence: 0, digest: origin });
  const hosts: Host[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const local = new MemoryLog(origin);
    const low = databaseOver(local);
    await low.read();
    const [errors, fatalities]: [string[], string[]] = [[], []];
    const refusals: unknown[] = [];
    const shared = { log, writer: `host ${nth}`, timeoutMs: TIMEOUT_MS };
    const committer = new Committer(low, local, {
      onError: (error) => {
        requirePlanned(error);
        errors.push(messageOf(error));
      },
      onFatal: (error) => void fatalities.push(messageOf(error)),
      observer: {
        committed: ({ refused }) => void refusals.push(refused),
        appending() {},
        checkpointed() {},
      },
      shared,
    });
    const wait = (milliseconds: number) => void (shared.timeoutMs = milliseconds);
    hosts.push({ committer, local, errors, fatalities, refusals, wait, state: () => low.data });
  }
  return { log, hosts, host: (nth: number) => hosts[nth] as Host };
}

test('a write that conflicts with one of another host runs again on the new state', async () => {
  const { log, host } = await openHosts(2);
  assert.is(await host(0).committer.submit(addBook('first')), 1);
  assert.is(await host(1).committer.submit(addBook('second')), 2, 'the id is not given again');
  assert.is(host(1).state().get('books', 1)?.name, 'first');
  await host(0).committer.catchUp(2);
  assert.is(host(0).state().digest, host(1).state().digest);
  assert.equal(
    log.entries.map(({ changeSet }) => changeSet.writer),
    ['host 0', 'host 1'],
  );
});

test('writes that run again after a conflict stay before those that were submitted later', async () => {
  const { log, host } = await openHosts(2);
  await host(0).committer.submit(addBook('first'));
  const { committer } = host(1);
  const append = log.append.bind(log);
  let later: Promise<number> | undefined;
  log.append = (encoded) => {
    later ??= committer.submit(addBook('third'));
    return append(encoded);
  };
  assert.is(await committer.submit(addBook('second')), 2);
  assert.is(await later, 3);
});

test('a write before which others wrote until its time limit fails as log_unavailable', async () => {
  const { log, host } = await openHosts(2);
  const now = performance.now.bind(performance);
  // The limit counts from the submission, and not from the start of the process.
  let passed = 3_600_000;
  performance.now = () => now() + passed;
  const append = log.append.bind(log);
  log.append = async (encoded) => {
    if (encoded.changeSet.writer === 'host 0') {
      await host(1).committer.submit(addBook('first'));
      passed += 200_000;
    }
    return append(encoded);
  };
  try {
    assert.is(await codeOf(host(0).committer.submit(addBook())), 'log_unavailable');
    assert.is(host(0).state().count('books'), 2, 'after two attempts');
  } finally {
    performance.now = now;
  }
});

test('a host applies a change set only after the log has it', async () => {
  const { log, host } = await openHosts(1);
  log.fault = () => 'lost';
  const written = host(0).committer.submit(addBook());
  await until('the failure is reported', () => host(0).errors.length > 0);
  assert.is(host(0).local.changeSets.length, 0);
  assert.is(host(0).state().sequence, 0);
  log.fault = () => 'none';
  assert.is(await written, 1);
});

test('an append whose outcome is not known is repeated with the same bytes until it is known, and is in the log once', async () => {
  for (const [fault, attempts] of [
    ['lost', 4],
    ['unanswered', 4],
    ['late', 1],
    ['delayed', 4],
  ] as const) {
    const { log, host } = await openHosts(1);
    const sent: string[] = [];
    const append = log.append.bind(log);
    log.append = (encoded) => {
      sent.push(Buffer.from(encoded.bytes).toString());
      return append(encoded);
    };
    const faults: Fault[] = [fault, fault, fault];
    log.fault = () => faults.shift() ?? 'none';
    assert.is(await host(0).committer.submit(addBook()), 1, fault);
    assert.is(log.entries.length, 1, fault);
    assert.is(sent.length, attempts, fault);
    assert.is(new Set(sent).size, 1, fault);
    assert.is(host(0).errors.length, attempts > 1 ? 1 : 0, 'the first of several is reported');
    assert.equal(host(0).local.changeSets, [log.entries[0]?.changeSet], fault);
  }
});

test('an append or a read that fails as log_unavailable is repeated, since the log has decided nothing', async () => {
  const { log, host } = await openHosts(2);
  const [append, read] = [log.append.bind(log), log.read.bind(log)];
  const failures = ['append', 'read'];
  const fail = (operation: string) => {
    if (failures[0] !== operation) return;
    failures.shift();
    throw new CatalogError('log_unavailable', `the connection is lost during ${operation}`);
  };
  log.append = async (encoded) => {
    const appended = await append(encoded);
    fail('append');
    return appended;
  };
  log.read = async (after) => {
    fail('read');
    return read(after);
  };
  assert.is(await host(0).committer.submit(addBook()), 1);
  await host(1).committer.catchUp(1);
  assert.equal(failures, []);
  assert.is(log.entries.length, 1);
  for (const { state } of [host(0), host(1)]) assert.is(state().count('books'), 1);
});

test('if the log does not answer, a write fails as write_unknown and later ones as log_unavailable', async () => {
  const { log, host } = await openHosts(1);
  const { committer, state, wait } = host(0);
  await committer.submit(addBook());
  wait(30);
  log.fault = () => 'unanswered';
  // Both may fail before this test looks at them.
  const submit = (name: string) => codeOf(committer.submit(addBook(name)));
  const written = submit('unknown');
  await until('the append is under way', () => log.entries.length === 2);
  const behind = submit('behind');
  assert.is(await written, 'write_unknown');
  assert.is(await behind, 'log_unavailable');
  assert.is(await submit('late'), 'log_unavailable');
  assert.ok(committer.isLogUnavailable);
  assert.is(state().count('books'), 1);
  wait(TIMEOUT_MS);
  log.fault = () => 'none';
  await until('the outcome is known', () => state().count('books') === 2);
  assert.is(state().get('books', 2)?.name, 'unknown', 'the job went on');
  await until('writes are taken again', async () => {
    const tried = await committer.submit(addBook('again')).catch((error: unknown) => error);
    return tried === 3;
  });
  assert.not.ok(committer.isLogUnavailable);
});

test('a write that waits for a long catch-up fails as log_unavailable, and the message says why', async () => {
  const { log, host } = await openHosts(2);
  await host(0).committer.submit(addBook());
  const { committer, wait } = host(1);
  wait(30);
  const arrived = Promise.withResolvers<void>();
  const read = log.read.bind(log);
  log.read = (after) => arrived.promise.then(() => read(after));
  const behind = committer.catchUp(1);
  const message = await failureMessage(committer.submit(addBook()), 'log_unavailable');
  assert.is(message, 'this host has not caught up with the shared log; nothing was changed');
  arrived.resolve();
  await behind;
  assert.not.ok(committer.isLogUnavailable);
});

test('once the log has answered, the time limit is over, whatever the answer was', () =>
  withTimersOf(TIMEOUT_MS, async (timers) => {
    const { log, host } = await openHosts(2);
    await host(0).committer.submit(addBook('first'));
    await host(1).committer.catchUp(1);
    await host(0).committer.submit(addBook('second'));
    await host(1).committer.submit(addBook('after a conflict'));
    log.append = async () => {
      throw new CatalogError('body_too_large', 'the change set is too large');
    };
    assert.is(await codeOf(host(1).committer.submit(addBook())), 'body_too_large');
    assert.is(timers.begun, 6);
    assert.is(timers.running.size, 0);
  }));

test('a write that failed as write_unknown does not run again after a conflict', async () => {
  const { log, host } = await openHosts(2);
  host(0).wait(30);
  log.fault = (writer) => (writer === 'host 0' ? 'lost' : 'none');
  assert.is(await codeOf(host(0).committer.submit(addBook('lost'))), 'write_unknown');
  assert.is(await host(1).committer.submit(addBook('other')), 1);
  log.fault = () => 'none';
  await host(0).committer.catchUp(1);
  assert.is(host(0).state().digest, host(1).state().digest);
  assert.is(log.entries.length, 1);
});

test('a change set that the log has is written again until the disk of the host accepts it', async () => {
  const { host, log } = await openHosts(1);
  const { committer, local, state, wait } = host(0);
  wait(30);
  let attempts = 0;
  local.onAppend = async () => {
    attempts += 1;
    // Without pauses between them, the attempts would never end.
    if (attempts > 1000) throw new Error('too many attempts');
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  const message = await failureMessage(committer.submit(addBook()), 'write_unknown');
  const obstacle = 'the disk of this host has not taken what is in the shared log';
  assert.match(message, `${obstacle}, and the write may still take effect`);
  const later = await failureMessage(committer.submit(addBook()), 'log_unavailable');
  assert.is(later, `${obstacle}; nothing was changed`);
  await until('the log has it', () => log.entries.length === 1);
  local.onAppend = async () => {};
  await until('the host has it too', () => state().sequence === 1);
  assert.equal(host(0).fatalities, []);
});

test('a fault of the program while a change set of the log is written ends the process', async () => {
  const { host } = await openHosts(1);
  const { committer, local, fatalities } = host(0);
  local.onAppend = async () => {
    throw Object.assign(new TypeError('no number'), { code: 'ERR_INVALID_ARG_TYPE' });
  };
  const failure = await committer.submit(addBook()).catch((error: unknown) => error);
  // The log has the change set, so it must not be said to be refused.
  assert.is(messageOf(failure), 'a commit could not be completed: no number');
  assert.equal(fatalities, ['a commit could not be completed: no number']);
});

test('if the log refuses a change set, the write is refused, and the next one succeeds', async () => {
  const { log, host } = await openHosts(1);
  const append = log.append.bind(log);
  log.append = async () => {
    throw new CatalogError('body_too_large', 'the change set is too large');
  };
  assert.is(await codeOf(host(0).committer.submit(addBook())), 'body_too_large');
  log.append = append;
  assert.is(await host(0).committer.submit(addBook()), 1);
  assert.equal(host(0).refusals, ['log', null]);
});

test('if the log refuses a change set, what has seen it fails too, and does not run again', () =>
  // So that all is one group: a group also ends after 5 ms.
  withClock(async () => {
    const { log, host } = await openHosts(1);
    const { committer } = host(0);
    log.append = async () => {
      throw new CatalogError('body_too_large', 'the change set is too large');
    };
    let runs = 0;
    const written = codeOf(committer.submit(addBook()));
    const seen = codeOf(
      committer.submit((transaction) => {
        runs += 1;
        return transaction.lastId('books');
      }),
    );
    assert.is(await written, 'body_too_large');
    assert.is(await seen, 'body_too_large');
    await committer.submit((transaction) => transaction.lastId('books'));
    assert.is(runs, 1);
  }));

test('after the log refuses a change set late, writes are accepted again', async () => {
  const { log, host } = await openHosts(1);
  const { committer, wait } = host(0);
  wait(30);
  const append = log.append.bind(log);
  const answer = Promise.withResolvers<void>();
  log.append = async () => {
    await answer.promise;
    throw new CatalogError('body_too_large', 'the change set is too large');
  };
  assert.is(await codeOf(committer.submit(addBook())), 'write_unknown', 'the log is silent');
  wait(TIMEOUT_MS);
  log.append = append;
  answer.resolve();
  // catchUp waits for its turn; after it the refusal is known.
  await committer.catchUp(0);
  assert.is(await committer.submit(addBook()), 1);
});

test('while the log is silent, what does not depend on it is answered, and catching up keeps its turn', () =>
  // So that all is one group: a group also ends after 5 ms.
  withClock(async () => {
    const { log, host } = await openHosts(1);
    const { committer, wait } = host(0);
    wait(30);
    const append = log.append.bind(log);
    const silence = Promise.withResolvers<void>();
    log.append = async (encoded) => {
      await silence.promise;
      return append(encoded);
    };
    const read = committer.submit((transaction) => transaction.lastId('books'));
    const written = codeOf(committer.submit(addBook()));
    const seen = codeOf(committer.submit((transaction) => transaction.lastId('books')));
    let hasCaughtUp = false;
    const caughtUp = committer.catchUp(0).then(() => (hasCaughtUp = true));
    assert.is(await written, 'write_unknown');
    assert.is(await read, 0);
    assert.is(await seen, 'write_unknown', 'it ran on the write');
    assert.not.ok(hasCaughtUp);
    silence.resolve();
    await caughtUp;
    assert.is(host(0).state().sequence, 1);
  }));

test('a host that has the requested change set does not read the log to catch up', async () => {
  const { log, host } = await openHosts(1);
  const { committer } = host(0);
  await committer.submit(addBook());
  let reads = 0;
  const read = log.read.bind(log);
  log.read = (after) => {
    reads += 1;
    return read(after);
  };
  await committer.catchUp(1);
  assert.is(reads, 0);
  await committer.catchUp(2);
  assert.is(reads, 1, 'what it may lack is read');
});

test('catch-ups that wait for their turn read the log once, up to the highest target', async () => {
  const { log, host } = await openHosts(2);
  await host(0).committer.submit(addBook('first'));
  await host(0).committer.submit(addBook('second'));
  const { committer, local, state } = host(1);
  const accepted = Promise.withResolvers<void>();
  local.onAppend = () => accepted.promise;
  let reads = 0;
  const read = log.read.bind(log);
  log.read = (after) => {
    reads += 1;
    return read(after);
  };
  const running = committer.catchUp(1);
  await until('the disk is asked', () => reads === 1);
  const waiting = [3, 2, 3].map((target) => committer.catchUp(target));
  const jobs = committer.waiting;
  accepted.resolve();
  await running;
  const readsOfTheFirst = reads;
  await Promise.all(waiting);
  assert.is(jobs, 1);
  assert.is(state().sequence, 2);
  assert.is(reads, readsOfTheFirst + 1, 'the log is asked once for change set 3');
  await committer.catchUp(3);
  assert.is(reads, readsOfTheFirst + 2, 'a later one does not join it');
});

test('a catch-up that is refused before its turn is refused for those that have joined it', async () => {
  const { host } = await openHosts(1);
  const { committer } = host(0);
  await committer.close();
  for (const late of [committer.catchUp(1), committer.catchUp(2)]) {
    assert.is(await codeOf(late), 'store_closed');
  }
  assert.is(await codeOf(committer.catchUp(3)), 'store_closed');
});

test('the work that a large change set defers is done before the next one is applied, or if none follows', async () => {
  const { host } = await openHosts(2);
  const { committer, local, state } = host(1);
  // The first look-up builds the index whose lists the change sets move.
  state().matching('categories', 'parent_id', null);
  const addMany = () =>
    host(0).committer.submit((transaction) => {
      const values = { name: 'Wood', parent_id: null };
      for (let nth = 1; nth <= 2000; nth += 1) add(transaction, 'categories', values);
    });
  await addMany();
  await committer.catchUp(1);
  // It waits for its turn, which begins after that work.
  await committer.catchUp(0);
  assert.ok(state().settled);
  await addMany();
  await host(0).committer.submit(addBook());
  const settled: boolean[] = [];
  local.onAppend = async () => void settled.push(state().settled);
  await committer.catchUp(3);
  assert.equal(settled, [true, true]);
});

test('a host whose next change sets were trimmed from the log refuses writes as log_unavailable', async () => {
  const { log, host } = await openHosts(2);
  for (const name of ['1', '2', '3']) await host(0).committer.submit(addBook(name));
  await log.trim(3);
  assert.match(await failureMessage(host(1).committer.catchUp(3), 'log_unavailable'), 'trimmed');
  assert.is(await codeOf(host(1).committer.submit(addBook())), 'log_unavailable');
  assert.is(host(1).state().count('books'), 0);
});

test('a host that cannot apply the next change set of the log refuses writes as log_unavailable', async () => {
  for (const code of ['history_differs', 'schema_version', 'store_damaged'] as const) {
    const { log, host } = await openHosts(2);
    await host(0).committer.submit(addBook());
    log.read = async () => {
      throw new CatalogError(code, `it is ${code}`);
    };
    const refusal = await failureMessage(host(1).committer.catchUp(1), 'log_unavailable');
    assert.match(refusal, `it is ${code}`);
    const notRun = host(1).committer.submit(() => assert.unreachable());
    assert.is(await codeOf(notRun), 'log_unavailable', code);
  }
});

test('if a change set of the log is damaged, the refusal names it', async () => {
  const { log, host } = await openHosts(2);
  for (const name of ['1', '2']) await host(0).committer.submit(addBook(name));
  await host(1).committer.catchUp(1);
  await host(0).committer.submit(addBook('3'));
  const read = log.read.bind(log);
  log.read = async (after) => (await read(after)).map((bytes) => bytes.slice(1));
  const refusal = await failureMessage(host(1).committer.catchUp(3), 'log_unavailable');
  assert.match(refusal, 'change set 3 of the log is damaged');
});

test('a change set of another history is not applied, and the refusal says why', async () => {
  const [{ log, host }, other] = [await openHosts(1), await openHosts(1)];
  await host(0).committer.submit(addBook('1'));
  for (const name of ['other 1', '2']) await other.host(0).committer.submit(addBook(name));
  log.read = (after) => other.log.read(after);
  const refusal = await failureMessage(host(0).committer.catchUp(2), 'log_unavailable');
  assert.match(refusal, 'it is from another history');
  assert.is(host(0).state().count('books'), 1);
});

test('close does not wait for a log that does not answer', async () => {
  const { log, host } = await openHosts(1);
  log.fault = () => 'lost';
  const written = codeOf(host(0).committer.submit(addBook()));
  await until('the failure is reported', () => host(0).errors.length > 0);
  // Another attempt would succeed.
  log.fault = () => 'none';
  await host(0).committer.close();
  assert.is(await written, 'write_unknown');
});

/** A step of the property test: which host writes what, and how the calls to the log fail. */
const step = fc.record({
  host: fc.nat(2),
  kind: fc.constantFrom('add' as const, 'increment' as const, 'together' as const),
  faults: fc.array(
    fc.constantFrom<Fault>('none', 'none', 'lost', 'unanswered', 'late', 'delayed'),
    { maxLength: 3 },
  ),
  wait: fc.boolean(),
});

test('with several writers on a faulty log, no write is lost or repeated, and all states are equal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { log, hosts, host } = await openHosts(3);
      const faults: Fault[] = [];
      log.fault = () => faults.shift() ?? 'none';
      const counter = await host(0).committer.submit(addBook('counter'));
      const added: Promise<number>[] = [];
      const counted: Promise<number>[] = [];
      for (const { host: nth, kind, faults: more, wait } of steps) {
        faults.push(...more);
        const { committer } = host(nth);
        if (kind !== 'increment') added.push(committer.submit(addBook('added')));
        if (kind !== 'add') counted.push(committer.submit(increment(counter)));
        if (wait) await pause(0);
      }
      const ids = await Promise.all(added);
      const values = await Promise.all(counted);
      await Promise.all(hosts.map(({ committer }) => committer.catchUp(log.last.sequence)));
      assert.is(new Set(ids).size, ids.length, 'no id is given twice');
      assert.is(new Set(values).size, values.length, 'each increment has seen all before it');
      for (const { state, local, fatalities } of hosts) {
        assert.equal(fatalities, []);
        assert.is(state().digest, log.last.digest);
        assert.is(state().get('books', counter)?.readcount, values.length);
        assert.equal(
          local.changeSets.map(({ digest }) => digest),
          digestsOf(log),
        );
        for (const id of ids) assert.is(state().get('books', id)?.name, 'added');
        assert.is(state().count('books'), 1 + ids.length, 'nothing is written twice');
      }
    }),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 20) },
  );
});

function digestsOf(log: MemoryChangeLog): string[] {
  return log.entries.map(({ changeSet }) => changeSet.digest);
}

test.run();
