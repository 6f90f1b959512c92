/** Imports that another write or the end of the server interrupts (spec 12.10). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalDe } from '../../../../src/console/browser/api/german/refusals-de.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { Money } from '../../../../src/model/money.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { ImportState } from '../../../../src/resources/transfer/import-state.ts';
import { Importer } from '../../../../src/resources/transfer/importer.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { csv } from '../../../support/imports.ts';
import { add } from '../../../support/memory-store.ts';

/** Rows of one commit. */
const COMMIT_ROWS = 250;

interface Situation {
  readonly collection: 'brands' | 'categories';
  /** Rows that the store has. */
  readonly before: (transaction: Transaction) => void;
  readonly file: string;
  readonly match?: 'name';
  readonly createMissing?: readonly string[];
  /** What another client writes after the check. */
  readonly meanwhile?: (transaction: Transaction) => void;
  /** Whether memory is short from the first write on. */
  readonly runsShort?: boolean;
  /** Whether the server stops before the check. */
  readonly stops?: boolean;
  readonly dryRun?: boolean;
  /** The failure of the second commit, although it is carried out. */
  readonly failure?: CatalogError;
  /** After how much of the file the disk fails when it is read to be written. */
  readonly readable?: number;
}

/**
 * Imports a file. @returns the report, `begun`, which is what it said when the check had ended, and
 * the names of the collection.
 */
async function importBeside(situation: Situation) {
  const { collection, before, file, meanwhile, readable = file.length, stops = false } = situation;
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  await store.transact(before);
  const { dryRun = false } = situation;
  const state = new ImportState(1, collection, dryRun);
  let isWriting = false;
  const order = {
    kind: KINDS[collection],
    format: 'csv',
    match: situation.match ?? 'id',
    createMissing: new Set(situation.createMissing),
    dryRun,
    subject: 'ann',
  } as const;
  const audited = new AuditedStore(store, {
    requireRoom: () => {
      if (isWriting && situation.runsShort === true) throw new CatalogError('busy', 'no room');
    },
  });
  const transact = audited.transact.bind(audited);
  let commits = 0;
  audited.transact = async (...write) => {
    const result = await transact(...write);
    commits += 1;
    if (commits === 2 && situation.failure !== undefined) throw situation.failure;
    return result;
  };
  let kept = 0;
  const freeze = store.freeze.bind(store);
  store.freeze = () => {
    const view = freeze();
    const close = view.close.bind(view);
    kept += 1;
    view.close = () => {
      kept -= 1;
      close();
    };
    return view;
  };
  const onApply = store.onApply.bind(store);
  store.onApply = (observer) => {
    const unfollow = onApply(observer);
    kept += 1;
    return () => {
      kept -= 1;
      unfollow();
    };
  };
  const options = {
    audited,
    money: new Money('USD'),
    isStopping: () => stops,
  };
  const read = async function* () {
    const fails = isWriting && readable < file.length;
    yield Buffer.from(fails ? file.slice(0, readable) : file);
    if (fails) throw new Error('EIO: i/o error, read');
  };
  let begun = null;
  await new Importer(options, order, read, state).run(async () => {
    isWriting = true;
    begun = state.summary;
    if (meanwhile !== undefined) await store.transact(meanwhile);
  });
  assert.is(kept, 0, 'it keeps no old rows, and follows no commits');
  const view = store.freeze();
  const names = Array.from(view.rows(collection), (row) => row['name']);
  view.close();
  await store.close();
  return { ...JSON.parse(state.text), begun, names };
}

test('a row that another write has made invalid is named with its column, also in a later commit', async () => {
  const ids = Array.from({ length: COMMIT_ROWS + 10 }, (_, index) => index + 1);
  const report = await importBeside({
    collection: 'brands',
    before: (transaction) => {
      for (const id of ids)
        add(transaction, 'brands', { name: `${id}`, logo: '', first_letter: '' });
    },
    file: csv('id,name', ...ids.map((id) => `${id},New ${id}`)),
    meanwhile: (transaction) => transaction.delete('brands', COMMIT_ROWS + 5),
  });
  assert.equal([report.state, report.changed], ['failed', COMMIT_ROWS]);
  assert.equal(report.errors, [
    {
      row: COMMIT_ROWS + 6,
      column: 'id',
      message: 'the rows before row 252 are written, the others are not: there is no brand 255',
    },
  ]);
  assert.is(
    refusalDe(report.errors[0].message),
    'Die Zeilen vor Zeile 252 sind geschrieben, die anderen nicht: Marke 255 gibt es nicht',
  );
});

test('a row that breaks a rule when all rows of its commit are written is named with its column', async () => {
  const report = await importBeside({
    collection: 'categories',
    before: (transaction) => {
      for (const name of ['One', 'Two']) add(transaction, 'categories', { name, parent_id: null });
    },
    file: csv('name,parent_id', 'A,1', 'B,2', 'C,1'),
    meanwhile: (transaction) => transaction.delete('categories', 2),
  });
  assert.equal([report.state, report.created], ['failed', 0]);
  assert.equal(report.errors, [
    { row: 3, column: 'parent_id', message: 'no row is written: 2 does not exist' },
  ]);
});

test('if the disk fails between two commits, the report says which rows are written', async () => {
  const rows = Array.from({ length: COMMIT_ROWS + 1 }, (_, index) => {
    // More than what is read to detect the delimiter.
    return `${index},${'x'.repeat(100)}`;
  });
  const file = csv('name,logo', ...rows);
  const situation = { collection: 'brands', before: () => {}, file } as const;
  const error = { row: null, column: null };
  const whole = await importBeside({ ...situation, readable: file.length - 1 });
  assert.equal([whole.state, whole.created], ['failed', COMMIT_ROWS]);
  const first = 'the first 250 rows are written, the others are not: EIO: i/o error, read';
  assert.equal(whole.errors, [{ ...error, message: first }]);
  assert.match(
    refusalDe(first) ?? '',
    /^Die ersten 250 Zeilen sind geschrieben, die anderen nicht: EIO/,
  );
  const nothing = await importBeside({ ...situation, readable: 0 });
  assert.equal([nothing.state, nothing.created], ['failed', 0]);
  const none = 'no row is written: EIO: i/o error, read';
  assert.equal(nothing.errors, [{ ...error, message: none }]);
});

test('all rows of the file count from the first commit on, also those that are never written', async () => {
  const rows = Array.from({ length: COMMIT_ROWS + 2 }, (_, index) => `brand ${index}`);
  const failure = new CatalogError('write_unknown', 'it may be there');
  const file = csv('name', ...rows);
  const report = await importBeside({ collection: 'brands', before() {}, file, failure });
  assert.equal([report.begun.state, report.begun.rows, report.begun.created], ['writing', 252, 0]);
  assert.equal([report.state, report.rows, report.created], ['failed', 252, COMMIT_ROWS]);
});

test('if it is not known whether a commit was carried out, the report says of which rows', async () => {
  const rows = Array.from({ length: 3 * COMMIT_ROWS }, (_, index) => `brand ${index}`);
  const file = csv('name', ...rows);
  for (const code of ['write_unknown', 'durability_unknown'] as const) {
    const failure = new CatalogError(code, 'it may be there');
    const report = await importBeside({ collection: 'brands', before() {}, file, failure });
    assert.is(report.names.length, 2 * COMMIT_ROWS);
    assert.equal([report.state, report.created], ['failed', COMMIT_ROWS]);
    assert.is(
      report.errors.at(-1).message,
      'the rows before row 252 are written; it is not known whether rows 252 to 501 are written, and no later row is: it may be there',
    );
  }
});

test('an import for which memory becomes short is not written any further', async () => {
  const file = csv('name', 'A');
  const report = await importBeside({
    collection: 'brands',
    before: () => {},
    file,
    runsShort: true,
  });
  assert.equal([report.state, report.created, report.names], ['failed', 0, []]);
  assert.is(report.errors[0].message, 'no row is written: no room');
});

test('an import that is stopped before it writes says that no row is written', async () => {
  const report = await importBeside({
    collection: 'brands',
    before: () => {},
    file: csv('name', 'A'),
    stops: true,
  });
  assert.equal([report.state, report.error_count], ['failed', 1]);
  const [{ message }] = report.errors;
  assert.match(message, /^no row is written: the import was stopped/);
  assert.match(
    refusalDe(message) ?? '',
    /^Keine Zeile ist geschrieben: der Import wurde angehalten/,
  );
});

test('an import that is stopped ends during the check, a dry run as well', async () => {
  const report = await importBeside({
    collection: 'brands',
    before: () => {},
    file: csv('name', 'A'),
    stops: true,
    dryRun: true,
  });
  assert.equal([report.state, report.rows], ['failed', 0]);
});

test('of a refused file no row is listed as changed, whether a row or the file is at fault', async () => {
  const rows = Array.from({ length: COMMIT_ROWS }, (_, index) => `${index}`);
  for (const last of ['""', '"cut off']) {
    const report = await importBeside({
      collection: 'brands',
      before: () => {},
      file: csv('name', ...rows, last),
    });
    assert.equal([report.state, report.error_count, report.names], ['refused', 1, []], last);
    assert.is(report.rows, COMMIT_ROWS + report.refused);
    assert.equal([report.created, report.change_count, report.changes], [0, 0, []], last);
  }
});

test('a row that another client has created since the check is found by its name', async () => {
  const brand = { name: 'Acme', logo: '', first_letter: '' };
  const matched = await importBeside({
    collection: 'brands',
    before: () => {},
    file: csv('name,logo', 'Acme,a.png', 'Other,b.png'),
    match: 'name',
    meanwhile: (transaction) => void add(transaction, 'brands', brand),
  });
  assert.equal([matched.state, matched.created, matched.changed], ['done', 1, 1]);
  assert.equal(matched.names, ['Acme', 'Other']);
  const missing = await importBeside({
    collection: 'categories',
    before: () => {},
    file: csv('name,parent', 'Below,Top'),
    createMissing: ['categories'],
    meanwhile: (transaction) =>
      void add(transaction, 'categories', { name: 'Top', parent_id: null }),
  });
  assert.equal([missing.state, missing.created_missing_count], ['done', 0]);
  assert.equal(missing.names, ['Top', 'Below']);
});

test('a row finds by its name what an earlier row of its commit has created', async () => {
  const report = await importBeside({
    collection: 'categories',
    before: () => {},
    file: csv('name,parent', 'Tools,', 'Saws,Tools', 'Hand saws,Tools > Saws'),
  });
  assert.equal([report.state, report.errors, report.created], ['done', [], 3]);
  assert.equal(
    report.changes.map(({ fields }: { fields: { parent_id: unknown } }) => fields.parent_id),
    [
      [null, null],
      [null, 1],
      [null, 2],
    ],
  );
});

test('every commit creates what its rows name and is missing', async () => {
  const numbers = Array.from({ length: COMMIT_ROWS + 2 }, (_, index) => index + 1);
  // The last two rows are those of a later commit.
  const above = (number: number) => (number > COMMIT_ROWS ? 'Last' : 'First');
  const report = await importBeside({
    collection: 'categories',
    before: () => {},
    file: csv('name,parent', ...numbers.map((number) => `${number},${above(number)}`)),
    createMissing: ['categories'],
  });
  assert.equal([report.state, report.errors, report.created], ['done', [], COMMIT_ROWS + 2]);
  assert.equal(
    report.created_missing.map(({ row, name }: { row: number; name: string }) => [row, name]),
    [
      [2, 'First'],
      [COMMIT_ROWS + 2, 'Last'],
    ],
  );
});

test('an item that another client has renamed since the check is found by its new name', async () => {
  const brand = { logo: '', first_letter: '' };
  const matched = await importBeside({
    collection: 'brands',
    before: (transaction) => void add(transaction, 'brands', { name: 'Old', ...brand }),
    file: csv('name,logo', 'Other,b.png', 'Acme,a.png'),
    match: 'name',
    meanwhile: (transaction) => transaction.put('brands', { id: 1, name: 'Acme', ...brand }),
  });
  assert.equal([matched.state, matched.created, matched.changed], ['done', 1, 1]);
  assert.equal(matched.names, ['Acme', 'Other']);
  const named = await importBeside({
    collection: 'categories',
    before: (transaction) => void add(transaction, 'categories', { name: 'Old', parent_id: null }),
    file: csv('name,parent', 'A,Shoes', 'B,Shoes'),
    createMissing: ['categories'],
    meanwhile: (transaction) =>
      transaction.put('categories', { id: 1, name: 'Shoes', parent_id: null }),
  });
  assert.equal([named.state, named.created], ['done', 2]);
  assert.equal(named.names, ['Shoes', 'A', 'B']);
});

test.run();
