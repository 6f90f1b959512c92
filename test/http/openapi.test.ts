/** spec 5.7: the API description matches what a server does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../support/client.ts';
import { smallConsole } from '../support/console.ts';
import { csv, importInto, postImport } from '../support/imports.ts';
import { ROOT } from '../support/paths.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly unknown[];
  readonly parameters?: readonly unknown[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, unknown>>;
}

type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly unknown[] };

type Document = Readonly<Record<string, unknown>> & {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;

const COLLECTIONS = [
  '/books/',
  '/admin/goods/',
  '/admin/skus/',
  '/admin/brands/',
  '/admin/categories/',
  '/admin/specs/',
  '/admin/options/',
  '/admin/audits/',
  '/admin/webhooks/',
];

const PASSWORD = 'correct horse';

/** The collections under /admin/ that clients write. */
const AUDITED = ['brands', 'goods', 'skus', 'categories', 'specs', 'options'];

/** The bulk paths. */
const BULK = AUDITED.map((name) => `/admin/${name}/bulk/`);

/** The audit entries of one item. */
const ITEM_AUDITS = [...AUDITED, 'webhooks'].map((name) => `/admin/${name}/{pk}/audits/`);

/** The change feed, and the deliveries of a webhook. */
const FEEDS = ['/admin/changes/', '/admin/webhooks/{pk}/deliveries/'];

/** Short lists with a fixed order. */
const SHORT_LISTS = ['/admin/imports/', '/admin/page-builds/', '/admin/webhooks/{pk}/deliveries/'];

/** Undoing a write. */
const REVERSAL = '/admin/audits/{pk}/reversal/';

/** A whole collection as a file. */
const EXPORTS = BULK.map((path) => path.replace('bulk', 'export'));

/** Imports of files into a collection. */
const IMPORTS = BULK.map((path) => path.replace('bulk', 'imports'));

/** Pages with values that are not stored. */
const PREVIEWS = ['/admin/skus/preview/', '/admin/goods/preview/'];

const NESTED = [
  '/admin/goods/{pk}/skus/',
  '/admin/goods/{pk}/specs/',
  '/admin/specs/{pk}/options/',
  '/admin/skus/{pk}/specs/',
  '/admin/categories/{pk}/categories/',
  '/admin/brands/{pk}/goods/',
];

const PAGES = [
  '/pages/',
  '/pages/index.html',
  '/pages/index/{part}.html',
  '/pages/style.css',
  '/pages/categories/{id}.html',
  '/pages/categories/{id}/{part}.html',
  '/pages/skus/{id}.html',
  '/pages/goods/{id}.html',
  '/pages/goods/{id}/{part}.html',
  '/pages/sitemap.xml',
  '/pages/sitemap-{name}.xml',
];

const DOCUMENTS = [
  '/',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/docs/',
  '/docs/{file}',
  '/console/',
  '/console/{path}',
  '/admin/imports/',
  '/admin/summary/',
  '/admin/imports/{pk}/',
  '/admin/page-builds/',
  '/admin/page-builds/{pk}/',
  ...PAGES,
  ...FEEDS,
];

/** Login, which needs no token; renewal; revocation. */
const TOKENS = ['/admin/tokens/', '/admin/tokens/renewal/', '/admin/tokens/{jti}/'];

/** Accounts. */
const USERS = ['/admin/users/', '/admin/users/{name}/', '/admin/users/{name}/tokens/'];

let server: Service;
let document: Document;

test.before(async () => {
  server = await openService({
    demo: true,
    pages: { publicUrl: 'https://shop.example' },
    send: async () => 204,
    openConsole: smallConsole,
  });
  document = (await send(server, 'GET', '/openapi.json')).json;
  // The demo catalog has an object of every kind except the audit trail.
  for (const name of AUDITED) await send(server, 'PATCH', `/admin/${name}/1/`, { body: {} });
  const body = { url: 'https://receiver.example/', active: false };
  assert.is((await send(server, 'POST', '/admin/webhooks/', { body })).status, 201);
  await send(server, 'POST', '/admin/users/', {
    body: { name: 'ann', role: 'viewer', password: 'correct horse battery' },
  });
  await lengthenLists();
  await send(server, 'POST', '/admin/brands/imports/', {
    body: 'id,name\n',
    headers: { 'content-type': 'text/csv' },
  });
});

/** Makes the list on a page of every kind so long that it has a second part. */
async function lengthenLists(): Promise<void> {
  const many = Array.from({ length: 50 }, (_, number) => `Another ${number}`);
  const [sku] = (await send(server, 'GET', '/admin/skus/?spu_id=1&limit=1')).json;
  for (const [path, fields] of [
    ['/admin/categories/', { parent_id: null }],
    ['/admin/categories/', { parent_id: 1 }],
    ['/admin/skus/', { ...sku, specs: [] }],
  ] as const) {
    const body = many.map((name) => ({ ...fields, name }));
    assert.is((await send(server, 'POST', `${path}bulk/`, { body })).status, 201, path);
  }
  for (const template of PAGES) {
    const path = await real(template);
    await until(`there is ${path}`, async () => (await send(server, 'GET', path)).status === 200);
  }
}

test.after(closeServices);

/** Every operation of the document: its path template, its method, itself. */
function operations(): (readonly [path: string, method: string, operation: Operation])[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[path, method.toUpperCase(), operation] as const];
    }),
  );
}

/** The operations on collections and items. */
const recordOperations = () =>
  operations().filter(([path]) => {
    const isRecord =
      ![...TOKENS, ...USERS].includes(path) && !path.startsWith('/admin/page-builds/');
    if (path.includes('/imports/') || path === '/admin/summary/') return false;
    if (FEEDS.includes(path)) return false;
    return isRecord && /^\/(?:books|admin)\//.test(path);
  });

/** The value that a `$ref` of the document points to. */
function resolve(value: unknown): unknown {
  const pointer = (value as { $ref?: string } | undefined)?.$ref;
  if (pointer === undefined) return value;
  assert.match(pointer, /^#\//);
  let found: unknown = document;
  for (const step of pointer.slice(2).split('/')) {
    found = (found as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    assert.ok(found !== undefined, `${pointer} leads nowhere`);
  }
  return resolve(found);
}

function parametersOf(path: string, { parameters = [] }: Operation): Parameter[] {
  const shared = document.paths[path]?.parameters ?? [];
  return [...shared, ...parameters].map((each) => resolve(each) as Parameter);
}

/** @returns the path of a page build. */
async function buildPages(): Promise<string> {
  const { headers } = await send(server, 'POST', '/admin/page-builds/', { body: { skus: [1] } });
  const path = headers.get('location') ?? '';
  await until('the pages are made', async () => {
    return (await send(server, 'GET', path)).json.state === 'finished';
  });
  return path;
}

/** A path of the demo catalog: parent 1, and a child that belongs to it. */
async function real(template: string): Promise<string> {
  if (template === '/admin/page-builds/{pk}/') return buildPages();
  if (template.startsWith('/admin/users/')) return template.replace('{name}', 'ann');
  const path = template
    .replace('{jti}', 'one')
    .replace('{path}', 'skus/17')
    .replace(/\{(?:pk|id)\}/, '1')
    .replace('{part}', '2')
    .replace('{name}', 'skus-1')
    .replace('{file}', 'start.js');
  if (!path.includes('{child}')) return path;
  const listed = await send(server, 'GET', path.replace('{child}/', ''));
  return path.replace('{child}', String(listed.json[0].id));
}

/** The schema of a request body or of a response. */
function schemaOf(body: unknown): Schema {
  const { content = {} } = resolve(body) as Body;
  return resolve(content['application/json']?.schema) as Schema;
}

test('the description has every path, and no others', () => {
  const records = [...COLLECTIONS, ...NESTED].flatMap((path) => [
    path,
    `${path}${path.includes('{pk}') ? '{child}' : '{pk}'}/`,
  ]);
  assert.equal(
    Object.keys(document.paths).toSorted(),
    [
      ...records,
      ...BULK,
      ...EXPORTS,
      ...IMPORTS,
      ...ITEM_AUDITS,
      REVERSAL,
      ...TOKENS,
      ...USERS,
      ...PREVIEWS,
      ...DOCUMENTS,
    ].toSorted(),
  );
});

test('every $ref resolves, and every component is used', () => {
  const seen = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('$ref' in value) {
      seen.add(String(value.$ref));
      resolve(value);
    }
    for (const each of Object.values(value)) walk(each);
  };
  walk(document);
  assert.ok(seen.size > 100);
  const { securitySchemes: _, ...sections } = document.components as Record<string, object>;
  const unused = Object.entries(sections).flatMap(([section, components]) =>
    Object.keys(components)
      .map((name) => `#/components/${section}/${name}`)
      .filter((pointer) => !seen.has(pointer)),
  );
  assert.equal(unused, []);
});

test('every operation has a unique operationId, a summary, a description and a declared tag', () => {
  const tags = new Set(document.tags.map(({ name }) => name));
  const names = operations().map(
    ([path, method, { operationId, summary, description, tags: of }]) => {
      const at = `${method} ${path}`;
      assert.match(operationId, /^[a-z][A-Za-z]+$/, at);
      assert.ok(summary.length > 0 && description.length > 0, at);
      assert.is(of.length, 1, at);
      assert.ok(tags.has(of[0] ?? ''), at);
      return operationId;
    },
  );
  assert.equal(names.toSorted(), [...new Set(names)].toSorted());
});

test('the operationIds, which become names in generated clients, do not change', () => {
  const of = (path: string) =>
    Object.values(METHODS).map((method) => document.paths[path]?.[method]?.operationId);
  assert.equal(of('/admin/skus/'), [
    'listSkuList',
    'headSkuList',
    'describeSkuList',
    'createSku',
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(of('/admin/skus/bulk/'), [
    undefined,
    undefined,
    'describeSkuBulk',
    'createSkuList',
    undefined,
    'changeSkuList',
    undefined,
  ]);
  assert.equal(of('/books/{pk}/'), [
    'readBook',
    'headBook',
    'describeBook',
    undefined,
    'replaceBook',
    'changeBook',
    'deleteBook',
  ]);
  assert.equal(of('/admin/skus/{pk}/specs/'), [
    'listSkuSpecListOfSku',
    'headSkuSpecListOfSku',
    'describeSkuSpecListOfSku',
    'createSkuSpecOfSku',
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(of('/'), [
    'readIndex',
    'headIndex',
    'describeIndex',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('every placeholder of a path is a required parameter, and no parameter occurs twice', () => {
  for (const [path, method, operation] of operations()) {
    const parameters = parametersOf(path, operation);
    const inPath = parameters.filter((each) => each.in === 'path');
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.equal(
      inPath.map(({ name }) => name),
      placeholders,
      `${method} ${path}`,
    );
    assert.ok(inPath.every(({ required }) => required === true));
    const keys = parameters.map((each) => `${each.in} ${each.name}`);
    assert.is(new Set(keys).size, keys.length, `${method} ${path}`);
  }
});

test('the description and OPTIONS list the same methods for every path', async () => {
  for (const [template, item] of Object.entries(document.paths)) {
    const path = await real(template);
    const options = await send(server, 'OPTIONS', path, { token: null });
    assert.is(options.status, 200, path);
    const allowed = (options.headers.get('allow') ?? '').split(', ');
    const documented = METHODS.filter((method) => method in item);
    assert.equal(
      allowed.toSorted(),
      documented.map((method) => method.toUpperCase()).toSorted(),
      template,
    );
  }
});

test('the description and OPTIONS list the same attributes, types and required attributes', async () => {
  for (const [template, item] of Object.entries(document.paths)) {
    const writes = item['put'] ?? item['post'] ?? item['patch'];
    const options = await send(server, 'OPTIONS', await real(template), { token: null });
    const { attributes } = options.json;
    if (writes === undefined) {
      assert.equal(attributes, {}, template);
      continue;
    }
    const sent = schemaOf(writes.requestBody);
    const { properties = {}, required = [] } = resolve(sent.items ?? sent) as Schema;
    assert.equal(Object.keys(attributes), Object.keys(properties), template);
    for (const [name, schema] of Object.entries(properties)) {
      assert.equal(attributes[name].type, schema.type, `${template} ${name}`);
      assert.is(attributes[name].required, required.includes(name), `${template} ${name}`);
    }
  }
});

test('inputs and filters use spu_id, never goods_id; responses use goods_id, never spu_id', () => {
  const filters: string[] = [];
  for (const [path, method, operation] of operations()) {
    for (const { name } of parametersOf(path, operation)) {
      assert.is.not(name, 'goods_id', `${method} ${path}`);
      if (name === 'spu_id' && method === 'GET') filters.push(path);
    }
  }
  assert.equal(filters.toSorted(), [
    '/admin/goods/{pk}/skus/',
    '/admin/goods/{pk}/specs/',
    '/admin/skus/',
    '/admin/skus/export/',
    '/admin/specs/',
    '/admin/specs/export/',
  ]);
  for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
    if (/(?:Input|Patch)$/.test(name)) assert.not.ok('goods_id' in properties, name);
    else assert.not.ok('spu_id' in properties, name);
  }
  for (const name of ['Sku', 'Spec']) {
    const { schemas } = document.components;
    assert.ok('goods_id' in (schemas[name]?.properties ?? {}), name);
    for (const input of [`${name}Input`, `${name}Patch`]) {
      assert.ok('spu_id' in (schemas[input]?.properties ?? {}), input);
    }
  }
});

test('a token and a role are required exactly if the description says so', async () => {
  for (const [template, method, { security, responses }] of operations()) {
    const logsIn = template === '/admin/tokens/';
    const open = !template.startsWith('/admin/') || method === 'OPTIONS' || logsIn;
    const reads = ['GET', 'HEAD', 'OPTIONS'].includes(method);
    assert.equal(security, open ? [] : [{ token: [] }], `${method} ${template}`);
    assert.is('401' in responses, !open || (logsIn && method === 'POST'), `${method} ${template}`);
    const manages = template.startsWith('/admin/webhooks/') || USERS.includes(template);
    const admin = template.includes('/audits/') || manages;
    assert.is('403' in responses, !open && (admin || !reads), `${method} ${template}`);
    if (open) continue;
    const answer = await send(server, method, await real(template), { token: null });
    assert.is(answer.status, 401, `${method} ${template}`);
    const token = await tokenFor('viewer');
    const viewer = await send(server, method, await real(template), { token });
    assert.is(viewer.status === 403, '403' in responses, `${method} ${template}`);
  }
});

/** The status of POST of {} if no member is required. */
const EMPTY_BODIES: Readonly<Record<string, number>> = {
  [REVERSAL]: 200,
  '/admin/page-builds/': 202,
  // The token of the tests does not come from a login.
  '/admin/tokens/renewal/': 403,
  '/admin/skus/preview/': 422,
  '/admin/goods/preview/': 422,
};

test('POST and PUT of {} report exactly the members that the schema requires', async () => {
  for (const [template, method, operation] of operations()) {
    if (operation.requestBody === undefined || IMPORTS.includes(template)) continue;
    const { required = [], type } = schemaOf(operation.requestBody);
    const answer = await send(server, method, await real(template), { body: {} });
    if (type === 'array') {
      assert.is(answer.status, 422, `${method} ${template}`);
    } else if (method === 'PATCH') {
      assert.equal(required, [], template);
      assert.is(answer.status, 200, template);
    } else if (required.length === 0) {
      assert.is(answer.status, EMPTY_BODIES[template], `${method} ${template}`);
    } else if (template === '/admin/tokens/') {
      assert.is(answer.status, 401);
      for (const name of required) assert.match(answer.json.error, `${name}: is required`);
    } else {
      assert.is(answer.status, 422, `${method} ${template}`);
      assert.equal(Object.keys(answer.json.fields), required, `${method} ${template}`);
    }
  }
});

/** Bodies at the bounds of an attribute, and beyond them. */
const BOUNDS: readonly (readonly [method: string, template: string, body: unknown])[] = [
  ...['0000-12-31', '0001-01-01', '0009-10-01', '0010-01-01', '0999-01-01', '9999-12-31'].map(
    (day) => ['POST', '/books/', { name: 'Emma', pub_date: day }] as const,
  ),
  ...[1, 2 ** 53].flatMap((id) => [
    ...['brands', 'categories', 'goods', 'specs', 'options', 'skus'].map(
      (name) => ['PATCH', `/admin/${name}/bulk/`, [{ id }]] as const,
    ),
    ['POST', '/admin/skus/preview/', { id }] as const,
    ['POST', '/admin/goods/preview/', { id }] as const,
  ]),
  ...[
    'a',
    'Zoë',
    '0_.@+-',
    '-a',
    'a b',
    'a/b',
    'a\n',
    'a~',
    '[',
    'é'.repeat(64),
    'b'.repeat(65),
  ].map((name) => ['POST', '/admin/users/', { name, role: 'viewer', password: PASSWORD }] as const),
  ...['0s', '000000000h', '1s', '000000008h', '0000000008h', '8', 'h', '8H', '1h '].map(
    (expires) =>
      ['POST', '/admin/tokens/', { username: 'a', password: PASSWORD, expires }] as const,
  ),
  ...['://h', 's://h/p?q=a@b/', 's://u@h/', 's://u:p@h', '://h/#f', '://h?#', ':///p', '://?'].map(
    (end) => ['POST', '/admin/webhooks/', { url: `http${end}` }] as const,
  ),
];

test('a value of a body is accepted exactly if the description allows it', async () => {
  for (const [method, template, body] of BOUNDS) {
    const operation = document.paths[template]?.[method.toLowerCase()] as Operation;
    const { content = {} } = resolve(operation.requestBody) as Body;
    const allows = validatorOf(content['application/json']?.schema);
    const { status } = await send(server, method, template, { body });
    const success = operation.responses['201'] === undefined ? 200 : 201;
    const at = `${method} ${template} ${JSON.stringify(body)}`;
    assert.is(status, allows(body) ? success : 422, at);
  }
});

const DAYS = ['2026-11-21', '2026-02-29', '2026-1-1', '0000-01-01', '0'];

const INSTANTS = [
  '2026-11-21T08:00:00Z',
  '2026-11-21T08:00:00.123456789Z',
  '2026-11-21T08:00:00.1234567890Z',
  '2026-11-21T08:00:00+23:59',
  '2026-11-21T08:00:00',
  '2026-11-21T08:00:00.Z',
  '2026-11-21T08:60:00Z',
  '2026-11-21t08:00:00Z',
  '2026-11-21T08:00:00z',
  '2026-11-21 08:00:00Z',
  '2016-12-31T23:59:60Z',
];

/** Values of parameters at their bounds, and beyond them. */
const PARAMETER_BOUNDS: readonly (readonly [path: string, name: string, values: string[]])[] = [
  ['/admin/audits/', 'since', [...DAYS, ...INSTANTS]],
  ['/admin/audits/', 'until', [...DAYS, ...INSTANTS]],
  [
    '/admin/changes/?since=0',
    'wait',
    '0s 1s 59s 60s 61s 99s 060s 000000060s 0000000060s 0m 1m 2m 000000001m 1h 1w 5 s 1S'.split(' '),
  ],
];

test('a value of a query is accepted exactly if the description allows it', async () => {
  // With a change, no request waits for one.
  await send(server, 'POST', '/books/', { body: { name: 'Emma', pub_date: '1815-12-23' } });
  for (const [path, name, values] of PARAMETER_BOUNDS) {
    const [template = ''] = path.split('?');
    const parameters = parametersOf(template, document.paths[template]?.['get'] as Operation);
    const allows = validatorOf(parameters.find((each) => each.name === name)?.schema);
    for (const value of values) {
      const query = `${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
      const { status } = await send(server, 'GET', `${path}${query}`);
      assert.is(status, allows(value) ? 200 : 400, `${path}${query}`);
    }
  }
});

test('the files of the documentation are those that the description lists', async () => {
  const { parameters = [] } = document.paths['/docs/{file}'] ?? {};
  const [file] = parameters.map((each) => resolve(each) as Parameter);
  const names = file?.schema.enum ?? [];
  assert.ok(names.includes('start.js'), names.join());
  for (const name of names) {
    assert.is((await send(server, 'GET', `/docs/${name}`)).status, 200, name);
  }
  for (const method of ['GET', 'OPTIONS']) {
    assert.is((await send(server, method, '/docs/other.js')).status, 404, method);
  }
});

/** Checks values with a schema of the description. */
function validatorOf(schema: Schema | undefined): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  ajv.addSchema(document, 'description');
  const text = JSON.stringify(schema);
  return ajv.compile(JSON.parse(text.replaceAll('"#/', '"description#/')));
}

test('an array is accepted exactly if the description says so', async () => {
  for (const [template, method, operation] of operations()) {
    if (operation.requestBody === undefined || IMPORTS.includes(template)) continue;
    const { content = {} } = resolve(operation.requestBody) as Body;
    const { type } = content['application/json']?.schema ?? {};
    const several = type === 'array';
    if (TOKENS.includes(template) || template === '/admin/page-builds/') {
      assert.not.ok(several, template);
      continue;
    }
    assert.is(several, template.endsWith('/bulk/'), `${method} ${template}`);
    const answer = await send(server, method, await real(template), { body: [{}] });
    assert.is(answer.status, 422);
    const fields = Object.keys(answer.json.fields);
    assert.is(fields.length > 0 && fields.every((name) => name.startsWith('0.')), several);
  }
});

test('the members of a GET response are in the order of the schema', async () => {
  for (const [template, method, { responses }] of recordOperations()) {
    if (method !== 'GET') continue;
    const path = `${await real(template)}${EXPORTS.includes(template) ? '?format=json' : ''}`;
    const { json } = await send(server, 'GET', path);
    const schema = schemaOf(responses['200']);
    const [object, { properties = {}, required }] = Array.isArray(json)
      ? [json[0], resolve(schema.items) as Schema]
      : [json, schema];
    assert.equal(Object.keys(object), Object.keys(properties), path);
    assert.equal(required, Object.keys(properties), path);
  }
});

/** The formats of an export by their types. */
const FORMATS: Readonly<Record<string, string>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/json': 'json',
};

test('every media type in the description is returned if Accept asks for it', async () => {
  for (const [template, method, { responses }] of operations()) {
    if (method !== 'GET') continue;
    const path = await real(template);
    for (const accept of Object.keys((resolve(responses['200']) as Body).content ?? {})) {
      // A stream of events does not end; test/http/changes.test.ts reads one.
      if (accept === '*/*' || accept === 'text/event-stream') continue;
      const query = EXPORTS.includes(template) ? `?format=${FORMATS[accept]}` : '';
      const { headers } = await send(server, 'GET', `${path}${query}`, { headers: { accept } });
      assert.is(headers.get('content-type')?.replace('; charset=utf-8', ''), accept, path);
    }
  }
});

test('every query parameter is accepted with every value of its enum', async () => {
  for (const [template, method, operation] of operations()) {
    // Covered by import.test.ts, changes.test.ts, health.test.ts and short-lists.test.ts.
    if ([...IMPORTS, ...FEEDS, ...SHORT_LISTS, '/readyz'].includes(template)) continue;
    const query = parametersOf(template, operation).filter((each) => each.in === 'query');
    const lists =
      [...COLLECTIONS, ...NESTED, ...EXPORTS, ...ITEM_AUDITS, '/admin/users/'].includes(template) &&
      /GET|HEAD/.test(method);
    if (!lists) {
      assert.equal(query, [], `${method} ${template}`);
      continue;
    }
    if (method === 'HEAD') continue;
    const path = await real(template);
    for (const { name, schema } of query) {
      for (const value of schema.enum ?? schema.examples?.map(String) ?? ['1']) {
        const answer = await send(server, 'GET', `${path}?${name}=${value}`);
        assert.is(answer.status, 200, `${path}?${name}=${value}`);
      }
      const twice = await send(server, 'GET', `${path}?${name}=1&${name}=1`);
      assert.is(twice.status, 400, `${path} knows ${name}`);
    }
    // Every scalar attribute of the rows can be sorted by.
    const format = EXPORTS.includes(template) ? '?format=json' : '';
    const [row] = (await send(server, 'GET', `${path}${format}`)).json;
    const scalars = Object.keys(row).filter(
      (name) => !Array.isArray(row[name]) && !['before', 'after'].includes(name),
    );
    assert.equal(query.find(({ name }) => name === 'sortby')?.schema.enum, scalars, path);
    // Every attribute that ends in _id is a filter.
    const filters = query.map(({ name }) => name).filter((name) => name.endsWith('_id'));
    const wanted = scalars.filter((name) => name.endsWith('_id'));
    assert.equal(
      filters,
      wanted.map((name) => (name === 'goods_id' ? 'spu_id' : name)),
      path,
    );
  }
});

test('an import accepts exactly the values of match that the description lists', async () => {
  for (const template of IMPORTS) {
    const operation = document.paths[template]?.['post'] as Operation;
    const match = parametersOf(template, operation).find(({ name }) => name === 'match');
    const collection = template.split('/')[2] ?? '';
    for (const value of ['id', 'code', 'name']) {
      const query = `dry_run=true&match=${value}`;
      const file = csv('id,code,name');
      if (match?.schema.enum?.includes(value) === true) {
        // Waits until it has ended, because few may be unfinished.
        await importInto(server, collection, file, { query });
      } else {
        const { status } = await postImport(server, collection, file, { query });
        assert.is(status, 400, `${template} ${value}`);
      }
    }
  }
});

test('a POST accepts exactly the Idempotency-Keys that the description allows', async () => {
  const operation = document.paths['/admin/brands/']?.['post'] as Operation;
  const parameters = parametersOf('/admin/brands/', operation);
  const schema = parameters.find(({ name }) => name === 'Idempotency-Key')?.schema;
  const allowed = new RegExp(schema?.pattern ?? '', 'u');
  const keys = ['k', '"k"', 'a b', '"a b"', '"', '"a', 'a"', '\\', '"\\""', 'ü', 'a,b', '{k}'];
  for (const key of [...keys, 'k'.repeat(255), 'k'.repeat(256), `"${'l'.repeat(255)}"`]) {
    const { status } = await send(server, 'POST', '/admin/brands/', {
      body: { name: key },
      headers: { 'idempotency-key': key },
    });
    assert.is(status === 400, !allowed.test(key), key);
  }
});

test('the description shows how long the name of an account may be', () => {
  const { name } =
    schemaOf(document.paths['/admin/users/']?.['post']?.requestBody).properties ?? {};
  assert.equal([name?.minLength, name?.maxLength], [1, 64]);
});

/** Requests that fail, and the status; `send` checks that it is documented. */
const FAILURES: readonly (readonly [
  status: number,
  methods: RegExp,
  request: { headers?: Record<string, string>; body?: unknown },
])[] = [
  [400, /POST|PUT|PATCH/, { body: '{' }],
  [406, /GET|HEAD/, { headers: { accept: 'text/html' } }],
  [415, /POST|PUT|PATCH/, { body: '{}', headers: { 'content-type': 'text/plain' } }],
  [422, /POST|PUT|PATCH/, { body: [] }],
  [413, /POST|PUT|PATCH/, { body: ' '.repeat(1024 * 1024 + 1) }],
];

test('the errors that an operation can return are documented', async () => {
  for (const [template, method] of recordOperations()) {
    if (method === 'OPTIONS') continue;
    const path = await real(template);
    const check = async (status: number, at: string, request: (typeof FAILURES)[number][2]) => {
      const answer = await send(server, method, at, request);
      assert.is(answer.status, status, `${method} ${at}`);
    };
    for (const [status, methods, request] of FAILURES) {
      if (methods.test(method)) await check(status, path, request);
    }
    const isItem = template.endsWith('}/');
    if (isItem) {
      await check(404, path.replace(/\d+\/$/, '987654/'), {});
      await check(412, path, { headers: { 'if-match': '"stale"' } });
    } else if (method === 'GET' || method === 'HEAD') {
      await check(400, `${path}?limit=0`, {});
    }
    if (!isItem && template.includes('{pk}')) await check(404, path.replace('/1/', '/987654/'), {});
  }
});

test('every example of a request succeeds; a DELETE may be 409 if that is documented', async () => {
  const order = ['POST', 'PATCH', 'PUT', 'DELETE'];
  // Deletions come last, children before parents, so that all items exist when they are used.
  const writes = recordOperations()
    .filter(([, method]) => order.includes(method))
    .toSorted(
      ([a, left], [b, right]) => order.indexOf(left) - order.indexOf(right) || b.length - a.length,
    );
  for (const [template, method, { requestBody, responses }] of writes) {
    const path = await real(template);
    const [media] = Object.values((resolve(requestBody) as Body | undefined)?.content ?? {});
    const bodies = Object.values(media?.examples ?? {}).map(
      (example) => (resolve(example) as { readonly value: unknown }).value,
    );
    assert.is(bodies.length > 0, method !== 'DELETE', `${method} ${path}`);
    const done = Number(Object.keys(responses).find((status) => status.startsWith('2')));
    const allowed = method === 'DELETE' && '409' in responses ? [done, 409] : [done];
    for (const body of method === 'DELETE' ? [undefined] : bodies) {
      const answer = await send(server, method, path, body === undefined ? {} : { body });
      assert.ok(allowed.includes(answer.status), `${method} ${path}: ${answer.text}`);
    }
  }
});

/** The paths without the servers of single paths. */
function withoutServers(paths: Document['paths']): object[] {
  return Object.entries(paths).map(([path, item]) => [path, { ...item, servers: undefined }]);
}

test('with a base path, with and without a version, the description has the same paths', async () => {
  const based = await openService({ basePath: '/api' });
  const { json } = await send(based, 'GET', '/api/openapi.json');
  const servers = ['/api', '/api/1.0'];
  assert.equal(
    json.servers.map(({ url }: { readonly url: string }) => url),
    servers,
  );
  assert.equal(withoutServers(json.paths), withoutServers(document.paths));
  assert.equal(json.paths['/healthz'].servers, [{ url: '/api' }], 'health has one path');
  for (const prefix of servers) {
    assert.is((await send(based, 'GET', `${prefix}/books/`)).status, 200);
  }
  assert.equal((await send(based, 'GET', '/api/1.0/openapi.json')).json, json);
  await based.stop();
});

test('every POST that creates accepts an Idempotency-Key, except those that docs/api.md names', () => {
  const guide = readFileSync(join(ROOT, 'docs', 'api.md'), 'utf8');
  const [, excepted = ''] = /^- POST to (.*) ignores a key\./m.exec(guide) ?? [];
  const without = Object.entries(document.paths).flatMap(([path, { post }]) => {
    const creates = post !== undefined && ('201' in post.responses || '202' in post.responses);
    return creates && !JSON.stringify(post.parameters ?? []).includes('dempotencyKey')
      ? [path]
      : [];
  });
  assert.equal(
    [...excepted.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path).toSorted(),
    without.toSorted(),
  );
});

test.run();
