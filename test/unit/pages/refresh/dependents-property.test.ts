/**
 * src/pages/refresh/dependents.ts, compared with a fresh rendering: after any commits, with work of
 * the queue between them, the folder contains exactly the current pages.
 */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import type { KindName, Row, Scalar } from '../../../../src/model/kind.ts';
import { MAX_CHOICE_SKUS } from '../../../../src/pages/shop/gather.ts';
import { type PageName, PART_SIZE, SITEMAP_PART } from '../../../../src/pages/shop/names.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu, differences, freshPages, Shop } from '../../../support/shop.ts';

const RUNS = Number(process.env['PAGES_RUNS'] ?? 50);

/** An edit; its numbers select the rows. */
interface Edit {
  readonly verb: string;
  readonly picks: readonly number[];
  readonly word: string;
}

/** A commit, some of the queue's work, or all of it and a check of the folder. */
type Step = { readonly commit: readonly Edit[] } | { readonly work: number } | 'rest';

/** The rows that an edit can use: rows of the store that its transaction still has. */
class Hand {
  readonly transaction: Transaction;
  readonly word: string;
  readonly #store: MemoryStore;
  readonly #picks: number[];

  constructor(store: MemoryStore, transaction: Transaction, { picks, word }: Edit) {
    this.#store = store;
    this.transaction = transaction;
    this.#picks = [...picks];
    this.word = word;
  }

  number(): number {
    const number = this.#picks.shift() ?? 0;
    this.#picks.push(number);
    return number;
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.number() % values.length];
    if (value === undefined) throw new CatalogError('integrity', 'there is nothing to pick');
    return value;
  }

  /** Every row of a kind that existed before this transaction and still exists in it. */
  rows(kind: KindName): Row[] {
    return [...this.#store.ids(kind)].flatMap((id) => this.transaction.get(kind, id) ?? []);
  }

  row(kind: KindName): Row {
    return this.of(this.rows(kind));
  }

  where(kind: KindName, attribute: string, value: Scalar): number[] {
    return [...this.transaction.matching(kind, attribute, value)];
  }

  /** A category with two above it. */
  chain(): [number, number, number] {
    const chains = this.rows('categories').flatMap((third) => {
      const second = this.transaction.get('categories', third['parent_id'] ?? null);
      const first = this.transaction.get('categories', second?.['parent_id'] ?? null);
      return first && second ? [[first.id, second.id, third.id] as [number, number, number]] : [];
    });
    return this.of(chains);
  }

  set(kind: KindName, id: number, fields: Readonly<Record<string, Scalar>>): void {
    change(this.transaction, kind, id, fields);
  }

  /** Adds a record to a SKU, with a specification of its SPU. */
  record(sku: number, spu: Scalar): void {
    const spec_id = this.of(this.where('specs', 'goods_id', spu));
    const option_id = this.of(this.where('options', 'spec_id', spec_id));
    add(this.transaction, 'sku_specs', { sku_id: sku, spec_id, option_id });
  }

  deleteRecords(sku: number): void {
    for (const id of this.where('sku_specs', 'sku_id', sku))
      this.transaction.delete('sku_specs', id);
  }
}

const TEXTS: readonly (readonly [KindName, string])[] = [
  ['brands', 'name'],
  ['brands', 'first_letter'],
  ['categories', 'name'],
  ['goods', 'name'],
  ['goods', 'desc_detail'],
  ['goods', 'desc_pack'],
  ['goods', 'desc_service'],
  ['specs', 'name'],
  ['options', 'value'],
  ['skus', 'name'],
  ['skus', 'caption'],
];

const AMOUNTS = ['price', 'market_price', 'cost_price', 'stock', 'sales'] as const;

const DELETABLE = [
  'brands',
  'categories',
  'goods',
  'specs',
  'options',
  'skus',
  'skus',
  'sku_specs',
] as readonly KindName[];

const VERBS: Readonly<Record<string, (hand: Hand) => void>> = {
  'add a brand': ({ transaction, word }) =>
    void add(transaction, 'brands', { name: word, logo: '', first_letter: '' }),
  'add a category'(hand) {
    const parent = hand.of([null, ...hand.rows('categories').map(({ id }) => id)]);
    add(hand.transaction, 'categories', { name: hand.word, parent_id: parent });
  },
  'add an SPU': (hand) =>
    void addSpu(hand.transaction, hand.word, hand.row('brands').id, hand.chain()),
  'add a specification': (hand) =>
    void add(hand.transaction, 'specs', { name: hand.word, goods_id: hand.row('goods').id }),
  'add an option': (hand) =>
    void add(hand.transaction, 'options', { value: hand.word, spec_id: hand.row('specs').id }),
  'add a SKU'(hand) {
    const spu = hand.row('goods').id;
    const sku = addSku(hand.transaction, hand.word, spu, hand.chain()[2]);
    if (hand.number() % 2 === 0) hand.record(sku, spu);
  },
  'add a record'(hand) {
    const sku = hand.row('skus');
    hand.record(sku.id, sku['goods_id'] ?? null);
  },
  'change a text'(hand) {
    const [kind, attribute] = hand.of(TEXTS);
    hand.set(kind, hand.row(kind).id, { [attribute]: hand.word });
  },
  'change the name of a specification or the value of an option'(hand) {
    const record = hand.row('sku_specs');
    if (hand.number() % 2 === 0)
      hand.set('specs', record['spec_id'] as number, { name: hand.word });
    else hand.set('options', record['option_id'] as number, { value: hand.word });
  },
  'change a logo': (hand) =>
    hand.set('brands', hand.row('brands').id, { logo: `/${hand.word}.png` }),
  'change an amount': (hand) =>
    hand.set('skus', hand.row('skus').id, { [hand.of(AMOUNTS)]: hand.number() % 3 }),
  'put on sale or off'(hand) {
    const sku = hand.row('skus');
    hand.set('skus', sku.id, { is_launched: sku['is_launched'] !== true });
  },
  'change the record of a SKU'(hand) {
    const record = hand.row('sku_specs');
    const option_id = hand.of(hand.where('options', 'spec_id', record['spec_id'] ?? null));
    hand.set('sku_specs', record.id, { option_id });
  },
  'move an SPU to a brand': (hand) =>
    hand.set('goods', hand.row('goods').id, { brand_id: hand.row('brands').id }),
  'move an SPU to a category'(hand) {
    const [category1_id, category2_id, category3_id] = hand.chain();
    hand.set('goods', hand.row('goods').id, { category1_id, category2_id, category3_id });
  },
  'move a SKU to a category': (hand) =>
    hand.set('skus', hand.row('skus').id, { category_id: hand.chain()[2] }),
  'move a SKU to an SPU'(hand) {
    const sku = hand.row('skus').id;
    hand.deleteRecords(sku);
    hand.set('skus', sku, { goods_id: hand.row('goods').id });
  },
  'move a category, with the chains of SPUs'(hand) {
    const { id } = hand.row('categories');
    const parent = hand.of([null, ...hand.rows('categories').map((row) => row.id)]);
    hand.set('categories', id, { parent_id: parent });
    if (typeof parent !== 'number') return;
    const above = hand.transaction.get('categories', parent)?.['parent_id'] ?? null;
    for (const spu of hand.where('goods', 'category3_id', id)) {
      hand.set('goods', spu, { category1_id: above, category2_id: parent });
    }
    for (const spu of hand.where('goods', 'category2_id', id)) {
      hand.set('goods', spu, { category1_id: parent });
    }
  },
  'move a specification with all that rely on it'(hand) {
    const spec = hand.row('specs').id;
    const goods_id = hand.row('goods').id;
    hand.set('specs', spec, { goods_id });
    for (const record of hand.where('sku_specs', 'spec_id', spec)) {
      const sku = hand.transaction.get('sku_specs', record)?.['sku_id'] as number;
      hand.set('skus', sku, { goods_id });
    }
  },
  delete(hand) {
    const kind = hand.of(DELETABLE);
    hand.transaction.delete(kind, hand.row(kind).id);
  },
  'empty an SPU, and delete it'(hand) {
    const spu = hand.row('goods').id;
    const goods_id = hand.row('goods').id;
    for (const sku of hand.where('skus', 'goods_id', spu)) {
      hand.deleteRecords(sku);
      if (goods_id === spu) hand.transaction.delete('skus', sku);
      else hand.set('skus', sku, { goods_id });
    }
    for (const spec of hand.where('specs', 'goods_id', spu)) {
      for (const id of hand.where('options', 'spec_id', spec))
        hand.transaction.delete('options', id);
      hand.transaction.delete('specs', spec);
    }
    hand.transaction.delete('goods', spu);
  },
  'delete the first or the last SKUs of an SPU'(hand) {
    const skus = hand.where('skus', 'goods_id', hand.row('goods').id);
    const count = hand.number() % 120;
    const ends = hand.number() % 2 === 0 ? skus.slice(0, count) : skus.slice(-count);
    for (const sku of ends) {
      hand.deleteRecords(sku);
      hand.transaction.delete('skus', sku);
    }
  },
  'add SKUs to an SPU'(hand) {
    const spu = hand.row('goods').id;
    const category = hand.chain()[2];
    for (let left = hand.number() % 60; left > 0; left -= 1) {
      addSku(hand.transaction, `${hand.word} ${left}`, spu, category);
    }
  },
  'add categories, or delete empty ones'(hand) {
    const parent = hand.of([null, ...hand.rows('categories').map(({ id }) => id)]);
    const count = hand.number() % 60;
    const below = hand.where('categories', 'parent_id', parent);
    const empty = below.filter((id) =>
      (['categories.parent_id', 'skus.category_id', 'goods.category3_id'] as const).every(
        (path) => {
          const [kind, attribute] = path.split('.') as [KindName, string];
          return hand.where(kind, attribute, id).length === 0;
        },
      ),
    );
    if (hand.number() % 2 === 0) {
      for (const id of empty.slice(0, count)) hand.transaction.delete('categories', id);
      return;
    }
    for (let left = count; left > 0; left -= 1) {
      add(hand.transaction, 'categories', { name: `${hand.word} ${left}`, parent_id: parent });
    }
  },
};

/** Verbs that change many rows, for long lists. */
const MANY = [
  'delete the first or the last SKUs of an SPU',
  'add SKUs to an SPU',
  'add categories, or delete empty ones',
];
const FEW = Object.keys(VERBS).filter((verb) => !MANY.includes(verb));

/** Attributes that many pages show are changed more often. */
const OFTEN = FEW.filter((verb) => verb.startsWith('change'));

const editOf = (verbs: readonly string[]): fc.Arbitrary<Edit> =>
  fc.record({
    verb: fc.constantFrom(...verbs),
    // The first rows of a kind are those that most others refer to.
    picks: fc.array(fc.oneof(fc.nat(3), fc.nat(997)), { minLength: 4, maxLength: 6 }),
    word: fc.constantFrom('Ash', 'Birch', 'Cedar', 'Elm & Fir', 'Larch'),
  });

const stepsOf = (verbs: readonly string[], most: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ commit: fc.array(editOf(verbs), { minLength: 1, maxLength: 3 }) }),
      },
      { weight: 1, arbitrary: fc.record({ work: fc.nat(40) }) },
      { weight: 2, arbitrary: fc.constant('rest' as const) },
    ),
    { minLength: 1, maxLength: most },
  );

/** How many edits succeeded, by verb: a verb that never succeeds proves nothing. */
const done = new Map<string, number>();

/** Commits edits together; an edit that breaks a rule is left out, like a refused request. */
function commit(shop: Shop, edits: readonly Edit[]): void {
  const transactions = edits.map((edit) => (transaction: Transaction) => {
    VERBS[edit.verb]?.(new Hand(shop.store, transaction, edit));
    done.set(edit.verb, (done.get(edit.verb) ?? 0) + 1);
  });
  shop.commit(transactions, () => {});
}

async function holds(shop: Shop, steps: readonly Step[]): Promise<void> {
  for (const step of [...steps, 'rest' as const]) {
    if (step === 'rest') {
      await shop.rest();
      assert.equal(differences(shop.pages, freshPages(shop.store)), []);
    } else if ('commit' in step) commit(shop, step.commit);
    else await shop.work(step.work);
  }
}

/** Tries the verbs that have not succeeded by chance, with different rows. */
async function everyOneComes(
  verbs: readonly string[],
  rows: (transaction: Transaction) => void,
): Promise<void> {
  for (const verb of verbs) {
    for (let pick = 0; !done.has(verb) && pick < 100; pick += 1) {
      const store = new MemoryStore();
      store.commit([rows]);
      const edit = { verb, picks: [pick % 4, pick, pick >> 1, pick >> 2], word: 'Ash' };
      await holds(new Shop(store), [{ commit: [edit] }]);
    }
    assert.ok(done.has(verb), `${verb} never comes through`);
  }
}

/** Two SPUs with specifications, options and SKUs in two chains of categories. */
function fewRows(transaction: Transaction): void {
  const brands = ['Oak', 'Pine'].map((name) =>
    add(transaction, 'brands', { name, logo: '', first_letter: '' }),
  );
  const chains = ['Wood', 'Leaf'].map((name) => addChain(transaction, name));
  const [first, second] = chains as [[number, number, number], [number, number, number]];
  for (const [index, chain] of [first, second].entries()) {
    const spu = addSpu(transaction, `SPU ${index}`, brands[index] ?? 0, chain);
    const pairs = ['Colour', 'Size'].map((name) => {
      const spec_id = add(transaction, 'specs', { name, goods_id: spu });
      const options = ['A', 'B'].map((value) => add(transaction, 'options', { value, spec_id }));
      return { spec_id, options };
    });
    for (const number of [0, 1, 2]) {
      const sku_id = addSku(transaction, `SKU ${number}`, spu, first[2]);
      // The last SKU has fewer records than the others.
      for (const [at, { spec_id, options }] of pairs.slice(number === 2 ? 1 : 0).entries()) {
        const option_id = options[(number >> at) & 1] ?? 0;
        add(transaction, 'sku_specs', { sku_id, spec_id, option_id });
      }
    }
  }
}

/** Lists that end near the border of a part, and an SPU with about MAX_CHOICE_SKUS SKUs. */
function manyRows(shop: { skus: number; categories: number; spent: number }) {
  return (transaction: Transaction) => {
    fewRows(transaction);
    for (let left = shop.spent; left > 0; left -= 1) transaction.nextId('skus');
    for (let left = shop.categories; left > 0; left -= 1) {
      add(transaction, 'categories', { name: `More ${left}`, parent_id: null });
      add(transaction, 'categories', { name: `Below ${left}`, parent_id: 1 });
    }
    const [option] = [...transaction.matching('options', 'spec_id', 1)];
    for (let left = shop.skus; left > 0; left -= 1) {
      const sku_id = addSku(transaction, `Many ${left}`, 1, 3);
      const record = { sku_id, spec_id: 1, option_id: option ?? 0 };
      if (left % 5 === 0) add(transaction, 'sku_specs', record);
    }
  };
}

test('pages of a small catalog are current after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf([...FEW, ...OFTEN, ...OFTEN], 12), async (steps) => {
      const store = new MemoryStore();
      store.commit([fewRows]);
      await holds(new Shop(store), steps);
    }),
    { numRuns: RUNS },
  );
  await everyOneComes(FEW, fewRows);
});

const near = (border: number) => fc.integer({ min: border - 3, max: border + 2 });

test('pages of long lists are current after any changes across the borders of their parts', async () => {
  const shops = fc.record({
    skus: fc.oneof(near(PART_SIZE), near(2 * PART_SIZE), near(MAX_CHOICE_SKUS)),
    categories: near(PART_SIZE),
    spent: fc.constantFrom(0, SITEMAP_PART - 60),
  });
  // Most runs have several of them: each occurs about six times.
  const verbs = [...FEW, ...Array.from({ length: 9 }, () => MANY).flat()];
  await fc.assert(
    fc.asyncProperty(shops, stepsOf(verbs, 6), async (rows, steps) => {
      const store = new MemoryStore();
      store.commit([manyRows(rows)]);
      await holds(new Shop(store), steps);
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
  const rows = { skus: PART_SIZE, categories: PART_SIZE, spent: 0 };
  await everyOneComes(MANY, manyRows(rows));
});

/** Edits at the ends of three lists of the same length, by description. */
const ENDS: Readonly<Record<string, (transaction: Transaction) => void>> = {
  'a row is added'(transaction) {
    addSku(transaction, 'New', 1, 3);
    add(transaction, 'categories', { name: 'New', parent_id: null });
    add(transaction, 'categories', { name: 'New', parent_id: 1 });
  },
  'the last row is deleted'(transaction) {
    for (const [kind, id] of endsOf(transaction)) transaction.delete(kind, id);
  },
  'the last row is renamed'(transaction) {
    for (const [kind, id] of endsOf(transaction)) change(transaction, kind, id, { name: 'New' });
  },
  'the first SKU is deleted': (transaction) => transaction.delete('skus', 1),
  'the first SKU moves to another SPU': (transaction) =>
    change(transaction, 'skus', 1, { goods_id: 2 }),
  'the first SKU moves to another category': (transaction) =>
    change(transaction, 'skus', 1, { category_id: 6 }),
  'the SPU is renamed': (transaction) => change(transaction, 'goods', 1, { name: 'New' }),
  'the category above all SKUs is renamed': (transaction) =>
    change(transaction, 'categories', 1, { name: 'New' }),
  'the category of all SKUs is renamed': (transaction) =>
    change(transaction, 'categories', 3, { name: 'New' }),
  'all SKUs are deleted'(transaction) {
    for (const id of Array.from(transaction.matching('skus', 'goods_id', 1))) {
      transaction.delete('skus', id);
    }
  },
};

/** The last row of each list: the SKUs of SPU 1, the first level, and what is below category 1. */
function endsOf(transaction: Transaction): [KindName, number][] {
  const last = (kind: KindName, attribute: string, value: Scalar): [KindName, number] => [
    kind,
    Math.max(...transaction.matching(kind, attribute, value)),
  ];
  return [
    last('skus', 'goods_id', 1),
    last('categories', 'parent_id', null),
    last('categories', 'parent_id', 1),
  ];
}

function listsOf(length: number): MemoryStore {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      const chains = ['Wood', 'Leaf'].map((name) => addChain(transaction, name));
      for (const chain of chains) addSpu(transaction, 'SPU', brand, chain);
      for (let left = length; left > 0; left -= 1) addSku(transaction, `SKU ${left}`, 1, 3);
      for (let left = length - 2; left > 0; left -= 1) {
        add(transaction, 'categories', { name: `First ${left}`, parent_id: null });
      }
      for (let left = length - 1; left > 0; left -= 1) {
        add(transaction, 'categories', { name: `Below ${left}`, parent_id: 1 });
      }
    },
  ]);
  return store;
}

/** The pages of the lists before an edit, by the length of the lists: each edit begins with them. */
const pagesBefore = new Map<number, ReadonlyMap<PageName, string>>();

function shopOf(length: number): Shop {
  const store = listsOf(length);
  const pages = pagesBefore.get(length) ?? freshPages(store);
  pagesBefore.set(length, pages);
  return new Shop(store, pages);
}

for (const [what, edit] of Object.entries(ENDS)) {
  test(`pages of lists near the border of a part are current after an edit: ${what}`, async () => {
    for (const border of [PART_SIZE, 2 * PART_SIZE]) {
      for (let length = border - 1; length <= border + 1; length += 1) {
        const shop = shopOf(length);
        shop.commit([edit]);
        await shop.rest();
        assert.equal(differences(shop.pages, freshPages(shop.store)), [], `of ${length}`);
      }
    }
  });
}

test.run();
