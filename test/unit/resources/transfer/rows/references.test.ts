/** How names in cells are resolved (spec 12.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Names } from '../../../../../src/resources/transfer/rows/names.ts';
import { References } from '../../../../../src/resources/transfer/rows/references.ts';
import { atOnce } from '../../../../../src/slices.ts';
import { State } from '../../../../../src/store/state.ts';
import { Draft, type Transaction } from '../../../../../src/store/writer/draft.ts';
import { add, MemoryStore } from '../../../../support/memory-store.ts';

/** Rows that a look-up reads, at most: those that it finds, or reports as ambiguous, and a few. */
const FEW_READS = 60;

/** @returns the transaction, which calls `onRead` for each row that is read. */
function observed(transaction: Transaction, onRead: () => void): Transaction {
  return new Proxy(transaction, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        if (key === 'get') onRead();
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}

test('a name that many specifications have is resolved without reading all of them', () => {
  const names = new Names();
  let reads = 0;
  const found: number[] = [];
  new MemoryStore().commit([
    (transaction) => {
      for (let spu = 1; spu <= 100; spu += 1) {
        const goods_id = add(transaction, 'goods', { name: `SPU ${spu}` });
        names.add('goods', { id: goods_id, name: `SPU ${spu}` });
        for (const name of ['Size', 'Colour']) {
          const id = add(transaction, 'specs', { name, goods_id });
          names.add('specs', { id, name });
        }
      }
      const view = observed(transaction, () => (reads += 1));
      const references = new References(view, names, new Set(), true);
      found.push(
        atOnce(references.named('specs', 'Colour', 'SPU 7')),
        atOnce(references.named('specs', 'Size', 'SPU 100')),
      );
      assert.throws(
        () => atOnce(references.named('specs', 'Colour', null)),
        /^specifications 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 have this name; give the id$/,
      );
      // They lack what they refer to, so they must not be committed.
      for (const kind of ['specs', 'goods'] as const) {
        const ids = Array.from(transaction.ids(kind));
        for (const id of ids) transaction.delete(kind, id);
      }
    },
  ]);
  assert.equal(found, [14, 199]);
  assert.ok(reads < FEW_READS, `${reads} rows are read`);
});

/** Puts a row and its name. @returns its id. */
function addNamed(
  transaction: Transaction,
  names: Names,
  kind: 'goods' | 'specs' | 'categories',
  row: {
    readonly name: string;
    readonly goods_id?: number;
    readonly parent_id?: number | null;
  },
): number {
  const id = add(transaction, kind, row);
  names.add(kind, { id, ...row });
  return id;
}

test('the specifications of several SPUs with one name are listed in the order of their ids', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const [first, second] = [1, 2].map(() => addNamed(draft, names, 'goods', { name: 'Table' }));
  assert.ok(first !== undefined && second !== undefined);
  for (const goods_id of [second, first]) {
    addNamed(draft, names, 'specs', { name: 'Colour', goods_id });
  }
  const references = new References(draft, names, new Set(), true);
  assert.throws(
    () => atOnce(references.named('specs', 'Colour', 'Table')),
    /^specifications 1, 2 have this name; give the id$/,
  );
});

test('each level of a path is below the level before it, whatever other categories have its name', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const category = (name: string, parent_id: number | null) =>
    addNamed(draft, names, 'categories', { name, parent_id });
  const [clothes, shoes] = [category('Clothes', null), category('Shoes', null)];
  const [ofClothes, ofShoes] = [category('Winter', clothes), category('Winter', shoes)];
  category('Clothes', ofShoes);
  const references = new References(draft, names, new Set(), true);
  assert.equal(atOnce(references.path('Clothes')), [clothes]);
  assert.equal(atOnce(references.path('Clothes > Winter')), [clothes, ofClothes]);
  assert.equal(atOnce(references.path('Shoes > Winter')), [shoes, ofShoes]);
  for (const path of ['Winter', 'Clothes > Shoes', 'Shoes > Clothes']) {
    assert.throws(() => atOnce(references.path(path)), /^there is no category "/, path);
  }
});

/** @returns what `look` returns. */
function withFewReads<T>(draft: Transaction, names: Names, look: (references: References) => T): T {
  let reads = 0;
  const view = observed(draft, () => (reads += 1));
  const result = look(new References(view, names, new Set(), true));
  assert.ok(reads < FEW_READS, `${reads} rows are read`);
  return result;
}

test('a category is found in its path without reading all that have its name, or its parent', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const category = (name: string, parent_id: number | null) =>
    addNamed(draft, names, 'categories', { name, parent_id });
  const roots = Array.from({ length: 1000 }, (_, nth) => category(`Root ${nth}`, null));
  const others = roots.map((root) => category('Other', root));
  const path = (text: string) => withFewReads(draft, names, (at) => atOnce(at.path(text)));
  assert.equal(path('Root 900 > Other'), [roots[900], others[900]]);
  assert.throws(() => path('Other'), /^there is no category "Other"$/);
});

test('the specification of an SPU is found without reading all SPUs that have its name', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const table = () => addNamed(draft, names, 'goods', { name: 'Table' });
  const tables = Array.from({ length: 1000 }, table);
  const specs = (name: string, of: readonly number[]) =>
    of.map((goods_id) => addNamed(draft, names, 'specs', { name, goods_id }));
  const [colour] = specs('Colour', tables.slice(900, 901));
  specs('Size', tables);
  const spec = (name: string) =>
    withFewReads(draft, names, (at) => atOnce(at.named('specs', name, 'Table')));
  assert.is(spec('Colour'), colour);
  assert.throws(
    () => spec('Size'),
    /^specifications 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 have this name; give the id$/,
  );
  assert.throws(() => spec('Depth'), /^there is no specification "Depth"$/);
});

test('a search yields between rows if many SPUs and many specifications have the names', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const many = 1000;
  for (let nth = 0; nth < many; nth += 1) {
    addNamed(draft, names, 'goods', { name: 'Table' });
    const goods_id = addNamed(draft, names, 'goods', { name: `Chair ${nth}` });
    addNamed(draft, names, 'specs', { name: 'Colour', goods_id });
  }
  const search = new References(draft, names, new Set(), true).named('specs', 'Colour', 'Table');
  let steps = 0;
  assert.throws(() => {
    while (search.next().done !== true) steps += 1;
  }, /^there is no specification "Colour"$/);
  assert.ok(steps >= many, `it yields ${steps} times`);
});

test('a specification or an option that one cell names several times is created once', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const spu = addNamed(draft, names, 'goods', { name: 'Table' });
  const references = new References(draft, names, new Set(['specs', 'options']), true);
  const pairs = atOnce(references.specs.pairs('Colour=Red; Colour=Blue; Colour=Red', spu, 10));
  assert.equal(pairs, [
    { spec_id: 1, option_id: 1 },
    { spec_id: 1, option_id: 2 },
    { spec_id: 1, option_id: 1 },
  ]);
  assert.equal(references.takeCreated(), [
    { resource: 'specs', id: 1, name: 'Colour' },
    { resource: 'options', id: 1, name: 'Red' },
    { resource: 'options', id: 2, name: 'Blue' },
  ]);
});

/** SPUs with one specification each, which has the options 1 to `options`. */
function addSpus(draft: Transaction, names: Names, spus: number, options: number) {
  return Array.from({ length: spus }, (_, nth) => {
    const spu = addNamed(draft, names, 'goods', { name: `SPU ${nth}` });
    const spec_id = addNamed(draft, names, 'specs', { name: 'Number', goods_id: spu });
    const ids = Array.from({ length: options }, (__, option) =>
      add(draft, 'options', { value: `${option}`, spec_id }),
    );
    return { spu, spec_id, ids };
  });
}

for (const order of ['follow each other', 'are between those of other SPUs']) {
  test(`the options of a specification are read once for all SKUs of its SPU that ${order}`, () => {
    const [names, draft] = [new Names(), new Draft(State.empty())];
    const options = 100;
    const spus = addSpus(draft, names, order === 'follow each other' ? 1 : 3, options);
    let reads = 0;
    const view = observed(draft, () => (reads += 1));
    const references = new References(view, names, new Set(), true);
    for (let nth = 0; nth < options; nth += 1) {
      for (const { spu, spec_id, ids } of spus) {
        const pairs = atOnce(references.specs.pairs(`Number=${nth}`, spu, 10));
        assert.equal(pairs, [{ spec_id, option_id: ids[nth] }]);
      }
    }
    assert.ok(reads < 2 * options * spus.length, `${reads} rows are read`);
  });
}

test('the options of SPUs are forgotten when they are too many to remember, except of one SPU', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const [first, second] = addSpus(draft, names, 2, 100_001);
  const [third, fourth] = addSpus(draft, names, 2, 10);
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(third !== undefined && fourth !== undefined);
  let reads = 0;
  const references = new References(
    observed(draft, () => (reads += 1)),
    names,
    new Set(),
    true,
  );
  for (const [{ spu, ids }, isRead] of [
    [first, true],
    [first, false],
    [second, true],
    [first, true],
    [first, false],
    [third, true],
    [fourth, true],
    // Those of both fit again.
    [third, true],
    [fourth, false],
    [third, false],
  ] as const) {
    reads = 0;
    atOnce(references.specs.pairs('Number=7', spu, 10));
    assert.is(reads > ids.length, isRead);
  }
});

test('the options of an SPU are forgotten after those of very many SPUs without specifications', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const [spu] = addSpus(draft, names, 1, 10).map((added) => added.spu);
  assert.ok(spu !== undefined);
  let reads = 0;
  const view = observed(draft, () => (reads += 1));
  const { specs } = new References(view, names, new Set(), true);
  const readsNow = () => {
    reads = 0;
    atOnce(specs.pairs('Number=7', spu, 10));
    return reads;
  };
  assert.ok(readsNow() > 10);
  assert.is(readsNow(), 0);
  for (let nth = 1; nth <= 100_000; nth += 1) atOnce(specs.pairs('', spu + nth, 10));
  assert.ok(readsNow() > 10);
});

test('an error about a name that many specifications of an SPU have lists ten of them', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const goods_id = addNamed(draft, names, 'goods', { name: 'Table' });
  for (let nth = 1; nth <= 11; nth += 1)
    addNamed(draft, names, 'specs', { name: 'Size', goods_id });
  const { specs } = new References(draft, names, new Set(), true);
  assert.throws(
    () => atOnce(specs.pairs('Size=M', goods_id, 10)),
    /^specifications 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 have this name; give them different names$/,
  );
});

test('what a row has created that failed is created again by the next row that names it', () => {
  const [names, draft] = [new Names(), new Draft(State.empty())];
  const spu = addNamed(draft, names, 'goods', { name: 'Table' });
  const references = new References(draft, names, new Set(['specs', 'options']), true);
  const write = () => atOnce(references.specs.pairs('Colour=Red', spu, 10));
  const undo = draft.savepoint();
  write();
  undo();
  references.forgetCreated();
  for (const created of [['specs', 'options'], []]) {
    const [pair] = write();
    assert.ok(draft.get('options', pair?.option_id ?? null), 'the option exists');
    assert.equal(
      references.takeCreated().map(({ resource }) => resource),
      created,
    );
  }
});

test.run();
