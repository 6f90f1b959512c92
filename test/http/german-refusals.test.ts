/** The console recognises refusals by their text, so the texts of the server decide what is German. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalDe } from '../../src/console/browser/api/german/refusals-de.ts';
import { ImportState } from '../../src/resources/transfer/import-state.ts';
import { parseKept } from '../../src/resources/transfer/kept-report.ts';
import { perhapsWritten } from '../../src/resources/transfer/rows/written-rows.ts';
import { refusedByDisk } from '../../src/store/writer/local-commits.ts';
import { unknownOutcome } from '../../src/store/writer/shared-commits.ts';
import {
  type Catalog,
  createCatalog,
  make,
  makeChain,
  makePair,
  skuFields,
  spuFields,
  read,
} from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

/** All that the server says of a request. */
async function refusals(method: string, path: string, body?: unknown): Promise<string[]> {
  const { status, json } = await send(server, method, path, {
    ...(body !== undefined && { body }),
  });
  assert.ok(status === 409 || status === 422, `${method} ${path}: ${status}`);
  const fields = Object.values<string[]>(json.fields ?? {}).flat();
  return fields.length > 0 ? fields : [json.error];
}

async function german(method: string, path: string, body?: unknown): Promise<string> {
  const texts = await refusals(method, path, body);
  return texts.map((text) => refusalDe(text) ?? `English: ${text}`).join('; ');
}

test('references, rules and a code that is taken', async () => {
  const { sku, spu, chain, silver, large } = catalog;
  const [first, second, third] = chain;
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { code: 'A:1' } });
  const { id: other } = await make(server, '/admin/skus/', {
    ...(await send(server, 'GET', `/admin/skus/${sku}/`)).json,
    spu_id: spu,
    code: null,
  });
  const path = `/admin/skus/${other}/`;
  assert.is(
    await german('PATCH', path, { code: 'A:1' }),
    `Artikelnummer: A:1 ist schon die Artikelnummer der SKU ${sku}`,
  );
  assert.is(await german('PATCH', path, { spu_id: 99 }), 'SPU: den Eintrag 99 gibt es nicht');
  assert.is(
    await german('PATCH', path, { category_id: first }),
    `Kategorie: Kategorie ${first} ist nicht auf der dritten Ebene`,
  );
  assert.is(
    await german('PATCH', '/admin/skus/bulk/', [{ id: other, category_id: 99 }]),
    'Kategorie: den Eintrag 99 gibt es nicht',
  );
  assert.match(
    await german('PATCH', path, { specs: [{ ...silver, option_id: large.option_id }] }),
    /^Ausprägung: Ausprägung \d+ gehört nicht zum Merkmal \d+$/,
  );
  assert.is(
    await german('PATCH', `/admin/goods/${spu}/`, { category1_id: second }),
    `Kategorie 1: Kategorie ${second} ist nicht auf der ersten Ebene`,
  );
  const [, strange] = await makeChain(server, 'Other');
  assert.is(
    await german('PATCH', `/admin/goods/${spu}/`, { category2_id: strange }),
    `Kategorie 2: Kategorie ${strange} steht nicht unter ${first}`,
  );
  assert.match(
    await german('PATCH', `/admin/categories/${first}/`, { parent_id: third }),
    /^Übergeordnet: unter Kategorie \d+ wäre sie auf einer vierten Ebene oder unter sich selbst$/,
  );
  assert.match(
    await german('PATCH', `/admin/categories/${third}/`, { parent_id: first }),
    /^Kategorie.* \((?:SPU|SKU) \d+\): Kategorie \d+ /,
  );
});

test('a specification of another SPU', async () => {
  const { spu, sku, silver } = catalog;
  const { id: other } = await make(server, '/admin/goods/', spuFields(catalog, { name: 'Other' }));
  const lost = `Merkmal ${silver.spec_id} gehört nicht zur SPU`;
  // A new SKU has no id that the client could know.
  assert.is(
    await german('POST', '/admin/skus/', skuFields(catalog, { spu_id: other, specs: [silver] })),
    `Merkmal: ${lost} ${other}`,
  );
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { specs: [silver] } });
  assert.is(
    await german('PATCH', `/admin/specs/${silver.spec_id}/`, { spu_id: other }),
    `Merkmal (SKU ${sku}): ${lost} ${spu}`,
  );
  await send(server, 'DELETE', `/admin/goods/${other}/`);
});

test('what is still in use', async () => {
  const { brand, chain, spu, silver, sku } = catalog;
  await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { specs: [silver] } });
  assert.is(
    await german('DELETE', `/admin/brands/${brand}/`),
    `Andere Einträge verweisen darauf: SPU ${spu}`,
  );
  assert.match(
    await german('DELETE', `/admin/categories/${chain[2]}/`),
    /^Andere Einträge verweisen darauf: SPU \d+; SKUs \d+, \d+$/,
  );
  assert.match(
    await german('DELETE', `/admin/options/${silver.option_id}/`),
    /^Andere Einträge verweisen darauf: SKU \d+$/,
  );
  for (const value of ['S', 'M', 'L']) await makePair(server, silver.spec_id, value);
  assert.match(
    await german('DELETE', `/admin/specs/${silver.spec_id}/`),
    /^Andere Einträge verweisen darauf: Ausprägungen \d+, \d+, \d+ und weitere; SKU \d+$/,
  );
});

test('values that are not valid', async () => {
  assert.is(
    await german('POST', '/admin/brands/', { name: ' ' }),
    'darf nicht leer sein oder nur aus Leerraum bestehen',
  );
  assert.is(
    await german('PATCH', '/admin/brands/1/', { name: 'x'.repeat(256) }),
    'darf höchstens 255 Zeichen lang sein',
  );
  assert.is(
    await german('PATCH', '/admin/skus/1/', { price: -1, code: ' x' }),
    'muss 0 oder mehr sein; darf nicht mit Leerraum beginnen oder enden',
  );
  assert.match(
    await german('POST', '/books/', { name: 'A', pub_date: '2026-02-30' }),
    /^muss ein Datum sein/,
  );
  const account = { name: 'ann', role: 'admin', password: 'correct horse battery' };
  await make(server, '/admin/users/', account);
  assert.is(await german('POST', '/admin/users/', account), 'so heißt schon ein anderer Benutzer');
  assert.is(
    await german('POST', '/admin/users/', { ...account, name: 'bob', password: 'short' }),
    'muss mindestens 8 Zeichen haben',
  );
  const wrong = { ...account, name: 'b b', password: 'x'.repeat(5000) };
  assert.match(
    await german('POST', '/admin/users/', wrong),
    /^muss aus 1 bis 64 Buchstaben, .+ sein; darf höchstens \d+ Byte lang sein$/,
  );
  assert.match(await german('DELETE', '/admin/users/ann/'), /^ann ist der letzte aktive Verwalter/);
});

test('a search or a filter that is not valid', async () => {
  for (const [path, wanted] of [
    [`/admin/skus/?q=${'a+'.repeat(11)}`, 'Die Suche darf höchstens 10 Wörter haben'],
    [`/books/?q=${'a'.repeat(201)}`, 'Die Suche darf höchstens 200 Zeichen haben'],
    ['/admin/audits/?resource_id=x', 'Die ID muss eine Zahl sein'],
    ['/admin/audits/?since=x', 'Von und Bis müssen Tage der Form JJJJ-MM-TT sein'],
    ['/admin/skus/?goods_id=x', 'SPU: muss eine ID aus Ziffern sein'],
    ['/admin/skus/?price_max=x', 'Preis: muss eine ganze Zahl aus Ziffern sein'],
    ['/admin/skus/?is_launched=x', 'Im Verkauf: muss „true“ oder „false“ sein'],
  ] as const) {
    const { status, json } = await send(server, 'GET', path);
    assert.is(status, 400, path);
    assert.is(refusalDe(json.error), wanted);
  }
});

test('the errors of a file', async () => {
  const { id: _id, ...spu } = await read(server, `/admin/goods/${catalog.spu}/`);
  const required = 'name,spu,caption,category,price USD,cost_price USD,market_price USD,stock';
  for (const name of ['Twin', 'Twin']) {
    await make(server, '/admin/specs/', { name, spu_id: catalog.spu });
    await make(server, '/admin/goods/', { ...spu, name });
  }
  for (const [collection, query, lines, wanted] of [
    ['brands', '', ['id,name', '99,x', 'x,x'], ['Marke 99 gibt es nicht', 'muss eine ID aus']],
    ['goods', '', ['id,brand', '1,Nope'], ['Marke "Nope" gibt es nicht']],
    ['skus', '', ['id,stock', '1,', '2,x'], ['darf nicht leer', 'muss eine ganze']],
    ['skus', '', ['id,price USD', '1,x'], ['muss ein Betrag in USD sein: Ziffern']],
    ['skus', '', ['id,price', '1,1.5'], ['muss ganzzahlig sein, oder „price USD“ heißen']],
    ['skus', '', ['id,price EUR', '1,1'], ['ist in EUR, die Preise sind aber in USD']],
    ['skus', '', ['id,colour', '1,1'], ['ist keine Spalte; die Spalten sind id, name,']],
    ['skus', '', ['id,stock,stock', '1,1,1'], ['kommt zweimal vor']],
    ['skus', '', ['id,is_launched', '1,ja'], ['muss „true“ oder „false“ sein']],
    ['skus', '', ['id,category', '1,Phone 1'], ['muss drei Ebenen haben']],
    ['skus', 'match=code', ['code,stock', 'A,1', 'A,2'], ['steht zweimal']],
    ['skus', 'match=code', ['code,stock', 'A,1'], ['anlegt: SKU mit Artikelnummer "A" gibt es']],
    ['skus', '', ['id,stock', ',1'], ['muss angegeben werden, weil', 'anlegt: ID ist leer']],
    ['skus', '', [required, ',,,,1,1,1,1,1'], ['hat 9 Zellen, die Kopfzeile aber 8']],
    ['skus', '', ['id,specs', '1,Silver'], ['muss die Form Farbe=Silber']],
    ['skus', '', ['id,specs', '1,=Silver'], ['hat einen leeren Namen']],
    ['skus', '', ['id,specs', '1,Twin=x'], ['geben Sie ihnen verschiedene Namen']],
    ['skus', '', ['id,category', '1,A > B > C > D'], ['darf höchstens drei Ebenen haben']],
    ['skus', '', [''], ['Die Datei ist leer']],
    ['skus', 'match=code', ['id,stock', '1,1'], ['Die Datei hat keine Spalte code']],
    ['skus', '', ['id,,stock', '1,1,1'], ['Spalte 2 hat keinen Namen']],
    ['skus', '', ['id,price,price USD', '1,1,2'], ['weicht von der Spalte price ab']],
    ['skus', '', ['id,specs', String.raw`1,a=b\ `.trimEnd()], ['endet mit einem einzelnen']],
    ['skus', '', ['id,stock', `1${','.repeat(10_001)}`], ['hat mehr als 10000 Zellen']],
    ['specs', 'match=name', ['name,spu', 'Neu,Nope'], ['SPU "Nope" gibt es nicht']],
    ['options', 'create_missing=specs', ['spec,value', 'Neu,x'], ['nennen Sie seine SPU']],
    ['options', 'create_missing=specs', ['spec,spu,value', 'a,Twin,b'], ['legen Sie zuerst das']],
    ['options', '', ['id,spu', '1,Other'], ['SPU "Other" gibt es nicht']],
    ['brands', '', ['name', 'a"b'], ['Die Datei ist kein CSV: In einer Zelle']],
    ['brands', '', ['name', `${'a'.repeat(4_000_000)}"b`], ['Die Datei ist kein CSV: In einer']],
    ['brands', '', ['name', '"a"b'], ['Die Datei ist kein CSV: Nach dem']],
    ['brands', '', ['name', '"ab'], ['Die Datei ist kein CSV: Das Anführungszeichen']],
    ['brands', '', ['name', 'a'.repeat(9_000_000)], ['Die Datei ist kein CSV: Eine Zeile']],
  ] as const) {
    const report: Received['json'] = await importInto(server, collection, lines.join('\n'), {
      query: `dry_run=true&${query}`,
    });
    assert.is(report.state, 'refused');
    const found: string[] = report.errors.map(
      ({ message }: { readonly message: string }) => refusalDe(message) ?? `English: ${message}`,
    );
    for (const text of found) assert.not.match(text, 'English');
    for (const text of wanted)
      assert.ok(
        found.some((each) => each.includes(text)),
        `${text}: ${found.join('; ')}`,
      );
  }
});

test('the errors of a file of JSON', async () => {
  const long = 'x'.repeat(1_000_000);
  const objectOf = (members: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, at) => [`a${at}`, at])));
  for (const [format, text, wanted] of [
    ['ndjson', '{"id":1,"stock":"x"}', 'muss eine ganze Zahl sein'],
    [
      'ndjson',
      '{"id":1,"price":0.5}',
      'muss eine ganze Zahl der kleinsten Währungseinheit sein, etwa 50 Cent für 0.5',
    ],
    ['ndjson', '{"id":1,"caption":5}', 'muss ein Text sein'],
    ['ndjson', '{"id":1,"colour":5}', 'ist kein Attribut'],
    ['ndjson', '[1]', 'muss ein Objekt sein'],
    ['ndjson', 'id', 'Die Datei ist kein JSON mit einem Objekt je Zeile'],
    [
      'ndjson',
      `{"id":${'['.repeat(64)}${']'.repeat(64)}}`,
      'ist mehr als 64 Ebenen tief verschachtelt',
    ],
    ['ndjson', `{"id":[0${',0'.repeat(10_000)}]}`, 'hat eine Liste von mehr als 10000 Einträgen'],
    ['ndjson', objectOf(1001), 'hat ein Objekt mit mehr als 1000 Attributen'],
    ['ndjson', `{"name":"${long}"}`, 'hat einen Text von mehr als 786432 Zeichen'],
    ['ndjson', long.repeat(5), 'Eine Zeile hat mehr als 4194304 Zeichen'],
    ['json', `["${long.repeat(5)}"]`, 'Ein Eintrag hat mehr als 4194304 Zeichen'],
    ['ndjson', Uint8Array.of(0xff), 'Die Datei ist nicht UTF-8; speichern Sie sie in UTF-8'],
    ['json', '{"id":1}', 'Die Datei ist keine Liste von JSON-Objekten'],
    ['json', '[{"id":1}', 'Die Datei ist abgeschnitten: Ihre Liste endet nicht'],
  ] as const) {
    const report: Received['json'] = await importInto(server, 'skus', text, {
      query: 'dry_run=true',
      format,
    });
    const found = report.errors.map(({ message }: { readonly message: string }) =>
      refusalDe(message),
    );
    assert.equal(found, [wanted], String(text).slice(0, 100));
  }
});

test('which rows of an import may be written', () => {
  for (const [rows, first, last, wanted] of [
    [0, 2, 251, 'Es ist nicht bekannt, ob die Zeilen 2 bis 251 geschrieben sind; spätere sind'],
    [0, 2, 2, 'Es ist nicht bekannt, ob Zeile 2 geschrieben ist; spätere sind'],
    [
      250,
      252,
      501,
      'Die Zeilen vor Zeile 252 sind geschrieben. Es ist nicht bekannt, ob die Zeilen 252 bis 501 geschrieben sind; spätere sind',
    ],
  ] as const) {
    for (const [obstacle, why] of [
      [
        'the shared log does not answer',
        'Das gemeinsame Protokoll der Server antwortet nicht; die Änderung kann',
      ],
      [
        'the disk of this host has not taken what is in the shared log',
        'Die Festplatte dieses Servers hat die Änderung noch nicht angenommen; sie kann',
      ],
    ] as const) {
      const { message } = unknownOutcome(obstacle);
      const report = `${perhapsWritten(rows, first, last)}: ${message}`;
      assert.is(refusalDe(report), `${wanted} es nicht: ${why} noch wirksam werden`);
    }
  }
});

test('an import that the end of the server has interrupted', () => {
  const { text } = new ImportState(1, 'brands', false);
  for (const [state, wanted] of [
    ['checking', /^Der Import wurde unterbrochen; keine Zeile ist geschrieben$/],
    [
      'writing',
      /^Der Import wurde unterbrochen, während er Zeilen schrieb; ein Verwalter sieht .+ noch einmal$/,
    ],
  ] as const) {
    const { interrupted } = parseKept(text.replace('checking', state));
    const [{ message }] = JSON.parse(interrupted ?? '').errors;
    assert.match(refusalDe(message) ?? '', wanted);
  }
});

test('a write for which there is no room', () => {
  for (const [reason, wanted] of [
    ['ENOSPC: no space left on device, write', 'Die Festplatte ist voll; es wurde nichts geändert'],
    [
      'EIO: i/o error, write',
      'Die Festplatte hat die Änderung abgelehnt; es wurde nichts geändert',
    ],
  ] as const) {
    assert.is(refusalDe(refusedByDisk(new Error(reason)).message), wanted);
  }
});

test('what is too large', async () => {
  const { json } = await send(server, 'PATCH', '/admin/skus/bulk/', {
    body: Array.from({ length: 10_001 }, () => 0),
  });
  assert.is(refusalDe(json.error), 'Der Server nimmt höchstens 10000 Einträge auf einmal an');
  const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
  assert.is(
    await german('PATCH', '/admin/skus/1/', deep),
    'ist mehr als 64 Ebenen tief verschachtelt',
  );
});

test('what has changed since a write that is to be undone', async () => {
  const { sku, silver, large } = catalog;
  const newest = async (path: string): Promise<number> =>
    (await send(server, 'GET', `${path}audits/?order=desc&per_page=1`)).json[0].id;
  const undo = (entry: number) => german('POST', `/admin/audits/${entry}/reversal/`, {});
  const path = `/admin/skus/${sku}/`;
  await send(server, 'PATCH', path, { body: { price: 1 } });
  const entry = await newest(path);
  await send(server, 'PATCH', path, { body: { price: 2, caption: 'Other' } });
  assert.is(
    await undo(entry),
    `SKU ${sku} wurde seit Protokolleintrag ${entry} geändert: Untertitel, Preis`,
  );
  const fields = (await send(server, 'GET', path)).json;
  const { id } = await make(server, '/admin/skus/', { ...fields, code: null, specs: [] });
  const created = await newest(`/admin/skus/${id}/`);
  for (const pair of [silver, large]) await make(server, `/admin/skus/${id}/specs/`, pair);
  const added = `Merkmal \\d+ ist seitdem zu SKU ${id} hinzugekommen`;
  assert.match(await undo(created), new RegExp(`^${added}; ${added}$`));
  await send(server, 'DELETE', `/admin/skus/${id}/`);
  const deleted = await newest(`/admin/skus/${id}/`);
  assert.is(await undo(created), `SKU ${id} wurde seit Protokolleintrag ${created} gelöscht`);
  await send(server, 'POST', `/admin/audits/${deleted}/reversal/`, { body: {} });
  assert.match(await undo(deleted), `SKU ${id} gibt es seit Protokolleintrag ${deleted} wieder`);
});

test('a text that is not known stays as it is', () => {
  for (const text of ['', 'something else', 'colour: is required', 'name: is unknown']) {
    assert.is(refusalDe(text), null, text);
  }
});

test.run();
