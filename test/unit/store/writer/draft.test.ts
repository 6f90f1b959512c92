/** A draft: the committed state and the writes of its transactions, except those that threw. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { KIND_NAMES, type KindName, type Row, type Scalar } from '../../../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../../src/model/kinds.ts';
import { lookupIn } from '../../../../src/model/rows.ts';
import { referrersOf } from '../../../../src/model/relations.ts';
import { judge } from '../../../../src/model/rules.ts';
import { Draft } from '../../../../src/store/writer/draft.ts';
import { perKind } from '../../../../src/model/per-kind.ts';
import { RowTable } from '../../../../src/store/memory/row-table.ts';
import { indexedAttributes } from '../../../support/indexed-attributes.ts';
import { atOnce } from '../../../../src/slices.ts';
import { State } from '../../../../src/store/state.ts';
import { failureMessage, failureOf } from '../../../support/failure.ts';
import { settle } from '../../../support/memory-store.ts';

const TIME = '2026-11-21T12:00:00.000Z';

type Rows = Record<KindName, Map<number, Row>>;
type LastIds = Record<KindName, number>;

/**
 * Two chains of categories (1, 2, 3 and 4, 5, 6), an SPU on each, a specification with two options
 * for each SPU, a SKU of each SPU, one specification record.
 */
function catalog(): { readonly rows: Rows; readonly lastIds: LastIds } {
  const rows: Rows = perKind(() => new Map());
  const lastIds = perKind(() => 0);
  const add = (kind: KindName, values: Readonly<Record<string, Scalar>>) => {
    lastIds[kind] += 1;
    rows[kind].set(lastIds[kind], { id: lastIds[kind], ...values });
  };
  add('brands', { name: 'Brand' });
  for (const parent_id of [null, 1, 2, null, 4, 5]) add('categories', { name: 'C', parent_id });
  for (const [category1_id, category2_id, category3_id] of [
    [1, 2, 3],
    [4, 5, 6],
  ] as const) {
    add('goods', { name: 'SPU', brand_id: 1, category1_id, category2_id, category3_id });
  }
  for (const goods_id of [1, 2]) add('specs', { name: 'Colour', goods_id });
  for (const spec_id of [1, 1, 2, 2]) add('options', { value: 'Silver', spec_id });
  add('skus', { name: 'SKU', goods_id: 1, category_id: 3, code: null });
  add('skus', { name: 'SKU', goods_id: 2, category_id: 6, code: null });
  add('sku_specs', { sku_id: 1, spec_id: 1, option_id: 1 });
  return { rows, lastIds };
}

const copy = (rows: Rows): Rows => perKind(({ name }) => new Map(rows[name]));
const stateOf = (rows: Rows, lastIds: LastIds) =>
  new State({
    sequence: 0,
    digest: 'a'.repeat(64),
    time: null,
    lastIds,
    rows: perKind(({ name }) => new RowTable(rows[name].values())),
  });

function draftOver({ rows, lastIds }: { rows: Rows; lastIds: LastIds }): Draft {
  return new Draft(stateOf(rows, lastIds));
}

const VALUES: readonly Scalar[] = [null, 'SKU', 'Other', 1, 2, 3, 4, 5, 6];

/** Everything that a draft shows: rows, and rows by value. */
function viewOf(draft: Draft, ids: number): unknown {
  return KIND_NAMES.map((kind) => ({
    kind,
    rows: Array.from({ length: ids + 1 }, (_, id) => draft.get(kind, id)),
    matching: indexedAttributes(KINDS[kind]).map((attribute) =>
      VALUES.map((value) => [...draft.matching(kind, attribute, value)].sort((a, b) => a - b)),
    ),
    latest: indexedAttributes(KINDS[kind]).map((attribute) =>
      VALUES.map((value) => draft.latest(kind, attribute, value)),
    ),
  }));
}

test('a transaction that throws is undone completely: rows, deletions, look-ups by value and ids', () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    const id = transaction.nextId('skus');
    transaction.put<KindName>('skus', {
      id,
      name: 'Drafted',
      goods_id: 1,
      category_id: 3,
      code: null,
    });
  });
  const [before, changes] = [viewOf(draft, 8), atOnce(draft.changeSet(TIME))];
  const thrown = new Error('on second thoughts');
  assert.throws(
    () =>
      draft.run((transaction) => {
        assert.is(transaction.nextId('brands'), 2);
        assert.is(transaction.nextId('skus'), 4);
        transaction.put<KindName>('skus', {
          id: 4,
          name: 'Other',
          goods_id: 1,
          category_id: 3,
          code: null,
        });
        transaction.put<KindName>('skus', {
          id: 3,
          name: 'Other',
          goods_id: 2,
          category_id: 6,
          code: null,
        });
        transaction.put<KindName>('skus', {
          id: 3,
          name: 'Again',
          goods_id: 2,
          category_id: 6,
          code: null,
        });
        transaction.delete('skus', 1);
        transaction.put<KindName>('skus', {
          id: 1,
          name: 'Back',
          goods_id: 2,
          category_id: 6,
          code: null,
        });
        transaction.delete('skus', 3);
        throw thrown;
      }),
    (error: unknown) => error === thrown,
  );
  assert.equal(viewOf(draft, 8), before);
  assert.equal(atOnce(draft.changeSet(TIME)), changes);
  assert.is(
    draft.run((transaction) => transaction.nextId('brands')),
    2,
  );
});

test('written() returns each row that the transaction wrote once, in order, with before and after', () => {
  const draft = draftOver(catalog());
  const sku = (id: number, name: string) => ({ id, name, goods_id: 1, category_id: 3, code: null });
  draft.run((transaction) =>
    transaction.put<KindName>('skus', sku(transaction.nextId('skus'), 'Earlier')),
  );
  draft.run((transaction) => {
    assert.equal([...transaction.written()], [], 'what others wrote is theirs');
    const [before, record] = [transaction.get('skus', 1), transaction.get('sku_specs', 1)];
    const earlier = transaction.get('skus', 3);
    transaction.put<KindName>('skus', sku(3, 'Once'));
    transaction.delete('skus', 1);
    transaction.put<KindName>('skus', sku(3, 'Twice'));
    const id = transaction.nextId('skus');
    transaction.put<KindName>('skus', sku(id, 'Come'));
    assert.equal([...transaction.written()].at(-1), {
      kind: 'skus',
      id,
      before: null,
      after: sku(id, 'Come'),
    });
    transaction.delete('skus', id);
    assert.equal(
      [...transaction.written()],
      [
        { kind: 'skus', id: 3, before: earlier ?? null, after: sku(3, 'Twice') },
        { kind: 'skus', id: 1, before: before ?? null, after: null },
        { kind: 'sku_specs', id: 1, before: record ?? null, after: null },
      ],
    );
    assert.ok(before !== undefined && record !== undefined && earlier !== undefined);
  });
});

test('written() returns no row that is first written between its steps', () => {
  draftOver(catalog()).run((transaction) => {
    transaction.put<KindName>('brands', { id: 1, name: 'Other' });
    const kinds: KindName[] = [];
    for (const { kind } of transaction.written()) {
      kinds.push(kind);
      transaction.put<KindName>('categories', { id: 1, name: 'Other', parent_id: null });
    }
    assert.equal(kinds, ['brands']);
  });
});

test('an error names no element if the row was written after all elements', async () => {
  const draft = draftOver(catalog());
  const late = () =>
    draft.run((transaction) => {
      const element = transaction.element(0, function* () {
        yield;
        transaction.put<KindName>('brands', { id: 1, name: 'Other' });
      });
      atOnce(element);
      transaction.put<KindName>('specs', { id: 1, name: 'Colour', goods_id: 9 });
    });
  assert.is(await failureMessage(late, 'integrity'), 'spu_id: 9 does not exist');
});

test('a transaction knows the sequence of its change set', () => {
  const draft = draftOver(catalog());
  const sequence = draft.run((transaction) => {
    transaction.nextId('brands');
    return transaction.sequence;
  });
  assert.is(atOnce(draft.changeSet(TIME))?.sequence, sequence);
});

test('a change set has the rows of a kind by ascending id', () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    for (const id of [10, 2]) transaction.put<KindName>('brands', { id, name: 'Other' });
  });
  const { brands = [] } = atOnce(draft.changeSet(TIME))?.put ?? {};
  assert.equal(
    brands.map(({ id }) => id),
    [2, 10],
  );
});

test('a draft in which every transaction threw is not dirty and has no change set', () => {
  const draft = draftOver(catalog());
  const failing = () =>
    draft.run((transaction) => {
      transaction.delete('sku_specs', 1);
      transaction.nextId('books');
      throw new Error('no');
    });
  assert.throws(failing, /^no$/);
  assert.is(draft.wrote, false);
  assert.is(atOnce(draft.changeSet(TIME)), null);
});

test('a look-up by value returns committed and drafted rows, each once', () => {
  const draft = draftOver(catalog());
  const bySpec = (id: number) => [...draft.matching('options', 'spec_id', id)];
  draft.run((transaction) => {
    transaction.put<KindName>('options', { id: 2, value: 'Black', spec_id: 2 });
    transaction.put<KindName>('options', { id: 1, value: 'Renamed', spec_id: 1 });
    const id = transaction.nextId('options');
    transaction.put<KindName>('options', { id, value: 'New', spec_id: 1 });
    transaction.delete('options', 4);
    assert.equal(bySpec(1), [1, 5]);
    assert.equal(bySpec(2), [3, 2]);
  });
  draft.run((transaction) =>
    transaction.put<KindName>('options', { id: 5, value: 'New', spec_id: 2 }),
  );
  assert.equal(bySpec(1), [1]);
  assert.equal(bySpec(2), [3, 2, 5]);
  draft.run((transaction) =>
    transaction.put<KindName>('options', { id: 2, value: 'Black', spec_id: 1 }),
  );
  assert.equal(bySpec(1), [1, 2]);
  assert.equal(bySpec(2), [3, 5]);
});

test('the ids of a kind are those of committed and drafted rows, without deleted ones', () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    transaction.delete('options', 4);
    for (const value of ['New', 'Gone', 'Newer']) {
      const id = transaction.nextId('options');
      transaction.put<KindName>('options', { id, value, spec_id: 1 });
    }
    transaction.delete('options', 6);
    assert.equal([...transaction.ids('options')], [1, 2, 3, 5, 7]);
  });
});

test('deleting a SKU deletes its specification records, drafted ones too', () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    const id = transaction.nextId('sku_specs');
    transaction.put<KindName>('sku_specs', { id, sku_id: 1, spec_id: 1, option_id: 2 });
  });
  draft.run((transaction) => transaction.delete('skus', 1));
  assert.is(draft.get('sku_specs', 1), undefined);
  assert.is(draft.get('sku_specs', 2), undefined);
  // A row that was added and deleted in one draft is not a change.
  const { put, delete: deleted } = atOnce(draft.changeSet(TIME)) ?? {};
  assert.equal(put, {});
  assert.equal(deleted, { skus: [1], sku_specs: [1] });
});

test('an id that a row has is not handed out, although a base that was edited by hand says it is free', async () => {
  const { rows, lastIds } = catalog();
  const draft = new Draft(stateOf(rows, { ...lastIds, skus: 1 }));
  const addSku = () => draft.run((transaction) => transaction.nextId('skus'));
  assert.is(
    await failureMessage(addSku, 'store_damaged'),
    'catalog.json is damaged: the last id of skus is 1, but 2 has a row; restore the directory from a backup, or see "Damage" in docs/storage.md',
  );
  assert.is(draft.lastId('skus'), 1);
  assert.is(
    draft.run((transaction) => transaction.nextId('brands')),
    2,
  );
});

test('no id is handed out beyond the highest safe integer, which a person may have written as the last one', async () => {
  const { rows, lastIds } = catalog();
  const last = Number.MAX_SAFE_INTEGER;
  const draft = new Draft(stateOf(rows, { ...lastIds, brands: last - 1 }));
  const nextId = () => draft.run((transaction) => transaction.nextId('brands'));
  assert.is(nextId(), last);
  assert.is(
    await failureMessage(nextId, 'store_damaged'),
    `catalog.json is damaged: the last id of brands is ${last}, and there is no higher one; restore the directory from a backup, or see "Damage" in docs/storage.md`,
  );
  assert.is(draft.lastId('brands'), last);
});

test('forget restores the committed rows of a kind, and its ids stay used', () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    transaction.delete('sku_specs', 1);
    const id = transaction.nextId('sku_specs');
    transaction.put('sku_specs', { id, sku_id: 2, spec_id: 2, option_id: 3 });
    transaction.put<KindName>('skus', {
      id: 1,
      name: 'Changed',
      goods_id: 1,
      category_id: 3,
      code: null,
    });
  });
  draft.forget('sku_specs');
  assert.is(draft.get('sku_specs', 1)?.sku_id, 1);
  assert.equal([...draft.matching('sku_specs', 'sku_id', 2)], []);
  assert.is(draft.nextId('sku_specs'), 3);
  assert.is(draft.get('skus', 1)?.name, 'Changed');
});

test('a row that others refer to is not deleted, and the message names them', async () => {
  const draft = draftOver(catalog());
  const { code, message } = await failureOf(() => draft.run((all) => all.delete('brands', 1)));
  assert.is(code, 'referred_to');
  assert.is(message, 'brand 1 is referred to by the brand_id of SPUs 1, 2');
  assert.ok(draft.get('brands', 1));
});

test('the message names rows of every attribute that refers to the row, up to three of each', async () => {
  const draft = draftOver(catalog());
  const deleted = () =>
    failureMessage(() => draft.run((all) => all.delete('goods', 1)), 'referred_to');
  assert.is(
    await deleted(),
    'SPU 1 is referred to by the goods_id of specification 1; by the goods_id of SKU 1',
  );
  draft.run((transaction) => {
    for (const name of ['Width', 'Height', 'Depth']) {
      transaction.put<KindName>('specs', { id: transaction.nextId('specs'), name, goods_id: 1 });
    }
  });
  assert.is(
    await deleted(),
    'SPU 1 is referred to by the goods_id of specifications 1, 3, 4 and others; by the goods_id of SKU 1',
  );
});

test('if specification records refer to a row, the message names their SKUs', async () => {
  const draft = draftOver(catalog());
  draft.run((all) => {
    const id = all.nextId('sku_specs');
    all.put('sku_specs', { id, sku_id: 1, spec_id: 1, option_id: 1 });
  });
  const { code, message } = await failureOf(() => draft.run((all) => all.delete('options', 1)));
  assert.is(code, 'referred_to');
  assert.match(
    message,
    /^option 1 is referred to by the option_id of specification records of SKU/,
  );
  const skus = [...draft.matching('sku_specs', 'option_id', 1)].map(
    (id) => draft.get('sku_specs', id)?.sku_id,
  );
  const named = message.match(/\d+/g)?.slice(1).map(Number);
  assert.equal(named, [...new Set(skus)].slice(0, 3));
});

test('a transaction can delete a row and the rows that refer to it, in any order', () => {
  for (const order of [
    ['options', 'specs'],
    ['specs', 'options'],
  ] as const) {
    const draft = draftOver(catalog());
    draft.run((transaction) => {
      for (const kind of order) {
        if (kind === 'specs') transaction.delete('specs', 2);
        else for (const id of [3, 4]) transaction.delete('options', id);
      }
    });
    assert.is(draft.get('specs', 2), undefined);
  }
});

test('integrity is checked against the writes of earlier transactions in the group', async () => {
  const draft = draftOver(catalog());
  draft.run((transaction) => {
    transaction.put<KindName>('specs', {
      id: transaction.nextId('specs'),
      name: 'Size',
      goods_id: 1,
    });
  });
  draft.run((transaction) => {
    transaction.put<KindName>('options', {
      id: transaction.nextId('options'),
      value: 'Large',
      spec_id: 3,
    });
  });
  const deletion = await failureOf(() => draft.run((all) => all.delete('specs', 3)));
  assert.is(deletion.code, 'referred_to');
  assert.match(deletion.message, /option 5/);

  draft.run((transaction) => transaction.delete('options', 5));
  draft.run((transaction) => transaction.delete('specs', 3));
  const late = failureMessage(
    () => draft.run((all) => all.put<KindName>('options', { id: 6, value: 'Large', spec_id: 3 })),
    'integrity',
  );
  assert.is(await late, 'spec_id: 3 does not exist');
});

test('a row cannot be moved if that breaks a row that refers to it', async () => {
  const moves: readonly (readonly [KindName, Row, RegExp])[] = [
    ['categories', { id: 2, name: 'C', parent_id: 4 }, /category2_id of SPU 1: category 2/],
    ['categories', { id: 2, name: 'C', parent_id: null }, /of (SPU|SKU) 1/],
    [
      'specs',
      { id: 1, name: 'Colour', goods_id: 2 },
      /^spec_id of specification record 1 of SKU 1: specification 1 /,
    ],
    [
      'options',
      { id: 1, value: 'Silver', spec_id: 2 },
      /^option_id of specification record 1 of SKU 1: option 1 /,
    ],
    [
      'skus',
      { id: 1, name: 'SKU', goods_id: 2, category_id: 6, code: null },
      /^spec_id of specification record 1 of SKU 1: /,
    ],
  ];
  for (const [kind, row, said] of moves) {
    const draft = draftOver(catalog());
    const { code, message } = await failureOf(() =>
      draft.run((all) => all.put<KindName>(kind, row)),
    );
    assert.is(code, 'integrity', kind);
    assert.match(message, said);
    assert.is(atOnce(draft.changeSet(TIME)), null);
  }
});

test('a category cannot be moved if that breaks a category or a SKU further below it', async () => {
  // No SPU is on the first chain any more, but a SKU is in its third category.
  for (const [row, said] of [
    [{ id: 1, name: 'C', parent_id: 4 }, /of (category 3|SKU 3)\b/],
    [{ id: 2, name: 'C', parent_id: null }, /of SKU 3\b/],
  ] as const) {
    const draft = draftOver(catalog());
    draft.run((transaction) => {
      transaction.put<KindName>('goods', { ...(transaction.get('goods', 2) as Row), id: 1 });
      transaction.put<KindName>('skus', {
        id: 3,
        name: 'SKU',
        goods_id: 1,
        category_id: 3,
        code: null,
      });
      transaction.delete('skus', 1);
    });
    const { code, message } = await failureOf(() =>
      draft.run((all) => all.put<KindName>('categories', row)),
    );
    assert.is(code, 'integrity');
    assert.match(message, said);
  }
});

interface Edit {
  readonly kind: KindName;
  /** Null deletes. */
  readonly values: Readonly<Record<string, Scalar>> | null;
  readonly id: number;
}

interface Attempt {
  readonly edits: readonly Edit[];
  readonly throws: boolean;
}

const idIn = (max: number) => fc.integer({ min: 1, max });
const category = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(3, 6) },
  { weight: 1, arbitrary: idIn(7) },
);
const chain = fc.constantFrom([1, 2, 3], [4, 5, 6], [1, 2, 7], [4, 5, 3], [1, 5, 6]);
const named = fc.constantFrom('SKU', 'Other');
const columns = {
  categories: fc.record({ name: named, parent_id: fc.constantFrom(null, 1, 2, 4, 5, 6) }),
  goods: fc.tuple(named, idIn(2), chain).map(([name, brand_id, levels]) => ({
    name,
    brand_id,
    category1_id: levels[0] ?? 0,
    category2_id: levels[1] ?? 0,
    category3_id: levels[2] ?? 0,
  })),
  specs: fc.record({ name: named, goods_id: idIn(3) }),
  options: fc.record({ value: named, spec_id: idIn(3) }),
  skus: fc.record({
    name: named,
    goods_id: idIn(3),
    category_id: category,
    code: fc.constantFrom(null, null, 'A', 'B'),
  }),
  sku_specs: fc.record({ sku_id: idIn(3), spec_id: idIn(3), option_id: idIn(5) }),
} as const;
const edits = Object.entries(columns).map(([kind, values]) =>
  fc.record({
    kind: fc.constant(kind as KindName),
    id: idIn(kind === 'categories' ? 8 : 5),
    values: fc.option<Readonly<Record<string, Scalar>>>(values, { freq: 4 }),
  }),
);
const attempts: fc.Arbitrary<Attempt[]> = fc.array(
  fc.record({
    edits: fc.array(fc.oneof(...edits), { minLength: 1, maxLength: 4 }),
    throws: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Applies an edit to plain maps; rows that belong to a deleted row are deleted with it. */
function editPlainly(rows: Rows, { kind, id, values }: Edit): void {
  if (values !== null) {
    rows[kind].set(id, { id, ...values });
    return;
  }
  rows[kind].delete(id);
  for (const { kind: owned, attribute, cascade } of referrersOf(kind)) {
    if (!cascade) continue;
    for (const row of rows[owned.name].values()) {
      if (row[attribute] === id) rows[owned.name].delete(row.id);
    }
  }
}

/** Whether every row obeys the rules. */
function isWhole(rows: Rows): boolean {
  const lookup = lookupIn((name, id) => rows[name].get(Number(id)));
  const codes = [...rows.skus.values()].flatMap(({ code }) => code ?? []);
  if (new Set(codes).size < codes.length) return false;
  return ALL_KINDS.every((kind) =>
    [...rows[kind.name].values()].every((row) => judge(kind, row, lookup) === null),
  );
}

let allowed = 0;
let refused = 0;

/** The code of what a transaction throws; `none` for another error, and `done` if it ends. */
function outcomeIn(run: () => unknown): string {
  try {
    run();
    return 'done';
  } catch (error) {
    return error instanceof CatalogError ? error.code : 'none';
  }
}

test('a draft has the rows that plain maps have, and refuses exactly the edits that violate a rule', () => {
  fc.assert(
    fc.property(attempts, (all) => {
      const base = catalog();
      const state = stateOf(base.rows, base.lastIds);
      const draft = new Draft(state);
      let rows = base.rows;
      for (const { edits: some, throws } of all) {
        const next = copy(rows);
        for (const one of some) editPlainly(next, one);
        const keeps = !throws && isWhole(next);
        const code = outcomeIn(() =>
          draft.run((transaction) => {
            for (const { kind, id, values } of some) {
              if (values === null) transaction.delete(kind, id);
              else transaction.put<KindName>(kind, { id, ...values });
            }
            if (throws) throw new Error('on second thoughts');
          }),
        );
        if (throws) assert.is(code, 'none');
        else if (keeps) assert.is(code, 'done');
        else assert.ok(code === 'integrity' || code === 'referred_to', code);
        if (keeps) allowed += 1;
        else refused += 1;
        if (keeps) rows = next;
      }
      const plain = new Draft(stateOf(rows, base.lastIds));
      assert.equal(viewOf(draft, 9), viewOf(plain, 9));
      settle(state, draft);
      assert.equal(viewOf(new Draft(state), 9), viewOf(plain, 9));
    }),
    { numRuns: 1500 },
  );
  // A property that tries only one of the two would prove little.
  assert.ok(allowed > 500 && refused > 500, `${allowed} allowed, ${refused} refused`);
});

test.run();
