/** spec 4.2 to 4.7: parsing the query of a collection into a selection of rows. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../src/errors.ts';
import type { KindName } from '../../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../src/model/kinds.ts';
import { filterParameters, parseQuery } from '../../../src/resources/query.ts';

const parse = (kind: KindName, search: string) => parseQuery(KINDS[kind], search);

/** The message of the refusal; any error but malformed_query fails the test. */
function refusal(kind: KindName, search: string): string | null {
  try {
    parse(kind, search);
    return null;
  } catch (error) {
    assert.ok(error instanceof CatalogError, `${search}: ${String(error)}`);
    assert.is(error.code, 'malformed_query');
    assert.is(error.status, 400);
    return error.message;
  }
}

const NOTHING = { filters: [], words: [], ranges: [] };

test('without parameters the query selects the first 20 rows by ascending id', () => {
  assert.equal(parse('skus', ''), {
    selection: {
      filters: [],
      words: [],
      ranges: [],
      sortby: 'id',
      order: 'asc',
      offset: 0,
      limit: 20,
    },
    form: 'page',
    others: [],
  });
});

test('without paging parameters a query of books selects every row', () => {
  for (const search of ['', 'sortby=name', 'order=desc', '_=1']) {
    const { selection, form } = parse('books', search);
    assert.is(selection.offset, 0);
    assert.is(selection.limit, Number.POSITIVE_INFINITY);
    assert.is(form, 'all');
  }
});

const PAGES: readonly (readonly [search: string, offset: number, limit: number, form: string])[] = [
  ['page=1', 0, 20, 'page'],
  ['page=3', 40, 20, 'page'],
  ['per_page=1', 0, 1, 'page'],
  ['per_page=7', 0, 7, 'page'],
  ['page=3&per_page=7', 14, 7, 'page'],
  ['per_page=1000&page=2', 1000, 1000, 'page'],
  ['limit=1', 0, 1, 'offset'],
  ['limit=7', 0, 7, 'offset'],
  ['offset=7', 7, 20, 'offset'],
  ['offset=0', 0, 20, 'offset'],
  ['limit=1000&offset=123', 123, 1000, 'offset'],
  ['limit=%37', 0, 7, 'offset'],
  ['%6cimit=7', 0, 7, 'offset'],
];
for (const [search, offset, limit, form] of PAGES) {
  test(`?${search} selects ${limit} rows from offset ${offset}`, () => {
    for (const kind of ['books', 'skus'] as const) {
      const query = parse(kind, search);
      assert.is(query.selection.offset, offset);
      assert.is(query.selection.limit, limit);
      assert.is(query.form, form);
    }
  });
}

const chosenBy = (search: string) => {
  const { sortby, order } = parse('skus', search).selection;
  return [sortby, order];
};

test('sortby and order are parsed, each alone or both', () => {
  assert.equal(chosenBy('sortby=category'), ['category', 'asc']);
  assert.equal(chosenBy('order=desc'), ['id', 'desc']);
  assert.equal(chosenBy('order=asc&sortby=is_launched'), ['is_launched', 'asc']);
});

const FILTERS: readonly (readonly [kind: KindName, search: string, filters: unknown])[] = [
  ['skus', 'goods_id=3', [['goods_id', 3]]],
  ['skus', 'spu_id=3', [['goods_id', 3]]],
  ['specs', 'spu_id=3', [['goods_id', 3]]],
  ['options', 'spec_id=3', [['spec_id', 3]]],
  ['goods', 'category2_id=3', [['category2_id', 3]]],
  ['skus', 'goods_id=0', [['goods_id', 0]]],
  ['skus', 'goods_id=007', [['goods_id', 7]]],
  ['skus', 'keyword=Phone%2C+silver', [['name', 'Phone, silver']]],
  ['skus', 'keyword=Phone+in+silver', [['name', 'Phone in silver']]],
  ['skus', 'keyword=Phone+in+silver%21', [['name', 'Phone in silver!']]],
  ['skus', 'keyword=Phone%2Bsilver', [['name', 'Phone+silver']]],
  ['skus', 'keyword=', []],
  ['skus', 'keyword', []],
  ['skus', 'keyword=%20', [['name', ' ']]],
  ['skus', 'keyword=a=b', [['name', 'a=b']]],
  ['skus', 'keyword=null', [['name', 'null']]],
  ['categories', 'parent_id=null', [['parent_id', null]]],
  ['categories', 'parent_id=4', [['parent_id', 4]]],
  ['sku_specs', 'spec_id=1', [['spec_id', 1]]],
];
for (const [kind, search, filters] of FILTERS) {
  test(`${kind}?${search} filters by ${JSON.stringify(filters)}`, () => {
    assert.equal(parse(kind, search).selection.filters, filters);
  });
}

test('several filters are combined', () => {
  const { filters } = parse('skus', 'category_id=2&keyword=x&spu_id=1').selection;
  assert.equal(
    filters.toSorted(([a], [b]) => a.localeCompare(b)),
    [
      ['category_id', 2],
      ['goods_id', 1],
      ['name', 'x'],
    ],
  );
});

test('the words of q are folded, and each is searched for once', () => {
  assert.equal(parse('skus', 'q=Caf%C3%A9++au+cafe').selection.words, ['cafe', 'au']);
  assert.equal(parse('skus', 'q=').selection.words, []);
});

/** Every kind of 400, and the parameter that the message has to contain. */
const REFUSED: readonly (readonly [kind: KindName, search: string, named: string])[] = [
  ...['page', 'per_page', 'limit', 'offset'].flatMap((name) =>
    ['', 'x', '-1', '1.0', '1e3', '+1', ' 1', '0x1', '١', 'null', 'Infinity'].map(
      (value) => ['skus', `${name}=${encodeURIComponent(value)}`, name] as const,
    ),
  ),
  ['skus', 'page=0', 'page must be a number of at least 1'],
  ['skus', 'per_page=0', 'per_page must be a number from 1 to 1000'],
  ['skus', 'per_page=1001', 'per_page'],
  ['skus', 'limit=0', 'limit must be a number from 1 to 1000'],
  ['skus', 'limit=1001', 'limit'],
  ['skus', 'offset=-1', 'offset must be a number of at least 0'],
  ['skus', `limit=${'9'.repeat(400)}`, 'limit'],
  ['skus', 'sortby=', 'sortby must be one of id, name, '],
  ['skus', 'sortby=specs', 'sortby'],
  ['skus', 'sortby=spu_id', 'sortby'],
  ['skus', 'sortby=constructor', 'sortby'],
  ['books', 'sortby=goods', 'sortby'],
  ['sku_specs', 'sortby=sku_id', 'sortby'],
  ['skus', 'order=', 'order must be asc or desc'],
  ['skus', 'order=DESC', 'order'],
  ['skus', 'goods_id=', 'goods_id'],
  ['skus', 'goods_id=-1', 'goods_id'],
  ['skus', 'goods_id=1x', 'goods_id'],
  ['skus', 'spu_id=', 'spu_id'],
  ['skus', 'spu_id=null', 'spu_id'],
  ['categories', 'parent_id=', 'parent_id'],
  ['categories', 'parent_id=NULL', 'parent_id'],
  ['skus', 'brand_id=1', 'brand_id'],
  ['books', 'goods_id=1', 'goods_id'],
  ['goods', 'category_id=1', 'category_id'],
  ['goods', 'spu_id=1', 'spu_id'],
  ['sku_specs', 'sku_id=1', 'sku_id'],
  ['skus', 'specs_id=1', 'specs_id'],
  ['books', 'keyword=x', 'keyword'],
  ['goods', 'keyword=x', 'keyword'],
  ['skus', 'x', '"x"'],
  ['skus', '=', '""'],
  ['skus', '%ff=1', '"%ff"'],
  ['skus', 'page=1&page=1', 'page is given twice'],
  ['skus', 'keyword=&keyword=', 'keyword'],
  ['skus', 'goods_id=1&goods%5fid=1', 'goods_id'],
  ['skus', 'keyword=%c3%28', 'keyword'],
  ['skus', 'keyword=%', 'keyword is not percent-encoded UTF-8'],
  ['skus', 'keyword=%ed%a0%80', 'keyword'],
  ['skus', 'page=1&limit=1', 'use page and per_page, or limit and offset, not both'],
  ['skus', 'per_page=1&offset=1', 'per_page'],
];
for (const [kind, search, named] of REFUSED) {
  test(`${kind}?${search.slice(0, 40)} is malformed, and the message names ${named}`, () => {
    const message = refusal(kind, search);
    assert.ok(message?.includes(named), String(message));
  });
}

test('an unknown parameter is refused, and the message suggests the nearest known one', () => {
  for (const [kind, sent, suggested] of [
    ['skus', 'colour', 'order'],
    ['skus', 'perPage', 'per_page'],
    ['skus', 'sort_by', 'sortby'],
    ['skus', 'goodsid', 'goods_id'],
    ['skus', 'Keyword', 'keyword'],
    ['books', 'keyword', 'order'],
    ['specs', 'SPU_ID', 'spu_id'],
  ] as const) {
    const { plural } = KINDS[kind];
    const said = `${plural} have no query parameter "${sent}"; did you mean ${suggested}?`;
    assert.is(refusal(kind, `${sent}=1`), said);
  }
});

test('the message contains only the first 64 characters of a long unknown name', () => {
  const message = refusal('skus', `${'x'.repeat(15_000)}=1`);
  assert.is(message, `SKUs have no query parameter "${'x'.repeat(64)}…"; did you mean price_max?`);
  assert.is(refusal('skus', `${'x'.repeat(64)}page=1`), message, 'the rest is not compared');
  const halved = encodeURIComponent(`${'x'.repeat(63)}\u{1f600}`);
  assert.match(
    refusal('skus', `${halved}=1`) ?? '',
    `"${'x'.repeat(63)}\ufffd…"`,
    'half of a character',
  );
});

test('parameters that begin with _ or utm_ are ignored, even if malformed, and left out of links', () => {
  const { selection, others } = parse(
    'skus',
    '_=1&utm_source=a&utm_source=b&_id=x&_bad=%ff&%5f=&sortby=name&page=2&&utm_',
  );
  assert.equal(selection, { ...NOTHING, sortby: 'name', order: 'asc', offset: 20, limit: 20 });
  assert.equal(others, [['sortby', 'name']]);
});

test('a parameter whose name begins with utm but not with utm_ is unknown', () => {
  for (const name of ['utm', 'utms', 'utmx_source']) {
    const message = refusal('skus', `${name}=1`) ?? '';
    assert.match(message, `no query parameter "${name}"`);
  }
});

const parametersOf = (kind: KindName) => [...filterParameters(KINDS[kind]).keys()].toSorted();

test('attributes that end with _id, spu_id, and keyword and code of SKUs are filter parameters', () => {
  assert.equal(parametersOf('books'), []);
  assert.equal(parametersOf('brands'), []);
  assert.equal(parametersOf('categories'), ['parent_id']);
  assert.equal(parametersOf('goods'), ['brand_id', 'category1_id', 'category2_id', 'category3_id']);
  assert.equal(parametersOf('specs'), ['goods_id', 'spu_id']);
  assert.equal(parametersOf('options'), ['spec_id']);
  assert.equal(parametersOf('skus'), ['category_id', 'code', 'goods_id', 'keyword', 'spu_id']);
  assert.equal(parametersOf('sku_specs'), ['option_id', 'spec_id']);
});

const words = fc.constantFrom(
  ...'page per_page limit offset sortby order keyword goods_id spu_id x_id utm_x _'.split(' '),
  ...'= = & & % %ff %00 + 1 20 1001 asc name null é'.split(' '),
);
const search = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(words, { maxLength: 24 }).map((list) => list.join('')),
);

test('any text is either parsed into a selection within bounds or refused as malformed_query', () => {
  fc.assert(
    fc.property(search, fc.constantFrom(...ALL_KINDS), (text, kind) => {
      if (refusal(kind.name, text) !== null) return;
      const { selection, form } = parse(kind.name, text);
      assert.ok(selection.offset >= 0);
      assert.ok(selection.limit >= 1 && (selection.limit <= 1000 || form === 'all'));
      assert.ok(Object.hasOwn(kind.attributes, selection.sortby));
      for (const [attribute] of selection.filters) {
        assert.ok(Object.hasOwn(kind.attributes, attribute));
      }
    }),
    { numRuns: 3000 },
  );
});

test('the order of the parameters makes no difference', () => {
  const parameters = fc.shuffledSubarray([
    'page=2',
    'per_page=3',
    'sortby=name',
    'order=desc',
    'keyword=x',
    'spu_id=4',
    'category_id=5',
  ]);
  fc.assert(
    fc.property(parameters, (list) => {
      const one = parse('skus', list.join('&'));
      const two = parse('skus', list.toReversed().join('&'));
      assert.equal(one.selection, two.selection);
      assert.is(one.form, two.form);
    }),
  );
});

test.run();
