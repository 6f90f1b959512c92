/** Responses that are kept for repeated requests: for how long, and how many. */
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../src/disk/disk.ts';
import { CatalogError } from '../../../src/errors.ts';
import type { KindName } from '../../../src/model/kind.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import {
  type Created,
  type Creation,
  isKept,
  recall,
  remember,
  type Retry,
} from '../../../src/resources/idempotency.ts';
import type { Address } from '../../../src/resources/address.ts';
import { AuditedStore } from '../../../src/resources/audit/audited-store.ts';
import { Records } from '../../../src/resources/records.ts';
import { boundFaults } from '../../../src/store/bounded.ts';
import { checkStore } from '../../../src/store/check.ts';
import { State } from '../../../src/store/state.ts';
import { Draft, type Transaction } from '../../../src/store/writer/draft.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { Store } from '../../../src/store/store.ts';
import { settle } from '../../support/memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk, refusableDisk } from '../../support/disk.ts';
import { codeOf, outcomeOf } from '../../support/failure.ts';
import { numbersTo } from '../../support/numbers.ts';
import { openQuickStore } from '../../support/quick-store.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const MEBIBYTE = 1024 * 1024;

/** The limits of a subject according to the documentation. */
const MOST_KEYS = 10_000;
const MOST_BYTES = 8 * MEBIBYTE;

/** The limits of all requests without a token together. */
const ANONYMOUS = { keys: 1_000, bytes: 2 * MEBIBYTE };

const KEYS = 'idempotency_keys';
const BOOKS: Address = { kind: KINDS.books, parent: null };
const BRANDS: Address = { kind: KINDS.brands, parent: null };

const book = (name: string) => ({ name, pub_date: '1815-12-23' });

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** The time of the clock, in milliseconds since the epoch. */
const clock = { time: Date.UTC(2026, 0, 1) };

interface Opened {
  readonly store: Store;
  readonly records: Records;
  readonly directory: string;
}

async function open(
  directory = temporaryDirectory(),
  more: { readonly disk?: Disk; readonly smallestCheckpoint?: number } = {},
): Promise<Opened> {
  const store = await openQuickStore(directory, more);
  const audited = new AuditedStore(store, { now: () => clock.time });
  return { store, directory, records: new Records(audited) };
}

/** Creates a book with a key of a subject. */
const createFor = (subject: string, { records }: Opened, key: string): Promise<Creation> =>
  records.create(BOOKS, book('Emma'), { subject, key });

/** Creates a book with a key. */
const create = (
  { records }: Opened,
  key: string,
  name = 'Emma',
  subject: string | null = null,
): Promise<Creation> => records.create(BOOKS, book(name), { subject, key });

const idsOf = ({ store }: Opened) => [...store.ids(KEYS)];

async function close({ store, directory }: Opened): Promise<void> {
  await store.close();
  assert.equal(checkStore(quickDisk, directory).findings, []);
}

/** The ids of the kept keys have no gap, and the newest row contains the oldest id. */
function assertConsecutive(ids: readonly number[], oldest: unknown): void {
  const [first = 0] = ids;
  assert.equal(
    ids,
    ids.map((_, index) => first + index),
  );
  assert.is(oldest, ids[0]);
}

test('a response is repeated for 24 hours, to the millisecond', async () => {
  const opened = await open();
  const begun = clock.time;
  const first = await create(opened, 'key');
  assert.is(first.replayed, false);
  for (const later of [0, 1, HOUR, DAY - 1]) {
    clock.time = begun + later;
    assert.equal(await create(opened, 'key'), { ...first, replayed: true }, String(later));
    assert.is(isKept(opened.store, { subject: null, key: 'key' }, clock.time), true);
  }
  clock.time = begun + DAY;
  assert.is(isKept(opened.store, { subject: null, key: 'key' }, clock.time), false);
  const second = await create(opened, 'key');
  assert.is(second.replayed, false);
  assert.is(second.id, Number(first.id) + 1);
  await close(opened);
});

test('repeating a request does not extend the 24 hours', async () => {
  const opened = await open();
  const begun = clock.time;
  await create(opened, 'key');
  for (let hour = 1; hour < 24; hour += 1) {
    clock.time = begun + hour * HOUR;
    assert.is((await create(opened, 'key')).replayed, true);
  }
  clock.time = begun + DAY;
  assert.is((await create(opened, 'key')).replayed, false);
  await close(opened);
});

test('after 24 hours a key can be used for another request, whose response is then kept', async () => {
  const opened = await open();
  const begun = clock.time;
  await create(opened, 'key', 'Emma');
  assert.is(await codeOf(create(opened, 'key', 'Persuasion')), 'key_reused');
  clock.time = begun + DAY;
  const second = await create(opened, 'key', 'Persuasion');
  assert.is(second.replayed, false);
  assert.is(await codeOf(create(opened, 'key', 'Emma')), 'key_reused');
  clock.time = begun + 2 * DAY - 1;
  assert.equal(await create(opened, 'key', 'Persuasion'), { ...second, replayed: true });
  await close(opened);
});

test('the 24 hours begin with the response, even if the server restarts', async () => {
  const opened = await open();
  const begun = clock.time;
  const first = await create(opened, 'key');
  await close(opened);
  const again = await open(opened.directory);
  clock.time = begun + DAY - 1;
  assert.equal(await create(again, 'key'), { ...first, replayed: true });
  clock.time = begun + DAY;
  assert.is((await create(again, 'key')).replayed, false);
  await close(again);
});

test('expired keys are removed when the next key is stored', async () => {
  const opened = await open();
  const begun = clock.time;
  for (const key of ['a', 'b', 'c']) {
    await create(opened, key);
    clock.time += HOUR;
  }
  assert.equal(idsOf(opened), [1, 2, 3]);
  clock.time = begun + DAY + HOUR;
  await create(opened, 'd');
  assert.equal(idsOf(opened), [3, 4]);
  clock.time += 2 * DAY;
  await create(opened, 'e');
  assert.equal(idsOf(opened), [5]);
  assertConsecutive([5], opened.store.get(KEYS, 5)?.['oldest']);
  await close(opened);
});

test('if the clock is set back, no response is lost and none is kept forever', async () => {
  const opened = await open();
  const begun = clock.time;
  const early = await create(opened, 'early');
  clock.time = begun - 3 * DAY;
  assert.equal(await create(opened, 'early'), { ...early, replayed: true });
  const late = await create(opened, 'late');
  clock.time = begun - 2 * DAY;
  assert.is((await create(opened, 'late')).replayed, false, 'its own 24 hours are over');
  assert.not.equal(late, early);
  clock.time = begun + DAY;
  await create(opened, 'next');
  assert.is(idsOf(opened).length, 1);
  await close(opened);
});

test('10,000 keys of a subject are kept, and one more removes the oldest', async () => {
  const opened = await open();
  const add = (of: Opened, key: string) => createFor('ann', of, key);
  const created = await Promise.all(
    numbersTo(MOST_KEYS).map((index) => add(opened, `key ${index}`)),
  );
  assert.is(opened.store.count(KEYS), MOST_KEYS);
  const again = await Promise.all(numbersTo(MOST_KEYS).map((index) => add(opened, `key ${index}`)));
  assert.ok(again.every(({ replayed, text }, index) => replayed && text === created[index]?.text));
  assert.is(opened.store.count('books'), MOST_KEYS);

  await add(opened, 'one more');
  assert.is(opened.store.count(KEYS), MOST_KEYS);
  assert.is((await add(opened, 'key 1')).replayed, true, 'the second is still kept');
  assert.is((await add(opened, 'key 0')).replayed, false, 'the first was removed');
  assert.is((await add(opened, 'key 1')).replayed, false, 'now the second was removed');
  assert.is((await add(opened, 'one more')).replayed, true);
  const ids = idsOf(opened);
  assert.is(ids.length, MOST_KEYS);
  assertConsecutive(ids, opened.store.get(KEYS, ids.at(-1) ?? 0)?.['oldest']);
  await close(opened);

  const reopened = await open(opened.directory);
  assert.equal(idsOf(reopened), ids);
  assert.is((await add(reopened, 'one more')).replayed, true);
  await add(reopened, 'behind a restart');
  assert.equal(idsOf(reopened), [...ids.slice(1), (ids.at(-1) ?? 0) + 1]);
  await close(reopened);
});

test('a response is repeated only for the same subject, key and request', async () => {
  const opened = await open();
  const { records } = opened;
  const of = (address: Address, subject: string | null, key: string) =>
    records.create(address, { ...book('Emma'), parent_id: null }, { subject, key });
  const first = await of(BOOKS, 'ann', 'key');
  assert.is((await of(BOOKS, 'ann', 'key')).replayed, true);
  for (const [subject, key] of [
    ['bob', 'key'],
    [null, 'key'],
    ['null', 'key'],
    ['ann', 'Key'],
    ['ann","key', ''],
    ['', 'ann","key'],
  ] as const) {
    assert.is((await of(BOOKS, subject, key)).replayed, false, `${subject} ${key}`);
  }
  assert.is(await codeOf(of(BRANDS, 'ann', 'key')), 'key_reused');
  assert.equal(await of(BOOKS, 'ann', 'key'), { ...first, replayed: true });
  await close(opened);
});

test('3000 concurrent requests with one key create one row and get the same response', async () => {
  const opened = await open();
  const answers = await Promise.all(numbersTo(3000).map(() => create(opened, 'key')));
  assert.is(answers.filter(({ replayed }) => !replayed).length, 1);
  assert.is(new Set(answers.map(({ text }) => text)).size, 1);
  assert.is(opened.store.count('books'), 1);
  assert.equal(idsOf(opened), [1]);
  await close(opened);
});

test('a failed creation leaves no key, and the rest of its group is committed', async () => {
  const opened = await open();
  const { records } = opened;
  const spec = (goods_id: number) =>
    records.create(
      { kind: KINDS.specs, parent: null },
      { name: 'S', goods_id },
      { subject: null, key: 'key' },
    );
  const codes = await Promise.all([
    outcomeOf(create(opened, 'before')),
    outcomeOf(spec(1)),
    outcomeOf(create(opened, 'key')),
    outcomeOf(spec(1)),
    outcomeOf(create(opened, 'after')),
  ]);
  assert.equal(codes, ['done', 'integrity', 'done', 'key_reused', 'done']);
  assert.equal(idsOf(opened), [1, 2, 3]);
  await close(opened);
});

test('if the disk refuses a commit, neither the object nor its key is stored', async () => {
  const refusal = { active: false };
  const disk = refusableDisk(refusal);
  const opened = await open(temporaryDirectory(), { disk });
  await create(opened, 'first');
  refusal.active = true;
  const both = [create(opened, 'key'), create(opened, 'key')];
  assert.equal(await Promise.all(both.map(codeOf)), ['write_refused', 'write_refused']);
  // A stored response is still repeated, since that needs no write.
  assert.is((await create(opened, 'first')).replayed, true);
  // Nor does it depend on the writes that come before it in its group.
  const beside = await Promise.all([
    codeOf(create(opened, 'key')),
    outcomeOf(create(opened, 'first')),
    codeOf(create(opened, 'other')),
    outcomeOf(create(opened, 'first')),
  ]);
  assert.equal(beside, ['write_refused', 'done', 'write_refused', 'done']);
  refusal.active = false;
  const done = await create(opened, 'key', 'Another');
  assert.is(done.replayed, false);
  assert.is(done.id, 2);
  assert.equal(idsOf(opened), [1, 2]);
  await close(opened);
});

test('after a crash between two commits an object and its key are both stored, or neither is', async () => {
  const opened = await open();
  const copies: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    await create(opened, `key ${index}`, `Book ${index}`);
    const copy = temporaryDirectory();
    cpSync(opened.directory, copy, { recursive: true });
    copies.push(copy);
  }
  await close(opened);
  for (const [last, directory] of copies.entries()) {
    const again = await open(directory);
    assert.is(again.store.count('books'), last + 1);
    for (let index = 0; index < 5; index += 1) {
      const { replayed, id } = await create(again, `key ${index}`, `Book ${index}`);
      assert.is(replayed, index <= last);
      assert.is(id, index + 1);
    }
    await close(again);
  }
});

test('keys and their responses survive checkpoints', async () => {
  const opened = await open(temporaryDirectory(), { smallestCheckpoint: 16_384 });
  const answers: Creation[] = [];
  for (let index = 0; index < 60; index += 1) answers.push(await create(opened, `key ${index}`));
  await close(opened);
  const { files = [] } = recover(quickDisk, opened.directory) ?? {};
  assert.ok(files.length < 60, 'there was a checkpoint');
  const again = await open(opened.directory);
  for (const [index, answer] of answers.entries()) {
    assert.equal(await create(again, `key ${index}`), { ...answer, replayed: true });
  }
  await close(again);
});

test('the id of a key is not used again after every key was removed and a checkpoint was written', async () => {
  const opened = await open(temporaryDirectory(), { smallestCheckpoint: 16_384 });
  for (let index = 0; index < 30; index += 1) await create(opened, `key ${index}`);
  clock.time += DAY;
  await create(opened, 'last');
  assert.equal(idsOf(opened), [31]);
  await close(opened);
  const again = await open(opened.directory);
  clock.time += DAY;
  await create(again, 'next');
  assert.equal(idsOf(again), [32]);
  await close(again);
});

/** Transactions in memory, each committed alone, so that large responses are fast. */
class Ledger {
  readonly state = State.empty();

  commit<T>(run: (transaction: Transaction) => T): T {
    const draft = new Draft(this.state);
    const result = draft.run(run);
    settle(this.state, draft);
    return result;
  }

  get ids(): number[] {
    return [...this.state.ids(KEYS)];
  }

  get faults(): string[] {
    return boundFaults(KINDS[KEYS], this.state.rows[KEYS], this.state.lastIds[KEYS]);
  }

  /** Bytes of the kept responses. */
  get bytes(): number {
    return this.ids.reduce(
      (sum, id) => sum + Buffer.byteLength(String(this.state.get(KEYS, id)?.['body'])),
      0,
    );
  }
}

/** The rules of the documentation applied to a list, the oldest first. */
class Model {
  kept: {
    readonly subject: string | null;
    readonly name: string;
    readonly request: string;
    readonly time: number;
    readonly answer: Created;
  }[] = [];

  recall(name: string, request: string, now: number): Created | null | 'reused' {
    const found = this.kept.find((each) => each.name === name && now - each.time < DAY);
    if (found === undefined) return null;
    return found.request === request ? found.answer : 'reused';
  }

  remember(step: Step, name: string, answer: Created, now: number): void {
    const { subject, request } = step;
    const isOver = ({ time }: { readonly time: number }) => now - time >= DAY;
    for (let most = 2; most > 0 && this.kept[0] && isOver(this.kept[0]); most -= 1) {
      this.kept.shift();
    }
    this.kept.push({ subject, name, request, time: now, answer });
    const bound = subject === null ? ANONYMOUS : { keys: MOST_KEYS, bytes: MOST_BYTES };
    for (;;) {
      const shelf = this.kept.filter((each) => each.subject === subject);
      const bytes = shelf.reduce((sum, { answer: { text } }) => sum + text.length, 0);
      const [oldest] = shelf;
      if (oldest === undefined || shelf.length === 1) return;
      if (!isOver(oldest) && shelf.length <= bound.keys && bytes <= bound.bytes) return;
      this.kept = this.kept.filter((each) => each !== oldest);
    }
  }
}

interface Step {
  readonly subject: string | null;
  readonly key: string;
  readonly request: string;
  /** Milliseconds since the previous step. */
  readonly pause: number;
  readonly size: number;
  readonly array: boolean;
}

const TEXT = 'x'.repeat(40 * MEBIBYTE);

function answerOf({ size, array }: Step, nth: number): Created {
  const text = TEXT.slice(0, size);
  return array ? { id: null, text, etag: null } : { id: nth, text, etag: `"${nth}"` };
}

/** Applies the steps to both, and compares their responses and what they keep. */
function agree(steps: readonly Step[]): void {
  const ledger = new Ledger();
  const model = new Model();
  let now = Date.UTC(2026, 0, 1);
  for (const [index, step] of steps.entries()) {
    now += step.pause;
    const retry: Retry = step;
    const name = `${step.subject === null ? 'null' : `"${step.subject}"`} ${step.key}`;
    const wanted = model.recall(name, step.request, now);
    const created = answerOf(step, index + 1);
    let found: Created | null | 'reused';
    try {
      found = ledger.commit((transaction) => {
        const first = recall(transaction, retry, now);
        if (first === null) remember(transaction, retry, created, now);
        return first;
      });
    } catch (error) {
      if (!(error instanceof CatalogError) || error.code !== 'key_reused') throw error;
      found = 'reused';
    }
    assert.equal(found, wanted, `step ${index}`);
    if (wanted === null) model.remember(step, name, created, now);
    assert.equal(ledger.faults, []);
    assert.equal(
      ledger.ids.map((id) => ledger.state.get(KEYS, id)?.['time']),
      model.kept.map(({ time }) => time),
      `what is kept after step ${index}`,
    );
  }
}

const stepOf = (pause: fc.Arbitrary<number>, size: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc.record({
    subject: fc.constantFrom(null, 'ann', 'bob', 'null'),
    key: fc.constantFrom('a', 'b', 'c'),
    request: fc.constantFrom('one', 'two'),
    pause,
    size,
    array: fc.boolean(),
  });

const forwards = fc.oneof(
  fc.integer({ min: 0, max: 30 * HOUR }),
  fc.constantFrom(0, 1, DAY - 1, DAY, DAY + 1),
);

test('for any requests at any times, the responses are those of the model', () => {
  const step = stepOf(forwards, fc.integer({ min: 2, max: 500 }));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), agree), { numRuns: 300 });
});

test('the responses are those of the model even if the clock moves back and forth', () => {
  const pause = fc.oneof(forwards, fc.integer({ min: -30 * HOUR, max: 0 }));
  const step = stepOf(pause, fc.integer({ min: 2, max: 500 }));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), agree), { numRuns: 300 });
});

test('for responses of any size, the responses are those of the model', () => {
  const size = fc.oneof(
    fc.integer({ min: 2, max: 3 * MEBIBYTE }),
    fc.constantFrom(MEBIBYTE, 2 * MEBIBYTE, 4 * MEBIBYTE, MOST_BYTES, MOST_BYTES + 1),
  );
  const step = stepOf(fc.integer({ min: 0, max: HOUR }), size);
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), agree), { numRuns: 15 });
});

test('at most 8 MiB of a subject are kept, and the newest response is kept at any size', () => {
  const ledger = new Ledger();
  const keep = (key: string, size: number) =>
    ledger.commit((transaction) =>
      remember(transaction, { subject: 'ann', key, request: 1 }, answer(size), clock.time),
    );
  const answer = (size: number): Created => ({ id: 1, text: TEXT.slice(0, size), etag: '""' });
  for (const key of ['a', 'b', 'c', 'd']) keep(key, 2 * MEBIBYTE);
  assert.equal(ledger.ids, [1, 2, 3, 4], 'exactly 8 MiB are kept');
  keep('e', 2);
  assert.equal(ledger.ids, [2, 3, 4, 5], 'with two bytes more the oldest is removed');
  keep('f', 5 * MEBIBYTE);
  assert.equal(ledger.ids, [4, 5, 6]);
  assert.is(ledger.bytes, 7 * MEBIBYTE + 2);
  keep('g', MOST_BYTES + 1);
  assert.equal(ledger.ids, [7]);
  keep('h', 2);
  assert.equal(ledger.ids, [8]);
});

test('requests without a token share 1,000 keys and 2 MiB', () => {
  const ledger = new Ledger();
  const keep = (key: string, size: number) =>
    ledger.commit((transaction) =>
      remember(
        transaction,
        { subject: null, key, request: 1 },
        { id: 1, text: TEXT.slice(0, size), etag: '""' },
        clock.time,
      ),
    );
  for (const index of numbersTo(ANONYMOUS.keys + 5)) keep(`key ${index}`, 2);
  assert.is(ledger.ids.length, ANONYMOUS.keys);
  assert.is(ledger.ids[0], 6);
  keep('large', ANONYMOUS.bytes - 4);
  assert.is(ledger.ids.length, 3);
});

test('the keys of a subject are kept, whatever other subjects and anonymous clients send', () => {
  const other = fc.record({
    subject: fc.constantFrom(null, 'bob', 'anonymous', 'null', 'subject ann', ''),
    size: fc.constantFrom(2, MEBIBYTE, MOST_BYTES, MOST_BYTES + 1),
    times: fc.constantFrom(1, 20, 1_200),
  });
  const retry = (subject: string | null, key: string) => ({ subject, key, request: 1 });
  fc.assert(
    fc.property(fc.array(other, { maxLength: 6 }), (others) => {
      const ledger = new Ledger();
      const created = (text: string): Created => ({ id: 1, text, etag: null });
      const mine = numbersTo(4).map((index) => ({ key: `key ${index}`, text: `{"id":${index}}` }));
      for (const { key, text } of mine) {
        ledger.commit((all) => remember(all, retry('ann', key), created(text), clock.time));
      }
      let nth = 0;
      for (const { subject, size, times } of others) {
        ledger.commit((all) => {
          for (const _ of numbersTo(size > MEBIBYTE ? 1 : times)) {
            nth += 1;
            remember(all, retry(subject, `other ${nth}`), created(TEXT.slice(0, size)), clock.time);
          }
        });
      }
      for (const { key, text } of mine) {
        assert.is(ledger.commit((all) => recall(all, retry('ann', key), clock.time))?.text, text);
      }
      assert.equal(ledger.faults, []);
    }),
    { numRuns: 30 },
  );
});

test('rows of an earlier version without a shelf are kept until they expire', () => {
  const ledger = new Ledger();
  const old = { key: '[null,"old"]', digest: digest('"request"'), etag: '', body: '{}' };
  const row = { id: 1, ...old, created: 7, time: clock.time, oldest: 1, bytes: 2 };
  ledger.commit((all) => all.put<KindName>(KEYS, { ...row, id: all.nextId(KEYS) }));
  const retry = (key: string): Retry => ({ subject: null, key, request: 'request' });
  const created: Created = { id: 8, text: '{"id":8}', etag: null };
  ledger.commit((all) => remember(all, retry('new'), created, clock.time));
  assert.is(ledger.commit((all) => recall(all, retry('old'), clock.time))?.id, 7);
  assert.equal(ledger.faults, []);
  const later = clock.time + DAY;
  ledger.commit((all) => remember(all, retry('later'), created, later));
  assert.equal(ledger.ids, [3]);
  assert.equal(ledger.faults, []);
});

test('the size of a response is counted in bytes of UTF-8, not in characters', () => {
  const ledger = new Ledger();
  const text = '\u00e9'.repeat(1.5 * MEBIBYTE);
  for (const key of ['a', 'b', 'c']) {
    ledger.commit((transaction) =>
      remember(
        transaction,
        { subject: 'ann', key, request: 1 },
        { id: 1, text, etag: '""' },
        clock.time,
      ),
    );
  }
  assert.equal(ledger.ids, [2, 3]);
});

test('a transaction that fails after its key was stored also restores the keys that this removed', () => {
  const ledger = new Ledger();
  const retry = (key: string): Retry => ({ subject: null, key, request: 1 });
  const created: Created = { id: 1, text: '{}', etag: '""' };
  ledger.commit((transaction) => remember(transaction, retry('a'), created, clock.time));
  const later = clock.time + DAY;
  assert.throws(() =>
    ledger.commit((transaction) => {
      remember(transaction, retry('b'), created, later);
      throw new Error('undone');
    }),
  );
  assert.equal(ledger.ids, [1]);
  ledger.commit((transaction) => remember(transaction, retry('c'), created, later));
  assert.equal(ledger.ids, [2]);
});

test.run();
