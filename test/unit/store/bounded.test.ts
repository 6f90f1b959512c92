/** Tables that keep only their newest rows, compared with a list; and the check of such tables. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName, Row } from '../../../src/model/kind.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import { atOnce } from '../../../src/slices.ts';
import { append, boundFaults, clearInParts } from '../../../src/store/bounded.ts';
import { State } from '../../../src/store/state.ts';
import { Draft, type Transaction } from '../../../src/store/writer/draft.ts';
import { RowTable } from '../../../src/store/memory/row-table.ts';
import { settle } from '../../support/memory-store.ts';

const AUDITS = 'audits';

const values = (subject: string | null, before: string | null, after: string | null) => ({
  time: '2026-01-01T00:00:00.000Z',
  subject,
  action: 'update' as const,
  resource: 'brands',
  resource_id: 1,
  before,
  after,
});

/** Transactions on a state in memory, each in its own commit. */
class Memory {
  readonly state = State.empty();

  commit(run: (transaction: Transaction) => void): void {
    const draft = new Draft(this.state);
    draft.run(run);
    settle(this.state, draft);
  }

  get rows(): Row[] {
    return [...this.state.rows.audits.values()];
  }

  get faults(): string[] {
    return boundFaults(KINDS.audits, this.state.rows.audits, this.state.lastIds.audits);
  }
}

/** The weight of a row: 256 plus the UTF-8 bytes of its subject, before and after. */
const weightOf = (row: ReturnType<typeof values>) =>
  256 +
  [row.subject, row.before, row.after].reduce(
    (sum, text) => sum + new TextEncoder().encode(text ?? '').length,
    0,
  );

const text = fc.oneof(fc.constant(null), fc.string({ unit: 'binary', maxLength: 40 }));
const aRow = fc.tuple(text, text, text).map((texts) => values(...texts));
const aCommit = fc.oneof(
  { weight: 9, arbitrary: fc.array(aRow, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant('clear' as const) },
);

test('after a bound is lowered, an append deletes up to 256 rows, or as many as a long row needs', () => {
  const memory = new Memory();
  const add = (most: number, row = values(null, null, null)) =>
    memory.commit((transaction) =>
      append(transaction, AUDITS, row, (_, { bytes }) => bytes > most),
    );
  for (let n = 0; n < 1000; n += 1) add(Number.POSITIVE_INFINITY);
  const counts = [1, 2, 3, 4].map(() => {
    add(2560);
    return memory.rows.length;
  });
  assert.equal(counts, [745, 490, 235, 10]);
  for (let n = 0; n < 1000; n += 1) add(Number.POSITIVE_INFINITY);
  // A long row deletes as many rows as it needs at once.
  add(1010 * 256, values(null, null, 'x'.repeat(500 * 256)));
  assert.is(memory.rows.length, 510);
  assert.equal(memory.faults, []);
});

test('a table keeps its newest rows up to the bound, and always the newest one', () => {
  fc.assert(
    fc.property(
      fc.array(aCommit, { maxLength: 12 }),
      fc.integer({ min: 1, max: 3000 }),
      (commits, most) => {
        const memory = new Memory();
        let kept: { id: number; row: ReturnType<typeof values> }[] = [];
        let last = 0;
        for (const commit of commits) {
          memory.commit((transaction) => {
            if (commit === 'clear') atOnce(clearInParts(transaction, AUDITS));
            else {
              for (const row of commit) {
                append(transaction, AUDITS, row, (_, { bytes }) => bytes > most);
              }
            }
          });
          if (commit === 'clear') kept = [];
          else kept.push(...commit.map((row) => ({ id: (last += 1), row })));
          const weight = () => kept.reduce((sum, { row }) => sum + weightOf(row), 0);
          while (kept.length > 1 && weight() > most) kept.shift();
          assert.equal(
            memory.rows.map(({ id, subject, before, after }) => [id, subject, before, after]),
            kept.map(({ id, row }) => [id, row.subject, row.before, row.after]),
          );
          assert.equal(memory.faults, []);
        }
      },
    ),
  );
});

test('a bound can depend on the number of rows and on the oldest row', () => {
  const memory = new Memory();
  for (let nth = 1; nth <= 6; nth += 1) {
    memory.commit((transaction) =>
      append(transaction, AUDITS, values(`${nth}`, null, null), (oldest, { rows }) => {
        return rows > 4 || oldest['subject'] === '2';
      }),
    );
  }
  assert.equal(
    memory.rows.map(({ subject }) => subject),
    ['3', '4', '5', '6'],
  );
  assert.equal(memory.faults, []);
});

test('a transaction that throws leaves the rows of a bounded table unchanged', () => {
  const memory = new Memory();
  const add = (transaction: Transaction) =>
    append(transaction, AUDITS, values('ann', null, null), (_, { rows }) => rows > 2);
  memory.commit(add);
  memory.commit(add);
  const before = memory.rows;
  assert.throws(() =>
    memory.commit((transaction) => {
      add(transaction);
      throw new Error('no');
    }),
  );
  assert.equal(memory.rows, before);
  memory.commit(add);
  assert.equal(
    memory.rows.map(({ id }) => id),
    [2, 3],
  );
  assert.equal(memory.faults, []);
});

test('clearing an empty table writes nothing', () => {
  const memory = new Memory();
  const draft = new Draft(memory.state);
  draft.run((transaction) => atOnce(clearInParts(transaction, AUDITS)));
  assert.is(draft.wrote, false);
});

test('append throws for a table that is not bounded', () => {
  const memory = new Memory();
  assert.throws(
    () => memory.commit((transaction) => append<KindName>(transaction, 'books', {}, () => true)),
    /^books is not bounded$/,
  );
});

const row = (id: number, oldest: number, bytes: number): Row => ({
  id,
  ...values('ann', null, null),
  oldest,
  bytes,
});

const EACH = 259;

const FAULTS: readonly (readonly [what: string, rows: Row[], last: number, found: string[]])[] = [
  [
    'a gap in the ids',
    [row(1, 1, EACH), row(3, 2, 2 * EACH)],
    3,
    ['1: the ids of the 2 rows up to 3 have a gap'],
  ],
  ['a missing newest row', [row(1, 1, EACH)], 2, ['1: the ids of the 1 rows up to 2 have a gap']],
  ['a wrong oldest id', [row(1, 1, EACH), row(2, 2, 2 * EACH)], 2, ['2: oldest: it must be 1']],
  [
    'a wrong sum of bytes',
    [row(1, 1, EACH), row(2, 1, 3 * EACH)],
    2,
    [`2: bytes: it must be ${2 * EACH}`],
  ],
  [
    'a first row with fewer bytes than its weight',
    [row(5, 5, EACH - 1)],
    5,
    [`5: bytes: it must be ${EACH}`],
  ],
];

for (const [what, rows, last, found] of FAULTS) {
  test(`boundFaults reports ${what}`, () => {
    const faults = boundFaults(KINDS.audits, new RowTable(rows), last);
    assert.equal(
      faults.slice(0, 1),
      found.map((fault) => `audit entry ${fault}`),
    );
  });
}

/** A row on a shelf of idempotency keys. */
const onShelf = (id: number, shelf: string, nth: number, oldest = 1): Row => ({
  id,
  key: `["${shelf}","${id}"]`,
  shelf,
  nth,
  bytes: 2 * nth,
  oldest,
  digest: '',
  time: 0,
  created: null,
  etag: '',
  body: '[]',
});

const faultsOfShelves = (...rows: Row[]) =>
  boundFaults(KINDS.idempotency_keys, new RowTable(rows), rows.at(-1)?.id ?? 0);

test('boundFaults reports a row of a shelf whose number does not follow that of the row before it', () => {
  const third = { ...onShelf(3, 'ann', 3), bytes: 4 };
  assert.equal(faultsOfShelves(onShelf(1, 'ann', 1), onShelf(2, 'bob', 1), third), [
    'idempotency key 3: nth: it must be 2',
  ]);
});

test('boundFaults reports a row of a shelf that should have been deleted, but not one that is gone', () => {
  const first = onShelf(2, 'ann', 2);
  assert.equal(faultsOfShelves(first, onShelf(3, 'ann', 3, 1)), []);
  assert.equal(faultsOfShelves(first, onShelf(3, 'ann', 3, 3)), [
    'idempotency key 3: oldest: it must be 2',
  ]);
});

test('boundFaults finds nothing in a correct table, an empty table and a table without a bound', () => {
  const rows = [row(7, 3, 10 * EACH), row(8, 7, 11 * EACH)];
  assert.equal(boundFaults(KINDS.audits, new RowTable(rows), 8), []);
  assert.equal(boundFaults(KINDS.audits, new RowTable(), 8), []);
  assert.equal(boundFaults(KINDS.books, new RowTable([{ id: 3 }]), 9), []);
});

test.run();
