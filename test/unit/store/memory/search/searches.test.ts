/** Searches over whole tables, compared with reading every text. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as v from 'valibot';
import { changeOf } from '../../../../../src/model/change.ts';
import type { Attribute, KindName, Row } from '../../../../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../../../src/model/kinds.ts';
import { perKind } from '../../../../../src/model/per-kind.ts';
import { lookupIn } from '../../../../../src/model/rows.ts';
import { valueOf } from '../../../../../src/model/rules.ts';
import { searchedAttributes } from '../../../../../src/store/memory/search/searched-texts.ts';
import { foldText } from '../../../../../src/model/text-folding.ts';
import { visibleAttributes } from '../../../../../src/resources/visible-attributes.ts';
import { RowTable } from '../../../../../src/store/memory/row-table.ts';
import type { Selection } from '../../../../../src/store/memory/selection.ts';
import { Tables } from '../../../../../src/store/memory/tables.ts';
import { failureOf } from '../../../../support/failure.ts';
import { countingTurns, turn } from '../../../../support/turns.ts';

type Rows = Record<KindName, RowTable>;

/** The attributes that a search leaves out although they are texts (spec 4.7). */
const LEFT_OUT = new Set(['desc_detail', 'desc_pack', 'desc_service', 'image', 'logo']);

/** A text that the attribute accepts. */
const SAMPLES = ['a', '2020-02-02', 'https://receiver.example/'];

function isText(declared: Attribute): boolean {
  if (declared.role === 'lookup') return true;
  if (declared.role === 'serverSet') return typeof declared.initial === 'string';
  return declared.role === 'input' && SAMPLES.some((text) => v.is(declared.schema, text));
}

test('a search reads every text attribute except descriptions and pictures', () => {
  for (const kind of ALL_KINDS.filter(({ path }) => path !== null)) {
    const texts = visibleAttributes(kind).flatMap(([name, declared]) =>
      isText(declared) && !LEFT_OUT.has(name) ? [name] : [],
    );
    assert.ok(texts.length > 0);
    assert.equal(
      searchedAttributes(kind).map(([name]) => name),
      texts,
      kind.name,
    );
  }
});

/** Whether every word occurs in a text of a SKU; written again for these tests. */
function plainlyMatches(rows: Rows, row: Row, words: readonly string[]): boolean {
  const lookup = lookupIn((name, id) => rows[name].get(id));
  const texts = ['name', 'goods', 'caption', 'category'].map((name) =>
    foldText(String(valueOf(KINDS.skus, name, row, lookup) ?? '')),
  );
  return words.every((word) => texts.some((text) => text.includes(word)));
}

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'ß', 'é'), maxLength: 6 });

interface Edit {
  readonly kind: 'skus' | 'goods' | 'categories';
  readonly id: number;
  /** Null deletes. */
  readonly name: string | null;
  readonly caption: string;
  /** The SPU and the category of a SKU. */
  readonly lender: number;
}

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constant('skus' as const),
    id: fc.integer({ min: 1, max: 12 }),
    name: fc.option(text),
    caption: text,
    lender: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom('goods' as const, 'categories' as const),
    id: fc.integer({ min: 1, max: 3 }),
    name: text,
    caption: fc.constant(''),
    lender: fc.constant(1),
  }),
);

/** Rows of these tests need not have all attributes. */
const part = (row: Row | null) => row as never;

/** Ids of a table that has had few rows, and of one that has had so many that they pass 32 bits. */
const lastBefore = fc.constantFrom(0, 2 ** 32 - 5);

function shifted(one: Edit, by: number): Edit {
  return { ...one, id: one.id + by, lender: one.lender + by };
}

function commit(tables: Tables, rows: Rows, { kind, id, name, caption, lender }: Edit): void {
  const before = rows[kind].get(id) ?? null;
  if (before === null && name === null) return;
  const after = name === null ? null : { id, name, caption, goods_id: lender, category_id: lender };
  tables.apply([changeOf(kind, id, part(before), part(after))]);
}

/** @param before the last id before the first row. */
function catalog(before = 0): Rows {
  const rows = perKind(() => new RowTable());
  for (const id of [before + 1, before + 2, before + 3]) {
    rows.goods.set({ id, name: `SPU ${id}` });
    rows.categories.set({ id, name: `Category ${id}`, parent_id: null });
  }
  return rows;
}

/** A catalog of SKUs that show the first SPU, every one of whose tables has indexes. */
function phones(count: number): { readonly rows: Rows; readonly tables: Tables } {
  const rows = catalog();
  for (let id = 1; id <= count; id += 1) {
    rows.skus.set({ id, name: `Phone ${id}`, caption: '', goods_id: 1, category_id: 1 });
  }
  return { rows, tables: new Tables(rows, { smallTableRows: 0, sliceMs: 0 }) };
}

function renameSku(tables: Tables, rows: Rows, id: number, name: string): void {
  commit(tables, rows, { kind: 'skus', id, name, caption: '', lender: 1 });
}

const ALL = { filters: [], sortby: 'id', order: 'asc', offset: 0, limit: 100 } as const;

async function prepare(tables: Tables, selection: Selection): Promise<void> {
  for (;;) {
    const waiting = tables.queries.prepare('skus', selection);
    if (waiting === undefined) return;
    await waiting;
  }
}

const words = fc.uniqueArray(
  fc.string({ unit: fc.constantFrom('a', 'b', 's', 'e'), minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 2 },
);

for (const [how, smallTableRows] of [
  ['by indexes during commits', 0],
  ['by reading a small table', 1000],
] as const) {
  test(`the rows found ${how} are those in which every word occurs`, async () => {
    const property = fc.asyncProperty(
      fc.array(edit, { maxLength: 10 }),
      fc.array(fc.record({ words, edits: fc.array(edit, { maxLength: 6 }) }), { maxLength: 4 }),
      lastBefore,
      async (first, steps, before) => {
        const rows = catalog(before);
        const tables = new Tables(rows, { smallTableRows, sliceMs: 0 });
        for (const one of first) commit(tables, rows, shifted(one, before));
        for (const step of steps) {
          const selection = { ...ALL, words: step.words };
          const waiting = tables.queries.prepare('skus', selection);
          for (const one of step.edits) {
            commit(tables, rows, shifted(one, before));
            await turn();
          }
          await waiting;
          await prepare(tables, selection);
          const plainly = [...rows.skus.values()].filter((row) =>
            plainlyMatches(rows, row, step.words),
          );
          const page = { ids: plainly.map(({ id }) => id), total: plainly.length };
          assert.equal(tables.queries.select('skus', selection), page);
        }
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
}

test('words are combined with filters, sorting and paging', async () => {
  const rows = catalog();
  for (let id = 1; id <= 9; id += 1) {
    rows.skus.set({ id, name: `Phone ${id}`, caption: '', goods_id: (id % 3) + 1, category_id: 1 });
  }
  const tables = new Tables(rows, { smallTableRows: 0 });
  const selection: Selection = {
    filters: [['goods_id', 2]],
    words: ['phone'],
    sortby: 'name',
    order: 'desc',
    offset: 1,
    limit: 1,
  };
  await prepare(tables, selection);
  assert.equal(tables.queries.select('skus', selection), { ids: [4], total: 3 });
});

test('pages of a search by id are slices of all rows that it finds, in both directions', async () => {
  const rows = catalog();
  for (let id = 1; id <= 60; id += 1) {
    const name = id % 3 === 0 ? `Phone ${id}` : `Lamp ${id}`;
    rows.skus.set({ id, name, caption: '', goods_id: 1, category_id: 1 });
  }
  const tables = new Tables(rows, { smallTableRows: 0 });
  const found = Array.from({ length: 20 }, (_, index) => 3 * (index + 1));
  for (const order of ['asc', 'desc'] as const) {
    const all = order === 'asc' ? found : found.toReversed();
    for (const offset of [0, 1, 7, 19, 20, 30]) {
      const selection: Selection = { ...ALL, words: ['phone'], order, offset, limit: 7 };
      await prepare(tables, selection);
      const page = tables.queries.select('skus', selection);
      assert.equal(page, { ids: all.slice(offset, offset + 7), total: 20 }, `${order} ${offset}`);
    }
  }
});

test('the 16 results used last are kept, and another search is done again', async () => {
  const tables = new Tables(catalog(), { smallTableRows: -1 });
  const nth = (at: number): Selection => ({ ...ALL, words: [`word${at}`] });
  for (let at = 1; at <= 16; at += 1) await prepare(tables, nth(at));
  tables.queries.select('skus', nth(1));
  await prepare(tables, nth(17));
  for (let at = 1; at <= 17; at += 1) {
    if (at !== 2) assert.is(tables.queries.prepare('skus', nth(at)), undefined, `search ${at}`);
  }
  assert.is.not(tables.queries.prepare('skus', nth(2)), undefined);
  await prepare(tables, nth(2));
});

test('a result is used until a commit changes a row that it shows', async () => {
  const { rows, tables } = phones(3);
  const found = async (word: string) => {
    const selection = { ...ALL, words: [word] };
    await prepare(tables, selection);
    return tables.queries.select('skus', selection).ids;
  };
  for (const kind of ['skus', 'goods', 'categories'] as const) {
    assert.equal(await found('fresh'), [], kind);
    commit(tables, rows, { kind, id: 1, name: `Fresh ${kind}`, caption: '', lender: 1 });
    assert.equal(await found('fresh'), kind === 'skus' ? [1] : [1, 2, 3], kind);
    commit(tables, rows, { kind, id: 1, name: 'Phone', caption: '', lender: 1 });
  }
  await found('phone');
  const brand = { id: 1, name: 'Phone' };
  tables.apply([changeOf('brands', 1, null, part(brand))]);
  const kept = tables.queries.prepare('skus', { ...ALL, words: ['phone'] });
  assert.is(kept, undefined, 'a SKU does not show its brand');
});

test('two searches have different results if only the spaces between their words differ', async () => {
  const { rows, tables } = phones(2);
  renameSku(tables, rows, 1, 'ab c');
  renameSku(tables, rows, 2, 'a bc');
  for (const [sought, ids] of [
    [['ab', 'c'], [1]],
    [['a', 'bc'], [2]],
  ] as const) {
    const selection = { ...ALL, words: sought };
    await prepare(tables, selection);
    assert.equal(tables.queries.select('skus', selection).ids, ids);
  }
});

test('clients that search for the same words at the same time wait for one search', async () => {
  const { tables } = phones(100);
  await prepare(tables, { ...ALL, words: ['other'] });
  const selection = { ...ALL, words: ['phone'] };
  const all = Array.from({ length: 3 }, () => tables.queries.prepare('skus', selection));
  assert.ok(all.every((waiting) => waiting instanceof Promise));
  assert.is(all[1], all[2]);
  await Promise.all(all);
  assert.is(tables.queries.select('skus', selection).total, 100);
});

test('the words of a table are indexed for its first search only', async () => {
  const { tables } = phones(2000);
  const turnsOf = (word: string) =>
    countingTurns(async (turns) => {
      await prepare(tables, { ...ALL, words: [word] });
      return turns();
    });
  const first = await turnsOf('phone');
  const second = await turnsOf('1');
  assert.ok(second < first / 3, `${first} turns and then ${second}`);
});

test('the first search finds the texts of other rows, however many references there are', async () => {
  const { tables } = phones(20_000);
  const selection = { ...ALL, words: ['spu'] };
  await prepare(tables, selection);
  assert.is(tables.queries.select('skus', selection).total, 20_000);
});

test('a row that is added during a search hides no row that matches by the text of another', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const { rows, tables } = phones(2);
    const selection = { ...ALL, words: ['wanted'] };
    renameSku(tables, rows, 1, 'Wanted');
    commit(tables, rows, { kind: 'skus', id: 2, name: 'Phone', caption: '', lender: 2 });
    commit(tables, rows, { kind: 'goods', id: 2, name: 'Wanted', caption: '', lender: 1 });
    await prepare(tables, { ...ALL, words: ['other'] });
    const waiting = tables.queries.prepare('skus', selection);
    for (let nth = 0; nth < turns; nth += 1) await turn();
    commit(tables, rows, { kind: 'skus', id: 3, name: '', caption: 'Wanted', lender: 1 });
    await waiting;
    await prepare(tables, selection);
    assert.equal(tables.queries.select('skus', selection).ids, [1, 2, 3], `after ${turns} turns`);
  }
});

test('a table of at most 250 rows is read from end to end, and a larger one is indexed', async () => {
  const rows = catalog();
  const sku = (id: number) => ({ id, name: 'Phone', caption: '', goods_id: 1, category_id: 1 });
  for (let id = 1; id <= 250; id += 1) rows.skus.set(sku(id));
  const tables = new Tables(rows);
  const selection = { ...ALL, words: ['phone'] };
  assert.is(tables.queries.prepare('skus', selection), undefined);
  assert.is(tables.queries.select('skus', selection).total, 250);
  tables.apply([changeOf('skus', 251, null, part(sku(251)))]);
  assert.instance(tables.queries.prepare('skus', selection), Promise);
  await prepare(tables, selection);
  assert.is(tables.queries.select('skus', selection).total, 251);
});

test('a text that a row does not have contains no word', async () => {
  for (const smallTableRows of [0, 1000]) {
    const rows = catalog();
    rows.skus.set({ id: 1, name: 'B', caption: null, goods_id: 9, category_id: null });
    const tables = new Tables(rows, { smallTableRows });
    for (const word of 'abcdefghijklmnopqrstuvwxyz0') {
      const selection = { ...ALL, words: [word] };
      await prepare(tables, selection);
      const { ids } = tables.queries.select('skus', selection);
      assert.equal(ids, word === 'b' ? [1] : [], word);
    }
  }
});

test('a search that commits overtake repeatedly is refused as busy', async () => {
  const rows = catalog();
  for (let id = 1; id <= 2000; id += 1) {
    rows.skus.set({ id, name: `Phone ${id}`, caption: '', goods_id: 1, category_id: 1 });
  }
  const tables = new Tables(rows, { smallTableRows: 0, sliceMs: 0 });
  let renaming = true;
  const rename = (nth: number) => {
    commit(tables, rows, { kind: 'goods', id: 1, name: `SPU ${nth}`, caption: '', lender: 1 });
    if (renaming) setImmediate(() => rename(nth + 1));
  };
  rename(2);
  const failure = failureOf(prepare(tables, { ...ALL, words: ['1'] })).finally(() => {
    renaming = false;
  });
  const { code, headers } = await failure;
  assert.is(code, 'busy');
  assert.equal(headers, { 'Retry-After': '5' });
});

test('a search is not refused while a few rows change in each turn', async () => {
  const { rows, tables } = phones(2000);
  await prepare(tables, { ...ALL, words: ['other'] });
  let [renaming, last] = [true, 0];
  const rename = () => {
    last = (last % 2000) + 1;
    renameSku(tables, rows, last, `Lamp ${last}`);
    if (renaming) setImmediate(rename);
  };
  rename();
  await prepare(tables, { ...ALL, words: ['phone'] }).finally(() => {
    renaming = false;
  });
  const { total } = tables.queries.select('skus', { ...ALL, words: ['phone'] });
  assert.ok(last > 1, 'rows have changed during the search');
  assert.is(total, 2000 - last);
});

test('a search that a commit of many rows overtakes begins again', async () => {
  const { rows, tables } = phones(2000);
  const selection = { ...ALL, words: ['new'], limit: 2000 };
  await prepare(tables, { ...ALL, words: ['phone'] });
  const waiting = tables.queries.prepare('skus', selection);
  await turn();
  commit(tables, rows, { kind: 'goods', id: 1, name: 'New', caption: '', lender: 1 });
  await waiting;
  await prepare(tables, selection);
  assert.is(tables.queries.select('skus', selection).total, 2000);
});

test('a commit of 1000 rows can be searched at once, although its words are indexed in slices', async () => {
  const rows = catalog();
  const tables = new Tables(rows, { smallTableRows: 0, sliceMs: 0 });
  const sku = (id: number, name: string) => {
    return { id, name, caption: '', goods_id: 1, category_id: 1 };
  };
  const rename = (name: (id: number) => string) => {
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
    return ids.map((id) =>
      changeOf('skus', id, part(rows.skus.get(id) ?? null), part(sku(id, name(id)))),
    );
  };
  const find = async (word: string) => {
    const selection = { ...ALL, words: [word], limit: 2000 };
    await prepare(tables, selection);
    return tables.queries.select('skus', selection).ids;
  };
  tables.apply(rename((id) => `first ${id}`));
  assert.is((await find('first')).length, 1000);
  let turns = 0;
  for (const word of ['second', 'third', 'fourth']) {
    tables.apply(rename((id) => (id % 2 === 0 ? word : `odd ${word}`)));
    setImmediate(() => (turns += 1));
    // A second commit, before the words of the first are indexed.
    const [one] = rename(() => `alone ${word}`);
    if (one !== undefined) tables.apply([one]);
    const [odd, all, alone] = await Promise.all([find('odd'), find(word), find('alone')]);
    assert.is(odd.length, 499);
    assert.is(all.length, 1000);
    assert.equal(alone, [1]);
    assert.equal(await find('first'), []);
  }
  assert.is(turns, 3, 'the event loop has turned meanwhile');
});

test.run();
