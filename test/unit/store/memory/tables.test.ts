/** Pages of the committed state, compared with a filter and a sort over plain maps. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Attribute,
  KIND_NAMES,
  type KindName,
  type Row,
  type Scalar,
} from '../../../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../../src/model/kinds.ts';
import { lookupIn } from '../../../../src/model/rows.ts';
import { referrersOf } from '../../../../src/model/relations.ts';
import { searchedAttributes } from '../../../../src/store/memory/search/searched-texts.ts';
import { foldText } from '../../../../src/model/text-folding.ts';
import { referencesOf, valueOf } from '../../../../src/model/rules.ts';
import { scalarAttributes } from '../../../../src/resources/visible-attributes.ts';
import { perKind } from '../../../../src/model/per-kind.ts';
import { atOnce } from '../../../../src/slices.ts';
import { RowTable } from '../../../../src/store/memory/row-table.ts';
import { type Change, changeOf } from '../../../../src/model/change.ts';
import type { Page, Range, Selection } from '../../../../src/store/memory/selection.ts';
import { indexedAttributes } from '../../../support/indexed-attributes.ts';
import { Tables } from '../../../../src/store/memory/tables.ts';
import { codeOf } from '../../../support/failure.ts';
import { textTableOf } from '../../../support/text-rows.ts';
import { turn } from '../../../support/turns.ts';

type Rows = Record<KindName, Map<number, Row>>;

const noRows = (): Rows => perKind(() => new Map());
const copy = (rows: Rows): Rows => perKind(({ name }) => new Map(rows[name]));
const rowTables = (rows: Rows) => perKind(({ name }) => new RowTable(rows[name].values()));

/** The order of spec 4.3, written again: null, false, true, numbers, strings by code point. */
function compare(a: Scalar, b: Scalar): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b);
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [i, character] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return -1;
}

function allPlainly(rows: Rows, name: KindName, selection: Selection): readonly Row[] {
  const lookup = lookupIn((kind, id) => rows[kind].get(Number(id)));
  const { filters, words = [], ranges = [], sortby, order } = selection;
  const texts = (row: Row) =>
    searchedAttributes(KINDS[name]).map(([attribute]) =>
      foldText(String(valueOf(KINDS[name], attribute, row, lookup) ?? '')),
    );
  const value = (row: Row) => valueOf(KINDS[name], sortby, row, lookup);
  const sign = order === 'asc' ? 1 : -1;
  return [...rows[name].values()]
    .filter((row) => filters.every(([attribute, wanted]) => (row[attribute] ?? null) === wanted))
    .filter((row) => words.every((word) => texts(row).some((each) => each.includes(word))))
    .filter((row) =>
      ranges.every(({ attribute, min, max }) => {
        const own = row[attribute] ?? null;
        return (min === null || compare(own, min) >= 0) && (max === null || compare(own, max) <= 0);
      }),
    )
    .sort((a, b) => sign * compare(value(a), value(b)) || a.id - b.id);
}

function selectPlainly(rows: Rows, name: KindName, selection: Selection): Page {
  const { offset, limit } = selection;
  const ids = allPlainly(rows, name, selection).map(({ id }) => id);
  return { ids: ids.slice(offset, offset + limit), total: ids.length };
}

/** The changes between two states, in the order in which a group of transactions has them. */
function changesBetween(old: Rows, now: Rows): Change[] {
  return KIND_NAMES.flatMap((kind) =>
    [...new Set([...old[kind].keys(), ...now[kind].keys()])].flatMap((id) => {
      const before = old[kind].get(id) ?? null;
      const after = now[kind].get(id) ?? null;
      return before === after ? [] : [changeOf(kind, id, before, after)];
    }),
  ).sort((a, b) => a.id - b.id);
}

interface Edit {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: KindName;
  /** Picks the row, and the rows that it refers to. */
  readonly picks: readonly number[];
  readonly text: string;
  readonly number: number;
}

/** A row of the kind, for a reference to it; here, a category may be under any other. */
function pick(rows: Rows, kind: KindName, number: number): number | null {
  const ids = [...rows[kind].keys()];
  return ids[number % ids.length] ?? null;
}

/** Applies one edit to plain maps, unless a reference would lead to no row. */
function edit(rows: Rows, last: Record<KindName, number>, one: Edit): void {
  const { action, kind, picks, text, number } = one;
  const chosen = pick(rows, kind, picks[0] ?? 0);
  if (action === 'delete') {
    const referred = referrersOf(kind).some(({ kind: { name }, attribute }) =>
      [...rows[name].values()].some((row) => row[attribute] === chosen),
    );
    if (chosen !== null && !referred) rows[kind].delete(chosen);
    return;
  }
  if (action === 'update' && chosen === null) return;
  const id = action === 'create' ? last[kind] + 1 : (chosen as number);
  const values: Record<string, Scalar> = { id };
  let nth = 1;
  for (const [name, declared] of Object.entries(KINDS[kind].attributes)) {
    if (declared.role === 'serverSet') values[name] = declared.initial;
    if (declared.role !== 'input') continue;
    if (declared.references !== undefined) {
      const to = pick(rows, declared.references, picks[nth++] ?? 0);
      if (to === null && kind !== 'categories') return;
      values[name] = to;
    } else if (name === 'is_launched') values[name] = number % 2 === 0;
    else if (['price', 'cost_price', 'market_price', 'stock'].includes(name)) values[name] = number;
    else values[name] = text;
  }
  last[kind] = Math.max(last[kind], id);
  rows[kind].set(id, values as Row);
}

const text = fc.constantFrom('', 'a', 'ab', 'B', 'é', '\uffee', '\u{10000}', '\u{10000}a');
const number = fc.constantFrom(0, 1, 9, 10, Number.MAX_SAFE_INTEGER);
const word = fc.constantFrom('a', 'b', 'ab', 'e');
const bound = fc.option(number);
const aRange = fc.oneof(
  fc.record({ attribute: fc.constantFrom('price', 'stock'), min: bound, max: bound }),
  fc.boolean().map((flag) => ({ attribute: 'is_launched', min: flag, max: flag })),
);
const RANGES = { maxLength: 2, selector: ({ attribute }: Range) => attribute };

/** SKUs and the kinds that they join are more frequent: their orderings change the most. */
const kindName = fc.constantFrom(...KIND_NAMES, 'goods', 'goods', 'categories', 'skus', 'skus');
const anEdit: fc.Arbitrary<Edit> = fc.record({
  action: fc.constantFrom('create', 'create', 'update', 'update', 'delete'),
  kind: kindName,
  picks: fc.array(fc.nat(30), { minLength: 6, maxLength: 6 }),
  text,
  number,
});

interface Question {
  readonly kind: KindName;
  readonly selection: Selection;
}

const aQuestion: fc.Arbitrary<Question> = kindName.chain((kind) => {
  const indexed = indexedAttributes(KINDS[kind]);
  const filter = (attribute: string) =>
    fc.tuple(
      fc.constant(attribute),
      attribute === 'name' ? text : fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(null)),
    );
  return fc.record({
    kind: fc.constant(kind),
    selection: fc.record({
      filters: fc.subarray([...indexed]).chain((attributes) => fc.tuple(...attributes.map(filter))),
      words: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.uniqueArray(word, { maxLength: 2 }) },
      ),
      ranges: kind === 'skus' ? fc.uniqueArray(aRange, RANGES) : fc.constant([]),
      sortby: fc.constantFrom(...scalarAttributes(KINDS[kind])),
      order: fc.constantFrom('asc', 'desc'),
      offset: fc.nat(6),
      limit: fc.constantFrom(1, 3, 100, Number.POSITIVE_INFINITY),
    }),
  });
});

/** The question about rows whose ids are higher. */
function shifted({ kind, selection }: Question, by: number): Question {
  const filters = selection.filters.map(
    ([attribute, value]) => [attribute, typeof value === 'number' ? value + by : value] as const,
  );
  return { kind, selection: { ...selection, filters } };
}

/** A number of questions, then the edits of one group of transactions. */
const aStep = fc.record({
  questions: fc.array(aQuestion, { maxLength: 4 }),
  edits: fc.array(anEdit, { minLength: 1, maxLength: 10 }),
});

/** The last id before the first row: ids pass 32 bits in a trail of audits after so many writes. */
const lastBefore = fc.constantFrom(0, 2 ** 32 - 3);

/** A few rows of every kind, so that most edits find the rows that they need. */
function populated(before: number): { rows: Rows; last: Record<KindName, number> } {
  const [rows, last] = [noRows(), perKind(() => before)];
  for (const kind of KIND_NAMES) {
    for (const nth of [0, 1, 2, 3]) {
      const picks = [0, nth, nth + 1, nth, nth, nth];
      edit(rows, last, { action: 'create', kind, picks, text: nth > 1 ? 'b' : 'a', number: nth });
    }
  }
  return { rows, last };
}

test('every page equals a filter and a sort over all rows, after any changes', () => {
  const manySteps = fc.array(aStep, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(manySteps, fc.boolean(), lastBefore, (steps, plans, before) => {
      const { rows: first, last } = populated(before);
      let rows = first;
      const tables = new Tables(rowTables(rows));
      const asked: Question[] = [];
      for (const { questions, edits } of steps) {
        for (const question of questions.map((each) => shifted(each, before))) {
          asked.push(question);
          tables.queries.select(question.kind, question.selection);
        }
        const next = copy(rows);
        for (const one of edits) edit(next, last, one);
        const changes = changesBetween(rows, next);
        tables.apply(changes, plans ? atOnce(tables.plan(changes)) : null);
        rows = next;
        for (const { kind, selection } of asked) {
          assert.equal(
            tables.queries.select(kind, selection),
            selectPlainly(rows, kind, selection),
            `${kind} ${JSON.stringify(selection)}`,
          );
          const all = tables.queries.selectAll(kind, selection);
          const every = allPlainly(rows, kind, selection);
          assert.equal(
            { rows: [...all.rows], total: all.total },
            { rows: every.slice(selection.offset), total: every.length },
            `all of ${kind} ${JSON.stringify(selection)}`,
          );
          const scanned = [...tables.queries.scan(kind, selection)];
          assert.equal(
            scanned.filter((row) => row !== null),
            every,
            `scan of ${kind} ${JSON.stringify(selection)}`,
          );
        }
        assert.equal(tables.faults(), []);
      }
      for (const kind of ALL_KINDS) {
        const ids = [...rows[kind.name].keys()].sort((a, b) => a - b);
        assert.equal([...tables.ids(kind.name).values()], ids);
        assert.is(tables.count(kind.name), ids.length);
        for (const { attribute } of referencesOf(kind)) {
          for (const wanted of [null, before + 1, before + 2, before + 3]) {
            const found = ids.filter((id) => rows[kind.name].get(id)?.[attribute] === wanted);
            assert.equal([...tables.matching(kind.name, attribute, wanted).values()], found);
          }
        }
      }
    }),
    { numRuns: 600 },
  );
});

/** Two SPUs, two categories, and SKUs that join them crosswise. */
function crosswise(): Rows {
  const rows = noRows();
  for (const id of [1, 2]) {
    rows.goods.set(id, { id, name: `SPU ${id}`, brand_id: 1 });
    rows.categories.set(id, { id, name: `Category ${id}`, parent_id: null });
  }
  for (const id of [1, 2, 3, 4]) {
    const row = { id, name: 'Same', goods_id: (id % 2) + 1, category_id: id > 2 ? 2 : 1 };
    rows.skus.set(id, row);
  }
  return rows;
}

const sorted = (sortby: string): Selection => ({
  filters: [],
  sortby,
  order: 'asc',
  offset: 0,
  limit: 100,
});
const idsOf = (tables: Tables, sortby: string) => tables.queries.select('skus', sorted(sortby)).ids;

const byPrice = sorted('price');

function renamed(rows: Rows, kind: KindName, id: number, name: string): Change {
  const before = rows[kind].get(id) as Row;
  return changeOf(kind, id, before, { ...before, name });
}

test('SKUs sorted by their SPU move when the SPU is renamed', () => {
  const rows = crosswise();
  const tables = new Tables(rowTables(rows));
  assert.equal(idsOf(tables, 'goods'), [2, 4, 1, 3]);
  tables.apply([renamed(rows, 'goods', 2, 'A')]);
  assert.equal(idsOf(tables, 'goods'), [1, 3, 2, 4]);
});

test('one list of changes can rename an SPU and move one of its SKUs to another SPU', () => {
  const rows = crosswise();
  const tables = new Tables(rowTables(rows));
  idsOf(tables, 'goods');
  const before = rows.skus.get(1) as Row;
  const moved = changeOf<KindName>('skus', 1, before, { ...before, goods_id: 1 });
  tables.apply([moved, renamed(rows, 'goods', 2, 'A')]);
  assert.equal(idsOf(tables, 'goods'), [3, 1, 2, 4]);
});

test('one list of changes can rename an SPU and a category that the same SKUs are sorted by', () => {
  const rows = crosswise();
  const tables = new Tables(rowTables(rows));
  assert.equal(idsOf(tables, 'category'), [1, 2, 3, 4]);
  assert.equal(idsOf(tables, 'goods'), [2, 4, 1, 3]);
  tables.apply([renamed(rows, 'categories', 2, 'A'), renamed(rows, 'goods', 2, 'A')]);
  assert.equal(idsOf(tables, 'category'), [3, 4, 1, 2]);
  assert.equal(idsOf(tables, 'goods'), [1, 3, 2, 4]);
});

test('the deletion of a row that an index does not contain throws an error', () => {
  const rows = crosswise();
  const tables = new Tables(rowTables(rows));
  assert.equal([...tables.matching('skus', 'name', 'Same').values()], [1, 2, 3, 4]);
  const before = { ...(rows.skus.get(1) as Row), id: 9 };
  assert.throws(() => tables.apply([changeOf<KindName>('skus', 9, before, null)]), /lost row 9/);
});

test('faults names every index that contradicts the rows', () => {
  const rows = rowTables(crosswise());
  const tables = new Tables(rows);
  idsOf(tables, 'goods');
  tables.queries.select('categories', { ...sorted('name'), order: 'desc' });
  assert.equal(tables.faults(), []);
  // Changes that the indexes do not get.
  rows.skus.delete(3);
  rows.categories.set({ id: 1, name: 'Z', parent_id: null });
  assert.equal(tables.faults(), [
    'the index of categories by name has 1 after 2',
    ...(
      [
        ['goods_id and id', 2],
        ['category_id and id', 2],
        ['code and id', null],
        ['name and id', 'Same'],
        ['goods', null],
      ] as const
    ).flatMap(([order, key]) => [
      `the index of skus by ${order} has 3 under ${key}, where it does not belong`,
      `the index of skus by ${order} has 4 of 3 rows`,
    ]),
  ]);
});

test('before an index is built, the first 32 look-ups read the text of the rows', () => {
  const records = Array.from({ length: 200 }, (_, at) => ({
    id: at + 1,
    sku_id: (at % 50) + 1,
    spec_id: 1,
    option_id: 1,
  }));
  const rows = { ...rowTables(noRows()), sku_specs: textTableOf('sku_specs', records) };
  const columns = rows.sku_specs.columns.bind(rows.sku_specs);
  let builds = 0;
  rows.sku_specs.columns = (attribute) => {
    builds += 1;
    return columns(attribute);
  };
  const tables = new Tables(rows, { smallTableRows: 0, scannedRows: 32 * records.length });
  for (let look = 1; look <= 50; look += 1) {
    const wanted = records.filter(({ sku_id }) => sku_id === look).map(({ id }) => id);
    assert.equal(tables.idsWith('sku_specs', 'sku_id', look), wanted);
    assert.is(builds, look <= 32 ? 0 : 1, 'so many looks cost as much as the index');
  }
  assert.equal(tables.faults(), []);
});

test('a row that is text stays text if it is found by value, or read by a scan', () => {
  const brands = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: `Brand ${at + 1}` }));
  const tables = new Tables({ ...rowTables(noRows()), brands: textTableOf('brands', brands) });
  for (const { id, name } of brands) {
    assert.equal(tables.idsWith('brands', 'name', name), [id]);
    assert.is([...tables.queries.scan('brands', sorted('id'))].length, brands.length);
    // A row that was kept as an object would be the same one each time.
    assert.is.not(tables.peek('brands', id), tables.peek('brands', id));
  }
  assert.equal(tables.faults(), []);
});

test('a page with several conditions reads only its own rows', () => {
  const skus = Array.from({ length: 400 }, (_, at) => ({
    id: at + 1,
    name: `SKU ${at + 1}`,
    goods_id: 1,
    category_id: (at % 2) + 1,
    price: at,
    stock: 400 - at,
    is_launched: at % 4 > 0,
  }));
  const rows = { ...rowTables(noRows()), skus: textTableOf('skus', skus) };
  const tables = new Tables(rows);
  const selection: Selection = {
    filters: [
      ['category_id', 1],
      ['goods_id', 1],
    ],
    words: ['sku'],
    ranges: [
      { attribute: 'price', min: 10, max: null },
      { attribute: 'stock', min: 10, max: null },
      { attribute: 'is_launched', min: true, max: true },
    ],
    sortby: 'name',
    order: 'asc',
    offset: 5,
    limit: 3,
  };
  const expected = skus
    .filter((sku) => sku.category_id === 1 && sku.price >= 10 && sku.stock >= 10 && sku.is_launched)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  // The first time the orderings are built, and the words are looked for.
  assert.is(tables.queries.select('skus', selection).total, expected.length);
  let reads = 0;
  const get = rows.skus.get.bind(rows.skus);
  rows.skus.get = (id) => {
    reads += 1;
    return get(id);
  };
  const { ids } = tables.queries.select('skus', { ...selection, words: [] });
  assert.equal(
    ids,
    expected.slice(5, 8).map(({ id }) => id),
  );
  // The ends of two ranges are found by binary search.
  assert.ok(reads < 60, String(reads));
  reads = 0;
  const all = tables.queries.selectAll('skus', { ...selection, words: [], offset: 0 });
  assert.is(all.total, expected.length);
  assert.ok(reads < 60, String(reads));
});

test('few and many of the rows of a list are found and sorted as all of them would be', () => {
  const rows = noRows();
  for (let id = 1; id <= 1500; id += 1) {
    const name = ['b', 'a', '', 'é'][id % 4] ?? '';
    const category = id % 10 < 4 ? { category_id: 1 } : {};
    const row = { id, name, goods_id: (id % 2) + 1, ...category, price: id % 61, stock: -id };
    rows.skus.set(id, row);
  }
  const tables = new Tables(rowTables(rows));
  const few = { attribute: 'price', min: 3, max: 4 };
  const many = { attribute: 'stock', min: -1200, max: null };
  const selections = fc.record({
    filters: fc.subarray([
      ['category_id', 1],
      ['category_id', null],
      ['goods_id', 2],
    ] as const),
    ranges: fc.subarray([few, many], { minLength: 1 }),
    sortby: fc.constantFrom('id', 'name', 'stock'),
    order: fc.constantFrom('asc', 'desc'),
    offset: fc.constantFrom(0, 3),
    limit: fc.constantFrom(4, 1000),
  });
  fc.assert(
    fc.property(selections, (selection) => {
      assert.equal(
        tables.queries.select('skus', selection),
        selectPlainly(rows, 'skus', selection),
      );
    }),
    { numRuns: 300 },
  );
});

/** Every table counts as large, and every build pauses as often as it can. */
const SLICED = { smallTableRows: 0, sliceMs: 0 };

test('pages are correct if their ordering is built during commits', async () => {
  const property = fc.asyncProperty(
    fc.array(aStep, { minLength: 1, maxLength: 8 }),
    fc.constantFrom(1, 4, 1000),
    async (steps, movedRows) => {
      const { rows: first, last } = populated(0);
      let rows = first;
      const tables = new Tables(rowTables(rows), { ...SLICED, movedRows });
      for (const { questions, edits } of steps) {
        const waits = questions.map(({ kind, selection }) =>
          tables.queries.prepare(kind, selection),
        );
        // Each edit is a commit of its own, between two slices of the builds.
        for (const one of edits) {
          const next = copy(rows);
          edit(next, last, one);
          tables.apply(changesBetween(rows, next));
          rows = next;
          await turn();
        }
        for (const wait of waits) await wait;
        for (const { kind, selection } of questions) {
          assert.equal(
            tables.queries.select(kind, selection),
            selectPlainly(rows, kind, selection),
          );
        }
        assert.equal(tables.faults(), []);
      }
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

const anIndex = fc.constantFrom(
  ...ALL_KINDS.flatMap((kind) =>
    indexedAttributes(kind).map((attribute) => ({ kind: kind.name, attribute })),
  ),
);

test('indexes that are built during commits have every row in its place', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(anEdit, anIndex, fc.boolean()), { minLength: 1, maxLength: 30 }),
    fc.constantFrom(1, 4, 1000),
    async (commits, movedRows) => {
      const { rows: first, last } = populated(0);
      let rows = first;
      const tables = new Tables(rowTables(rows), { ...SLICED, movedRows });
      const completed = tables.completeIndexes(Promise.resolve(), () => true);
      for (const [one, { kind, attribute }, planned] of commits) {
        const next = copy(rows);
        edit(next, last, one);
        const changes = changesBetween(rows, next);
        const plan = planned ? atOnce(tables.plan(changes)) : null;
        // A request builds an index at once, which the plan does not include.
        const ids = [...rows[kind].values()].filter((row) => (row[attribute] ?? null) === null);
        assert.equal(
          [...tables.matching(kind, attribute, null).values()],
          ids.map(({ id }) => id).sort((a, b) => a - b),
        );
        tables.apply(changes, plan);
        rows = next;
        await turn();
      }
      await completed;
      assert.equal(tables.faults(), []);
    },
  );
  await fc.assert(property, { numRuns: 200 });
});

/** How often the event loop turns until the work ends. */
async function turnsDuring(work: Promise<void> | undefined): Promise<number> {
  let turns = 0;
  let done = false;
  const count = () => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await work;
  done = true;
  return turns;
}

test('building the indexes of large tables does not block the event loop', async () => {
  const tables = new Tables(rowTables(shelf(5000)), { sliceMs: 0 });
  const turns = await turnsDuring(tables.completeIndexes(Promise.resolve(), () => true));
  assert.ok(turns > 10, `${turns} turns`);
});

test('the indexes of large tables are built once the time has come, unless the work is to end', async () => {
  for (const goesOn of [true, false]) {
    const rows = rowTables(shelf(5000));
    let reads = 0;
    const snapshot = rows.skus.snapshot.bind(rows.skus);
    rows.skus.snapshot = () => {
      reads += 1;
      return snapshot();
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const completed = new Tables(rows).completeIndexes(promise, () => goesOn);
    await turn();
    assert.is(reads, 0, 'before the time has come');
    resolve();
    await completed;
    assert.is(reads > 0, goesOn);
  }
});

test('orderings are built one after the other, each once for all requests that wait for it', async () => {
  const rows = rowTables(shelf(5000));
  const tables = new Tables(rows, { sliceMs: 0 });
  const prepare = (sortby: string) => tables.queries.prepare('skus', sorted(sortby));
  const snapshot = rows.skus.snapshot.bind(rows.skus);
  const isFirstBuilt: boolean[] = [];
  rows.skus.snapshot = () => {
    isFirstBuilt.push(prepare('price') === undefined);
    return snapshot();
  };
  const waits = ['price', 'name', 'price', 'name'].map(prepare);
  assert.ok(waits.every((wait) => wait instanceof Promise));
  await Promise.all(waits);
  assert.equal(isFirstBuilt, [false, true]);
});

const BY_GOODS = [{ kind: 'skus', attribute: 'goods_id' }] as const;

test('a request waits for an index of a large table, except for the first few look-ups', async () => {
  const tables = new Tables(rowTables(shelf(5000)), { sliceMs: 0, scannedRows: 10_000 });
  assert.is(tables.prepareIndexes(BY_GOODS, true), undefined, 'two looks are allowed');
  for (let look = 0; look < 2; look += 1) tables.idsWith('skus', 'goods_id', 1);
  const again = tables.prepareIndexes(BY_GOODS, true);
  assert.instance(again, Promise, 'and no third');
  const turns = await turnsDuring(again);
  assert.ok(turns > 3, `${turns} turns`);
  assert.is(tables.prepareIndexes(BY_GOODS), undefined);
  assert.is(tables.idsWith('skus', 'goods_id', 1).length, 5000);
  assert.equal(tables.faults(), []);
});

test('prepareIndexes waits for all of the indexes at once', async () => {
  const tables = new Tables(rowTables(shelf(5000)), { sliceMs: 0 });
  const sought = [...BY_GOODS, { kind: 'skus', attribute: 'category_id' } as const];
  await tables.prepareIndexes(sought);
  for (const one of sought) assert.is(tables.prepareIndexes([one]), undefined);
});

test('the index of a small table is built at once when it is needed', () => {
  const tables = new Tables(rowTables(shelf(100)));
  assert.is(tables.prepareIndexes(BY_GOODS), undefined);
  assert.is(tables.idsWith('skus', 'goods_id', 1).length, 100);
});

test('a page waits for the indexes of its filters, which have the ids for either direction', async () => {
  const tables = new Tables(rowTables(shelf(5000)), { sliceMs: 0 });
  const filters = [
    ['goods_id', 1],
    ['category_id', 1],
  ] as const;
  const selection = { filters, sortby: 'id', order: 'asc', offset: 0, limit: 10 } as const;
  let waits = 0;
  for (;;) {
    const wait = tables.queries.prepare('skus', selection);
    if (wait === undefined) break;
    waits += 1;
    await wait;
  }
  assert.is(waits, 2);
  assert.is(tables.queries.select('skus', selection).total, 5000);
  assert.is(tables.queries.prepare('skus', { ...selection, order: 'desc' }), undefined);
});

test('once a page is prepared, nothing that it needs was or is read from a large table at once', async () => {
  const rows = rowTables(shelf(5000));
  // Builds in slices read a snapshot.
  rows.skus.columns = rows.skus.values = () => {
    throw new Error('every SKU is read at once');
  };
  const tables = new Tables(rows, { sliceMs: 0 });
  const ranges = [{ attribute: 'stock', min: null, max: 0 }];
  const selection = { ...byPrice, words: ['17'], ranges };
  const prepare = () => tables.queries.prepare('skus', selection);
  for (let wait = prepare(); wait !== undefined; wait = prepare()) await wait;
  assert.is(tables.queries.select('skus', selection).ids[0], 4917);
});

/** SKUs of one category, each with a different price. */
function shelf(skus: number): Rows {
  const rows = crosswise();
  for (let id = 1; id <= skus; id += 1) {
    rows.skus.set(id, { id, name: `SKU ${id}`, goods_id: 1, category_id: 1, price: skus - id });
  }
  return rows;
}

test('more rows than are sorted at once are in order by text and by number', () => {
  const rows = noRows();
  for (let id = 1; id <= 9000; id += 1) {
    const name = `SKU ${(id * 7919) % 5000}`;
    const row = { id, name, goods_id: 1, category_id: 1, price: (id * 7919) % 9001 };
    rows.skus.set(id, row);
  }
  const tables = new Tables(rowTables(rows));
  for (const sortby of ['name', 'price']) {
    for (const order of ['asc', 'desc'] as const) {
      const selection = { ...sorted(sortby), order, limit: 9000 };
      assert.equal(
        tables.queries.select('skus', selection),
        selectPlainly(rows, 'skus', selection),
        `${sortby} ${order}`,
      );
    }
  }
});

test('building an ordering of a large table does not block the event loop', async () => {
  const tables = new Tables(rowTables(shelf(5000)), { sliceMs: 0 });
  const turns = await turnsDuring(tables.queries.prepare('skus', byPrice));
  assert.ok(turns > 10, `${turns} turns`);
  assert.is(tables.queries.prepare('skus', byPrice), undefined);
  assert.is(tables.queries.select('skus', byPrice).ids[0], 5000);
});

test('a rename that would move too many rows drops the ordering, and the next request builds it again', async () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows), { smallTableRows: 0, movedRows: 49 });
  const byCategory = sorted('category');
  await tables.queries.prepare('skus', byCategory);
  tables.apply([renamed(rows, 'categories', 2, 'Few SKUs')]);
  assert.is(tables.queries.prepare('skus', byCategory), undefined);
  tables.apply([renamed(rows, 'categories', 1, 'Many SKUs')]);
  assert.is.not(tables.queries.prepare('skus', byCategory), undefined);
  await tables.queries.prepare('skus', byCategory);
  assert.equal(tables.faults(), []);
});

test('renames that together move too many rows drop the ordering', async () => {
  const rows = shelf(50);
  for (const row of [...rows.skus.values()].slice(0, 25)) {
    rows.skus.set(row.id, { ...row, category_id: 2 });
  }
  const tables = new Tables(rowTables(rows), { smallTableRows: 0, movedRows: 30 });
  const byCategory = sorted('category');
  await tables.queries.prepare('skus', byCategory);
  tables.apply([renamed(rows, 'categories', 1, 'C'), renamed(rows, 'categories', 2, 'D')]);
  assert.is.not(tables.queries.prepare('skus', byCategory), undefined);
  await tables.queries.prepare('skus', byCategory);
  assert.equal(tables.faults(), []);
});

test('a commit that changes more rows than may move drops the orderings of clients, and no index', async () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows), { smallTableRows: 0, movedRows: 10 });
  await tables.prepareIndexes(BY_GOODS);
  await tables.queries.prepare('skus', byPrice);
  for (const count of [10, 11]) {
    const changes = [...rows.skus.values()].slice(0, count).map((before) => {
      const after = { ...before, caption: `${count} rows` };
      rows.skus.set(after.id, after);
      return changeOf<KindName>('skus', after.id, before, after);
    });
    tables.apply(changes);
    assert.is(tables.queries.prepare('skus', byPrice) === undefined, count === 10, `${count} rows`);
    assert.is(tables.prepareIndexes(BY_GOODS), undefined);
  }
  await tables.queries.prepare('skus', byPrice);
  assert.equal(tables.faults(), []);
});

test('a request whose ordering commits overtake repeatedly is refused as busy, and the next is served', async () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows), { ...SLICED, movedRows: 10 });
  let renames = 0;
  let renaming = true;
  const rename = () => {
    renames += 1;
    const change = renamed(rows, 'categories', 1, `Name ${renames}`);
    rows.categories.set(1, change.after as Row);
    tables.apply([change]);
    if (renaming) setImmediate(rename);
  };
  setImmediate(rename);
  const code = codeOf(() => tables.queries.prepare('skus', sorted('category'))).finally(() => {
    renaming = false;
  });
  assert.is(await code, 'busy');
  await tables.queries.prepare('skus', sorted('category'));
  assert.is(tables.queries.prepare('skus', sorted('category')), undefined);
});

/**
 * Builds an ordering during commits, and checks it.
 *
 * @param rowsOfCommit rows that each commit moves. @param turns between two commits.
 * @param movedRows rows that may move in the last turn of a build.
 */
async function buildDuringCommits(rowsOfCommit: number, turns: number, movedRows: number) {
  const rows = shelf(5000);
  const tables = new Tables(rowTables(rows), { ...SLICED, movedRows });
  let moved = 0;
  let committing = true;
  let passed = 0;
  const commit = () => {
    if (committing) setImmediate(commit);
    passed += 1;
    if (passed % turns !== 0) return;
    const changes: Change[] = [];
    for (let at = 0; at < rowsOfCommit; at += 1) {
      moved += 1;
      const before = rows.skus.get(((moved * 7) % 5000) + 1) as Row;
      const after = { ...before, price: (moved * 31) % 9000 };
      rows.skus.set(after.id, after);
      changes.push(changeOf<KindName>('skus', after.id, before, after));
    }
    tables.apply(changes);
  };
  setImmediate(commit);
  try {
    await tables.queries.prepare('skus', byPrice);
  } finally {
    committing = false;
  }
  assert.ok(moved > 2 * movedRows, `${moved} rows were moved during the build`);
  assert.is(tables.queries.prepare('skus', byPrice), undefined);
  assert.equal(tables.queries.select('skus', byPrice), selectPlainly(rows, 'skus', byPrice));
  assert.equal(tables.faults(), []);
}

test('commits that together move more rows than one turn may do not stop a build', () =>
  buildDuringCommits(3, 1, 16));

test('commits that each move more rows than one turn may do not stop a build', () =>
  buildDuringCommits(17, 6, 16));

test('rows that commits move again and again during a build count once', async () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows), { ...SLICED, movedRows: 10 });
  let committing = true;
  const commit = () => {
    if (committing) setImmediate(commit);
    const changes = Array.from({ length: 8 }, (_, at) => {
      const before = rows.skus.get(at + 1) as Row;
      const after = { ...before, price: Number(before['price']) + 1 };
      rows.skus.set(after.id, after);
      return changeOf<KindName>('skus', after.id, before, after);
    });
    tables.apply(changes, atOnce(tables.plan(changes)));
  };
  setImmediate(commit);
  try {
    await tables.queries.prepare('skus', byPrice);
  } finally {
    committing = false;
  }
  assert.equal(tables.queries.select('skus', byPrice), selectPlainly(rows, 'skus', byPrice));
});

test('an ordering whose build begins after the plan of a commit has every row in its place', async () => {
  const rows = shelf(5000);
  const tables = new Tables(rowTables(rows), { sliceMs: 0 });
  const before = rows.skus.get(1) as Row;
  const after = { ...before, price: 1 };
  const changes = [changeOf<KindName>('skus', 1, before, after)];
  const plan = atOnce(tables.plan(changes));
  const prepared = tables.queries.prepare('skus', byPrice);
  await turn();
  tables.apply(changes, plan);
  rows.skus.set(1, after);
  await prepared;
  assert.is(tables.queries.prepare('skus', byPrice), undefined);
  assert.equal(tables.queries.select('skus', byPrice), selectPlainly(rows, 'skus', byPrice));
  assert.equal(tables.faults(), []);
});

test('what rows look up in others has a new version if one of several changes concerns it', () => {
  const rows = crosswise();
  const tables = new Tables(rowTables(rows));
  const goods = [1, 2].map((id) => rows.goods.get(id) as Row);
  const changeBoth = (names: readonly string[]) => {
    const version = tables.dependencyVersion('skus');
    tables.apply(
      names.map((name, at) => {
        const before = tables.get('goods', at + 1) as Row;
        return changeOf<KindName>('goods', at + 1, before, { ...before, name });
      }),
    );
    return tables.dependencyVersion('skus') !== version;
  };
  assert.ok(changeBoth(['Other', String(goods[1]?.['name'])]));
  assert.not(changeBoth(['Other', String(goods[1]?.['name'])]));
});

test('the least recently used ordering is dropped to make room for another', async () => {
  const bounds = { smallTableRows: 0, keptIds: 100, keptOrderings: 2 };
  const tables = new Tables(rowTables(shelf(50)), bounds);
  const [a, b, c] = [sorted('price'), sorted('name'), sorted('category')];
  await tables.queries.prepare('skus', a);
  await tables.queries.prepare('skus', b);
  tables.queries.select('skus', a);
  await tables.queries.prepare('skus', c);
  assert.is(tables.queries.prepare('skus', a), undefined);
  assert.is.not(tables.queries.prepare('skus', b), undefined);
});

/** Waits until a page can be read, but not forever. */
async function untilPrepared(tables: Tables, kind: KindName, selection: Selection): Promise<void> {
  for (let waits = 0; waits < 20; waits += 1) {
    const preparing = tables.queries.prepare(kind, selection);
    if (preparing === undefined) return;
    await preparing;
  }
  assert.unreachable(`${kind} ${JSON.stringify(selection)} is not prepared`);
}

test('no page needs more orderings than are kept, however large its table is', async () => {
  const { rows } = populated(0);
  for (const kind of ALL_KINDS) {
    const tables = new Tables(rowTables(rows), { ...SLICED, keptIds: 0 });
    const ranges = Object.entries<Attribute>(kind.attributes).flatMap(([attribute, declared]) =>
      'range' in declared ? [{ attribute, min: null, max: null }] : [],
    );
    const filters = indexedAttributes(kind).map((attribute) => [attribute, null] as const);
    for (const sortby of scalarAttributes(kind)) {
      const selection = { ...sorted(sortby), filters, ranges, order: 'desc' } as const;
      await untilPrepared(tables, kind.name, selection);
    }
  }
});

test('pages that are asked for at the same time are all served, although not all orderings are kept', async () => {
  const tables = new Tables(rowTables(shelf(50)), { ...SLICED, keptIds: 0, keptOrderings: 2 });
  const pages = [
    ['name', 'price'],
    ['goods', 'stock'],
    ['category', 'is_launched'],
  ].map(([sortby = '', attribute = '']) => ({
    ...sorted(sortby),
    ranges: [{ attribute, min: null, max: null }],
  }));
  await Promise.all(pages.map((page) => untilPrepared(tables, 'skus', page)));
});

/** Changes the stock of a SKU of {@link shelf}, again and again, every second time by a plan. */
function restock(tables: Tables, rows: Rows, times: number): void {
  for (let time = 0; time < times; time += 1) {
    const before = rows.skus.get(1) as Row;
    const after = { ...before, stock: Number(before['stock'] ?? 0) + 1 };
    rows.skus.set(1, after);
    const changes = [changeOf<KindName>('skus', 1, before, after)];
    tables.apply(changes, time % 2 === 0 ? null : atOnce(tables.plan(changes)));
  }
}

test('an ordering is dropped when the rows have changed too often since its last use', async () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows), { smallTableRows: 0, unusedChanges: 2 });
  await tables.queries.prepare('skus', byPrice);
  for (let use = 0; use < 3; use += 1) {
    restock(tables, rows, 100);
    assert.is(tables.queries.prepare('skus', byPrice), undefined, 'each use keeps it');
  }
  restock(tables, rows, 101);
  assert.is.not(tables.queries.prepare('skus', byPrice), undefined, 'one change more');
  await tables.queries.prepare('skus', byPrice);
  assert.equal(tables.faults(), []);
});

test('an ordering of an empty table is kept for some changes too', async () => {
  const rows = noRows();
  const tables = new Tables(rowTables(rows), { smallTableRows: -1, unusedChanges: 2 });
  await tables.queries.prepare('skus', byPrice);
  const row = { id: 1, name: 'SKU', goods_id: null, category_id: null, price: 1 };
  tables.apply([changeOf<KindName>('skus', 1, null, row)]);
  assert.is(tables.queries.prepare('skus', byPrice), undefined);
});

test('an index by a mere filter exists only while clients ask for it, the others always', async () => {
  const rows = shelf(50);
  rows.audits.set(1, { id: 1, resource: 'skus', resource_id: 7 });
  const tables = new Tables(rowTables(rows), { smallTableRows: 0, scannedRows: 0 });
  await tables.completeIndexes(Promise.resolve(), () => true);
  const byResource = [{ kind: 'audits', attribute: 'resource' }] as const;
  assert.is(tables.prepareIndexes(BY_GOODS), undefined);
  assert.is.not(tables.prepareIndexes(byResource), undefined);
  await tables.prepareIndexes(byResource);
  assert.is(tables.prepareIndexes(byResource), undefined);
  assert.equal([...tables.matching('audits', 'resource', 'skus').values()], [1]);
});

test('selectAll and scan return all rows as of the time of the call, in both directions', () => {
  const rows = shelf(50);
  const tables = new Tables(rowTables(rows));
  const all = { ...sorted('id'), limit: Number.POSITIVE_INFINITY };
  const { rows: found, total } = tables.queries.selectAll('skus', all);
  const scanned = tables.queries.scan('skus', all);
  const last = rows.skus.get(50) as Row;
  tables.apply([changeOf<KindName>('skus', 50, last, null)]);
  assert.is(total, 50);
  assert.is([...found].at(-1), last);
  assert.is([...scanned].at(-1), last);
  const backwards = tables.queries.selectAll('skus', { ...all, order: 'desc', offset: 2 });
  assert.equal(
    [...backwards.rows].slice(0, 2).map(({ id }) => id),
    [47, 46],
  );
});

test.run();
