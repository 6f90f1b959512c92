/** spec 2.11: `Prefer: handling=strict` makes unknown members of a body an error. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, read, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService({ corsOrigins: ['https://shop.example'] });
  catalog = await createCatalog(server);
});

test.after(closeServices);

const STRICT = { prefer: 'handling=strict' };

const strictly = (method: string, path: string, body: unknown, prefer = 'handling=strict') =>
  send(server, method, path, { body, headers: { prefer } });

const APPLIED = 'preference-applied';

test('an unknown member is 422, with the nearest name; without the preference it is ignored', async () => {
  const body = { name: 'Acme', first_leter: 'A' };
  const answer = await strictly('POST', '/admin/brands/', body);
  assert.is(answer.status, 422);
  assert.equal(answer.json, {
    error: 'first_leter: is not known here; did you mean first_letter?',
    fields: { first_leter: ['is not known here; did you mean first_letter?'] },
  });
  assert.is(answer.headers.get(APPLIED), 'handling=strict');
  const lenient = await send(server, 'POST', '/admin/brands/', { body });
  assert.is(lenient.status, 201);
  assert.is(lenient.headers.get(APPLIED), null);
});

test('an unknown member is 422 also if its value is an object or an array of objects', async () => {
  for (const value of [{ inner: 1 }, [{ inner: 1 }]]) {
    const { status, json } = await strictly('POST', '/admin/brands/', {
      name: 'A',
      packaging: value,
    });
    assert.is(status, 422);
    assert.equal(Object.keys(json.fields), ['packaging']);
    assert.match(json.error, /^packaging: is not known here/);
  }
});

test('all problems are reported at once, up to 100', async () => {
  const { status, json } = await strictly('POST', '/admin/brands/', { nmae: 'x', logo: 7 });
  assert.is(status, 422);
  assert.equal(Object.keys(json.fields).sort(), ['logo', 'name', 'nmae']);
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x${n}`, n]));
  assert.is(Object.keys((await strictly('POST', '/books/', many)).json.fields).length, 100);
  const book = { ...many, name: 'Emma', pub_date: '1815-12-23' };
  const lenient = await send(server, 'POST', '/books/', { body: book });
  assert.equal([lenient.status, lenient.json.name], [201, 'Emma'], 'known ones after unknown ones');
});

test('an object can be sent as it was read: read-only members, spu_id and goods_id are known', async () => {
  const sku = await read(server, `/admin/skus/${catalog.sku}/`);
  const path = `/admin/skus/${catalog.sku}/`;
  for (const method of ['PUT', 'PATCH']) {
    const answer = await strictly(method, path, { ...sku, spu_id: sku.goods_id, specs: [] });
    assert.is(answer.status, 200, answer.text);
    assert.is(answer.headers.get(APPLIED), 'handling=strict');
    const { json } = await strictly(method, path, { ...sku, colour: 'red' });
    assert.equal(Object.keys(json.fields), ['colour']);
  }
});

test('an unknown member of an element is reported with the index of the element', async () => {
  const specs = [{ ...catalog.silver, valeu: 1 }];
  const one = await strictly('POST', '/admin/skus/', skuFields(catalog, { specs }));
  assert.match(one.json.fields['specs.0.valeu'][0], 'did you mean');
  const records = await strictly('POST', `/admin/skus/${catalog.sku}/specs/`, specs[0]);
  assert.equal(Object.keys(records.json.fields), ['valeu']);
  const bulk = [{ name: 'A' }, { name: 'B', nane: 'C' }, { logo: 1 }];
  const created = await strictly('POST', '/admin/brands/bulk/', bulk);
  assert.equal(Object.keys(created.json.fields), ['1.nane', '2.name', '2.logo']);
  const changed = await strictly('PATCH', '/admin/brands/bulk/', [
    { id: catalog.brand, nane: 'C' },
  ]);
  assert.equal(Object.keys(changed.json.fields), ['0.nane']);
});

test('every operation with a JSON body supports the preference', async () => {
  const { json: document } = await send(server, 'GET', '/openapi.json');
  const prefer = { $ref: '#/components/parameters/prefer' };
  const places: Record<string, string> = { pk: String(catalog.sku), book_id: '1' };
  let count = 0;
  for (const [template, item] of Object.entries<Record<string, never>>(document.paths)) {
    for (const [method, operation] of Object.entries<Record<string, never>>(item)) {
      const types = Object.keys(operation['requestBody']?.['content'] ?? {});
      const isJson = types.includes('application/json') && !types.includes('text/csv');
      const taken = (operation['parameters'] ?? []) as { readonly $ref: string }[];
      const what = `${method} ${template}`;
      assert.is(
        taken.some(({ $ref }) => $ref === prefer.$ref),
        isJson,
        what,
      );
      if (!isJson) continue;
      count += 1;
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '1');
      // Without a name and a password a login is 401 before its members are checked.
      const login = path === '/admin/tokens/' ? { username: 'ann', password: 'x' } : {};
      const sent = { ...login, nonsense: 1 };
      const body = path.includes('bulk') ? [sent] : sent;
      const { status, json } = await strictly(method.toUpperCase(), path, body);
      // A path of an item that does not exist is 404 before its body is checked.
      if (status === 404) continue;
      assert.is(status, 422, what);
      assert.match(json.error, /nonsense: is not known here/, what);
    }
  }
  assert.ok(count > 25, `${count} operations`);
});

test('tokens, page builds and reversals support the preference too', async () => {
  const login = { username: 'ann', password: 'x', expire: '1h' };
  assert.match((await strictly('POST', '/admin/tokens/', login)).json.error, 'mean expires?');
  const build = await strictly('POST', '/admin/page-builds/', { stall: true });
  assert.match(build.json.error, 'did you mean stale?');
  const { id } = (await strictly('POST', '/admin/brands/', { name: 'Gone' })).json;
  const [entry] = await read(server, `/admin/brands/${id}/audits/`);
  const path = `/admin/audits/${entry.id}/reversal/`;
  assert.match((await strictly('POST', path, { forced: true })).json.error, 'mean force?');
  const undone = await send(server, 'POST', path, { headers: STRICT });
  assert.equal([undone.status, undone.headers.get(APPLIED)], [204, 'handling=strict']);
});

test('Prefer is a list of preferences, in which the first value of handling counts', async () => {
  const headers: [prefer: string, strict: boolean][] = [
    ['handling=strict', true],
    ['Handling="strict"', true],
    ['handling = STRICT; x=1', true],
    ['return=minimal, handling=strict', true],
    ['foo="a, handling=lenient", handling=strict', true],
    ['respond-async;handling=lenient,handling=strict', true],
    ['handling=lenient', false],
    ['handling=lenient, handling=strict', false],
    ['handling', false],
    ['handling="strict', true],
    ['strict', false],
    ['x="handling=strict"', false],
    ['handling="strict;x"', false],
    ['handling="strict=x"', false],
    ['', false],
    [',,;;==,""', false],
  ];
  for (const [prefer, strict] of headers) {
    const body = { name: 'Acme', colour: 'red' };
    const { status } = await strictly('POST', '/admin/brands/', body, prefer);
    assert.is(status, strict ? 422 : 201, prefer);
  }
});

test('inherited names and very long names are reported like other unknown members', async () => {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    '',
    'x'.repeat(100_000),
    '\ud83d'.repeat(99),
  ];
  const body = `{"name":"A",${names.map((name) => `${JSON.stringify(name)}:1`).join()}}`;
  const { status, text } = await strictly('POST', '/admin/brands/', body);
  assert.is(status, 422, text);
  assert.ok(text.length < 3000, text);
  const fields = Object.keys((JSON.parse(text) as { fields: object }).fields);
  assert.is(fields.length, names.length, text);
});

test('a long unknown name is not cut within a character', async () => {
  const name = `${'x'.repeat(63)}\u{1f600} and more`;
  const { status, json } = await strictly('POST', '/admin/brands/', { name: 'A', [name]: 1 });
  assert.is(status, 422);
  const [field = ''] = Object.keys(json.fields);
  assert.match(field, /^x{63}/);
  assert.ok(
    [...Object.keys(json.fields), json.error].every((each) => each.isWellFormed()),
    field,
  );
});

test('an array instead of an object, or an object instead of an array, is reported as such', async () => {
  const array = await strictly('POST', '/admin/brands/', [{ nmae: 1 }]);
  assert.equal([array.status, array.json.error], [422, 'the body must be a JSON object']);
  const object = await strictly('POST', '/admin/brands/bulk/', { nmae: 1 });
  assert.match(object.json.error, 'must be a JSON array');
});

test('CORS allows the header Prefer and exposes Preference-Applied', async () => {
  const origin = 'https://shop.example';
  const preflight = await send(server, 'OPTIONS', '/admin/brands/', {
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /\bPrefer\b/);
  const answer = await send(server, 'GET', '/books/', { headers: { origin } });
  const exposed = answer.headers.get('access-control-expose-headers') ?? '';
  assert.match(exposed, /\bPreference-Applied\b/);
});

test.run();
