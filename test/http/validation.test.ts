/** spec 2.1 to 2.5: the valid values of each field. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  type Fields,
  read,
  skuFields,
  spuFields,
  without,
} from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const MOON = '\u{1f315}';
const CAFE = 'Cafe\u0301';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

/** A field under test: its collection, and a request that is valid in every other field. */
interface Place {
  readonly path: string;
  readonly field: string;
  readonly valid: () => Fields;
}

const book = (): Fields => ({ name: 'Emma', pub_date: '1815-12-23' });
const brand = (): Fields => ({ name: 'Works' });
const category = (): Fields => ({ name: 'Phones' });
const spu = (): Fields => spuFields(catalog);
const sku = (): Fields => skuFields(catalog);
const spec = (): Fields => ({ name: 'Colour', spu_id: catalog.spu });
const option = (): Fields => ({ value: 'Red', spec_id: catalog.silver.spec_id });

const places = (path: string, valid: () => Fields, ...fields: readonly string[]): Place[] =>
  fields.map((field) => ({ path, field, valid }));

const NAMES = [
  ...places('/books/', book, 'name'),
  ...places('/admin/brands/', brand, 'name'),
  ...places('/admin/categories/', category, 'name'),
  ...places('/admin/goods/', spu, 'name'),
  ...places('/admin/skus/', sku, 'name'),
  ...places('/admin/specs/', spec, 'name'),
  ...places('/admin/options/', option, 'value'),
];
const SHORT_TEXTS = [
  ...places('/admin/brands/', brand, 'logo'),
  ...places('/admin/skus/', sku, 'caption'),
];
const FIRST_LETTER = places('/admin/brands/', brand, 'first_letter');
const LONG_TEXTS = places('/admin/goods/', spu, 'desc_detail', 'desc_pack', 'desc_service');
const DATES = places('/books/', book, 'pub_date');
const AMOUNTS = places('/admin/skus/', sku, 'price', 'cost_price', 'market_price', 'stock');
const FLAGS = places('/admin/skus/', sku, 'is_launched');
const PARENT = places('/admin/categories/', category, 'parent_id');
const REFERENCES = [
  ...places('/admin/goods/', spu, 'brand_id', 'category1_id', 'category2_id', 'category3_id'),
  ...places('/admin/skus/', sku, 'spu_id', 'category_id'),
  ...places('/admin/specs/', spec, 'spu_id'),
  ...places('/admin/options/', option, 'spec_id'),
];

/** The request as text, with the field's value as JSON text, so that nothing is rewritten. */
function bodyWith({ valid, field }: Place, json: string): string {
  const others = JSON.stringify(without(valid(), field)).slice(1, -1);
  return `{${others}${others === '' ? '' : ','}${JSON.stringify(field)}:${json}}`;
}

function assertInvalid(answer: Received, fields: readonly string[], what: string): void {
  assert.is(answer.status, 422, `${what}: ${answer.text}`);
  assert.equal(Object.keys(answer.json), ['error', 'fields'], what);
  assert.equal(Object.keys(answer.json.fields).toSorted(), fields.toSorted(), what);
  for (const [field, problems] of Object.entries<string[]>(answer.json.fields)) {
    assert.ok(Array.isArray(problems) && problems.length > 0, what);
    for (const problem of problems) {
      assert.type(problem, 'string', what);
      assert.ok(answer.json.error.includes(`${field}: `), `${what}: ${answer.json.error}`);
      assert.ok(answer.json.error.includes(problem), `${what}: ${answer.json.error}`);
    }
  }
}

/** Requires that POST, PUT and PATCH reject each value, and that the item does not change. */
async function refuses(where: readonly Place[], values: Readonly<Record<string, string>>) {
  for (const place of where) {
    const { path, field, valid } = place;
    const created = await send(server, 'POST', path, { body: valid() });
    assert.is(created.status, 201, `${path}: ${created.text}`);
    const item = `${path}${created.json.id}/`;
    const total = (await send(server, 'HEAD', path)).headers.get('x-total-count');
    for (const [what, json] of Object.entries(values)) {
      const told = `${path} ${field}: ${what}`;
      const body = bodyWith(place, json);
      assertInvalid(await send(server, 'POST', path, { body }), [field], `POST ${told}`);
      assertInvalid(await send(server, 'PUT', item, { body }), [field], `PUT ${told}`);
      const alone = `{${JSON.stringify(field)}:${json}}`;
      assertInvalid(await send(server, 'PATCH', item, { body: alone }), [field], `PATCH ${told}`);
    }
    assert.equal(await read(server, item), created.json, field);
    assert.is((await send(server, 'HEAD', path)).headers.get('x-total-count'), total, field);
  }
}

/** Requires that POST, PUT and PATCH accept each value (JSON text), and that `stored` is read. */
async function accepts(where: readonly Place[], values: readonly (readonly [string, unknown])[]) {
  for (const place of where) {
    const { path, field, valid } = place;
    for (const [json, stored] of values) {
      const body = bodyWith(place, json);
      const created = await send(server, 'POST', path, { body });
      assert.is(created.status, 201, `${path} ${field} ${json.slice(0, 80)}: ${created.text}`);
      assert.is(created.json[field], stored, `${path} ${field}`);
      const other = await send(server, 'POST', path, { body: valid() });
      const item = `${path}${other.json.id}/`;
      const alone = `{${JSON.stringify(field)}:${json}}`;
      assert.is((await send(server, 'PATCH', item, { body: alone })).json[field], stored, field);
      assert.is((await send(server, 'PUT', item, { body })).json[field], stored, field);
      assert.is((await read(server, item))[field], stored, field);
    }
  }
}

const texts = (...values: readonly string[]) =>
  values.map((value) => [JSON.stringify(value), value] as const);

const NO_STRINGS = {
  null: 'null',
  'a number': '1',
  'a boolean': 'true',
  'an array': '["a"]',
  'an object': '{"a":"b"}',
};
const UNPAIRED = {
  'a high surrogate alone': '"a\\ud800"',
  'a low surrogate alone': '"\\udc00a"',
  'surrogates the wrong way round': '"\\udf15\\ud83c"',
  'a high surrogate twice': '"\\ud83c\\ud83c\\udf15"',
};
const NO_INTEGERS = {
  'a string of digits': '"1"',
  'an empty string': '""',
  true: 'true',
  'an array': '[1]',
  'an object': '{}',
  'a fraction': '1.5',
  'a small fraction': '1e-1',
  'a fraction that a double rounds to an integer': '4503599627370497.7',
  'a fraction very near to an integer': '1.00000000000000000001',
  'a fraction very near to 0': '1e-400',
  '2^53': '9007199254740992',
  '-2^53': '-9007199254740992',
  '1e400': '1e400',
  '-1e400': '-1e400',
  '1e300': '1e300',
};

test('a name or value is a string of 1 to 255 code points, not only white space', async () => {
  await refuses(NAMES, {
    ...NO_STRINGS,
    ...UNPAIRED,
    'an empty string': '""',
    'a space': '" "',
    'tabs and line ends': '"\\t\\r\\n\\u000b\\f"',
    'a no-break and an ideographic space': '"\\u00a0\\u3000"',
    'a next line': '"\\u0085"',
    '256 letters': `"${'a'.repeat(256)}"`,
    '256 astral characters': `"${MOON.repeat(256)}"`,
    '256 escaped astral characters': `"${'\\ud83c\\udf15'.repeat(256)}"`,
  });
});

test('the patterns of the documents have the white space of Unicode, as the server has', async () => {
  const { json } = await send(server, 'OPTIONS', '/admin/skus/');
  const [name, code] = ['name', 'code'].map((key) => new RegExp(json.attributes[key].pattern));
  for (let point = 0; point <= 0x10_ff_ff; point += 1) {
    const text = String.fromCodePoint(point);
    const shown = `U+${point.toString(16)}`;
    const isSpace = /\p{White_Space}/u.test(text);
    assert.is(name?.test(text), !isSpace, shown);
    assert.is(code?.test(text), !isSpace, shown);
    if (isSpace) assert.not.ok(code?.test(`a${text}`) || code?.test(`${text}a`), shown);
  }
  assert.ok(code?.test('a b'));
});

test('a name or value is stored exactly as it was sent', async () => {
  await accepts(NAMES, [
    ...texts(
      'a',
      'a'.repeat(255),
      MOON.repeat(255),
      `  ${CAFE}\t `,
      CAFE.normalize('NFC'),
      '<b onclick="x()">&amp;\'</b>',
      'a\u0000b',
      '\u0000',
      '\u202eabc',
      'line\r\nline',
      '\ufeffa',
      '\ufeff',
      '{{ 7 * 7 }}',
      '__proto__',
      'null',
      '\uffff\ufffe',
    ),
    ['"\\ud83c\\udf15"', MOON],
    ['"\\/\\u0041"', '/A'],
  ]);
});

test('a caption and a logo have up to 255 code points and may be empty', async () => {
  await refuses(SHORT_TEXTS, {
    ...NO_STRINGS,
    ...UNPAIRED,
    '256 letters': `"${'a'.repeat(256)}"`,
    '256 astral characters': `"${MOON.repeat(256)}"`,
  });
  await accepts(SHORT_TEXTS, texts('', ' ', MOON.repeat(255), 'a'.repeat(255), `\t${CAFE}\u0000`));
});

test('a first letter is at most one code point', async () => {
  await refuses(FIRST_LETTER, {
    ...NO_STRINGS,
    'an unpaired surrogate': '"\\ud800"',
    'two letters': '"AB"',
    'a letter and a mark': '"e\\u0301"',
    'two astral characters': `"${MOON}${MOON}"`,
  });
  await accepts(FIRST_LETTER, texts('', 'A', 'é', MOON, ' '));
});

test('a description is a string of up to 65,536 code points', async () => {
  await refuses(LONG_TEXTS, {
    ...NO_STRINGS,
    ...UNPAIRED,
    '65,537 letters': `"${'a'.repeat(65_537)}"`,
    '65,537 astral characters': `"${MOON.repeat(65_537)}"`,
    '131,073 letters': `"${'a'.repeat(131_073)}"`,
  });
  const astral = MOON.repeat(65_536);
  await accepts(LONG_TEXTS, texts('', ' ', 'x'.repeat(65_536), astral, `<b>${MOON}</b>\u0000`));
});

test('a publication date is a calendar date in the form YYYY-MM-DD, from 0001-01-01', async () => {
  const days = [
    '',
    '2023-02-29',
    '1900-02-29',
    '2100-02-29',
    '2024-02-30',
    '2024-04-31',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
    '2024-01-32',
    '0000-01-01',
    '-001-01-01',
    '2024-2-9',
    '24-02-09',
    '02024-02-09',
    '20240209',
    '2024/02/09',
    '09-02-2024',
    '2024-02-09T00:00:00Z',
    '2024-02-09 ',
    ' 2024-02-09',
    '2024-02-09\n',
    '\u0662\u0660\u0662\u0664-02-09',
    '2024-W06-5',
    '2024-040',
    'today',
  ];
  const refused = Object.fromEntries(days.map((day) => [day, JSON.stringify(day)]));
  await refuses(DATES, { ...NO_STRINGS, ...refused, 'an unpaired surrogate': '"\\ud800"' });
  await accepts(
    DATES,
    texts('2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31', '1582-10-10', '0099-12-31'),
  );
});

test('an amount is a safe integer of 0 or more; nothing is coerced', async () => {
  await refuses(AMOUNTS, { ...NO_INTEGERS, null: 'null', '-1': '-1', '-0.5': '-0.5' });
  await accepts(AMOUNTS, [
    ['0', 0],
    ['1', 1],
    ['9007199254740991', 9007199254740991],
    ['1.0', 1],
    ['1e2', 100],
  ]);
});

test('the id of another item is a safe integer; nothing is coerced', async () => {
  await refuses(REFERENCES, { ...NO_INTEGERS, null: 'null' });
});

test('parent_id is an id or null', async () => {
  await refuses(PARENT, NO_INTEGERS);
  await accepts(PARENT, [
    ['null', null],
    [String(catalog.chain[0]), catalog.chain[0]],
  ]);
});

test('is_launched is true or false; nothing is coerced', async () => {
  await refuses(FLAGS, {
    null: 'null',
    0: '0',
    1: '1',
    'the word': '"true"',
    'an empty string': '""',
    'an array': '[]',
    'an object': '{}',
  });
  await accepts(FLAGS, [
    ['true', true],
    ['false', false],
  ]);
});

test('specs is an array of objects with spec_id and option_id', async () => {
  const { silver } = catalog;
  const wrong: readonly (readonly [unknown, readonly string[]])[] = [
    [null, ['specs']],
    ['[]', ['specs']],
    [{}, ['specs']],
    [1, ['specs']],
    [[null], ['specs.0']],
    [
      [1, 'x', []],
      ['specs.0', 'specs.1', 'specs.2'],
    ],
    [[{}], ['specs.0.spec_id', 'specs.0.option_id']],
    [[silver, { spec_id: silver.spec_id }], ['specs.1.option_id']],
    [[{ spec_id: '1', option_id: 1.5 }], ['specs.0.spec_id', 'specs.0.option_id']],
    [[{ ...silver, option_id: null }], ['specs.0.option_id']],
  ];
  const item = `/admin/skus/${catalog.sku}/`;
  const before = await read(server, item);
  for (const [specs, fields] of wrong) {
    const what = JSON.stringify(specs);
    const whole = skuFields(catalog, { specs });
    assertInvalid(await send(server, 'POST', '/admin/skus/', { body: whole }), fields, what);
    assertInvalid(await send(server, 'PUT', item, { body: whole }), fields, what);
    assertInvalid(await send(server, 'PATCH', item, { body: { specs } }), fields, what);
  }
  const records = `${item}specs/`;
  const none = await send(server, 'POST', records, { body: {} });
  assertInvalid(none, ['spec_id', 'option_id'], 'record');
  const body = { spec_id: '1', option_id: null };
  assertInvalid(await send(server, 'POST', records, { body }), ['spec_id', 'option_id'], 'record');
  assert.equal(await read(server, item), before);
});

const WHOLE: Readonly<Record<string, { valid: () => Fields; required: readonly string[] }>> = {
  '/books/': { valid: book, required: ['name', 'pub_date'] },
  '/admin/brands/': { valid: brand, required: ['name'] },
  '/admin/categories/': { valid: category, required: ['name'] },
  '/admin/goods/': {
    valid: spu,
    required: ['name', 'brand_id', 'category1_id', 'category2_id', 'category3_id'],
  },
  '/admin/skus/': {
    valid: sku,
    required: [
      'name',
      'spu_id',
      'caption',
      'category_id',
      'price',
      'cost_price',
      'market_price',
      'stock',
      'is_launched',
    ],
  },
  '/admin/specs/': { valid: spec, required: ['name', 'spu_id'] },
  '/admin/options/': { valid: option, required: ['value', 'spec_id'] },
};

for (const [path, { valid, required }] of Object.entries(WHOLE)) {
  test(`${path}: POST and PUT require every required field, and PATCH requires none`, async () => {
    const created = await send(server, 'POST', path, { body: valid() });
    assert.is(created.status, 201);
    const item = `${path}${created.json.id}/`;
    assertInvalid(await send(server, 'POST', path, { body: {} }), required, 'POST');
    assertInvalid(await send(server, 'PUT', item, { body: {} }), required, 'PUT');
    for (const field of required) {
      const body = without(valid(), field);
      assertInvalid(await send(server, 'POST', path, { body }), [field], `POST ${field}`);
      assertInvalid(await send(server, 'PUT', item, { body }), [field], `PUT ${field}`);
    }
    const patched = await send(server, 'PATCH', item, { body: {} });
    assert.is(patched.status, 200);
    assert.is(patched.text, created.text);
  });

  test(`${path}: a body that is not an object is 422, and the item does not change`, async () => {
    const created = await send(server, 'POST', path, { body: valid() });
    const item = `${path}${created.json.id}/`;
    for (const body of ['null', 'true', '1', '"name"', '[]', `[${JSON.stringify(valid())}]`]) {
      for (const [method, target] of [
        ['POST', path],
        ['PUT', item],
        ['PATCH', item],
      ] as const) {
        const answer = await send(server, method, target, { body });
        assert.is(answer.status, 422, `${method} ${body}`);
        assert.type(answer.json.error, 'string');
        assert.type(answer.json.fields, 'object');
      }
    }
    assert.equal(await read(server, item), created.json);
  });
}

test('every problem of a body is reported at once', async () => {
  const body = skuFields(catalog, {
    name: ' ',
    spu_id: '1',
    caption: null,
    category_id: 1.5,
    price: -1,
    cost_price: '2',
    market_price: null,
    stock: true,
    is_launched: 'yes',
    specs: [{ spec_id: null, option_id: 'x' }, 7],
  });
  const wanted = [
    ...(WHOLE['/admin/skus/']?.required ?? []),
    'specs.0.spec_id',
    'specs.0.option_id',
    'specs.1',
  ];
  assertInvalid(await send(server, 'POST', '/admin/skus/', { body }), wanted, 'all');
  const { status, json } = await send(server, 'POST', '/books/', { body: { pub_date: 'x' } });
  assert.is(status, 422);
  assert.equal(Object.keys(json.fields), ['name', 'pub_date']);
  assert.match(json.error, /^name: [^;]+; pub_date: [^;]+$/);
  const blank = { name: ' '.repeat(256), pub_date: '2020-02-02' };
  assert.equal((await send(server, 'POST', '/books/', { body: blank })).json, {
    error: 'name: must not be empty or only white space, must be at most 255 characters long',
    fields: {
      name: ['must not be empty or only white space', 'must be at most 255 characters long'],
    },
  });
});

test('the error does not repeat long names and values of the body', async () => {
  const secret = 'x'.repeat(5000);
  const { status, text } = await send(server, 'POST', '/books/', {
    body: { name: { [secret]: 1 }, pub_date: secret },
  });
  assert.is(status, 422);
  assert.ok(text.length < 1000, text.slice(0, 200));
});

test('members with the names of inherited JavaScript members are ignored like other unknown ones', async () => {
  const poison = '"__proto__":{"name":"P","polluted":1},"constructor":{"prototype":{"polluted":1}}';
  const item = `/admin/brands/${catalog.brand}/`;
  const created = await send(server, 'POST', '/books/', {
    body: `{"name":"Emma","pub_date":"1815-12-23",${poison},"toString":1,"hasOwnProperty":1}`,
  });
  assert.is(created.status, 201);
  assert.equal(Object.keys(created.json), [
    'id',
    'name',
    'pub_date',
    'commentcount',
    'readcount',
    'image',
  ]);
  // Members of `__proto__` are not members that were sent.
  const inherited = await send(server, 'POST', '/books/', {
    body: '{"__proto__":{"name":"P","pub_date":"1815-12-23"}}',
  });
  assertInvalid(inherited, ['name', 'pub_date'], 'inherited');
  const patched = await send(server, 'PATCH', item, { body: `{${poison}}` });
  assert.is(patched.status, 200);
  assert.not.match(patched.text, 'polluted');
  assert.not.match((await send(server, 'GET', '/books/')).text, 'polluted');
});

test('read-only and unknown members are ignored, whatever their values are, and not stored', async () => {
  const created = await send(server, 'POST', '/admin/goods/', {
    body: spuFields(catalog, { id: 'x', brand: 7, sales: 'many', comments: null, extra: [[1]] }),
  });
  assert.is(created.status, 201);
  assert.is(created.json.sales, 0);
  assert.is(created.json.comments, 0);
  assert.is(created.json.brand, 'Phone Works');
  assert.not.ok('extra' in created.json);
  const item = `/admin/goods/${created.json.id}/`;
  const body = { sales: 9, comments: 'x', brand: 7, extra: { nested: 1 }, name: 'Renamed' };
  const changed = await send(server, 'PATCH', item, { body });
  assert.equal(changed.json, { ...created.json, name: 'Renamed' });
  const since = Number(changed.headers.get('catalog-sequence')) - 1;
  const [{ before, after }] = await read(server, `/admin/changes/?since=${since}`);
  assert.equal(Object.keys(before).sort(), STORED);
  assert.equal(after, { ...before, name: 'Renamed' });
});

/** The attributes of an SPU that are stored. */
const STORED = [
  'brand_id',
  'category1_id',
  'category2_id',
  'category3_id',
  'comments',
  'desc_detail',
  'desc_pack',
  'desc_service',
  'id',
  'name',
  'sales',
];

test('PUT of an object as it was read leaves it unchanged; with one member changed, it changes that', async () => {
  for (const [path, { valid }] of Object.entries(WHOLE)) {
    const created = await send(server, 'POST', path, { body: valid() });
    const item = `${path}${created.json.id}/`;
    const put = await send(server, 'PUT', item, { body: created.text });
    assert.is(put.status, 200, put.text);
    assert.is(put.text, created.text);
    const name = 'name' in created.json ? 'name' : 'value';
    const changed = { ...created.json, [name]: 'Changed' };
    assert.is((await send(server, 'PUT', item, { body: changed })).status, 200);
    assert.equal(await read(server, item), changed, path);
  }
});

for (const [what, element] of [
  ['not objects', '1'],
  ['objects without members', '{}'],
  ['arrays', '[]'],
  ['objects with a wrong type', '{"spec_id":"a"}'],
] as const) {
  test(`10,000 specs that are ${what} are 422 with a short response`, async () => {
    const specs = `[${Array.from({ length: 10_000 }, () => element).join(',')}]`;
    const body = `{${JSON.stringify(skuFields(catalog)).slice(1, -1)},"specs":${specs}}`;
    const answer = await send(server, 'POST', '/admin/skus/', { body });
    assert.is(answer.status, 422, answer.text.slice(0, 200));
    assert.type(answer.json.error, 'string');
    assert.match(Object.keys(answer.json.fields)[0] ?? '', /^specs\.0/);
    assert.ok(answer.text.length < 100_000, `${answer.text.length} characters`);
    const { status } = await send(server, 'GET', '/books/');
    assert.is(status, 200);
  });
}

test.run();
