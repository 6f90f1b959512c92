/** DECISIONS 5: the API description says what a real server does, and no more. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Received, send } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly $ref?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly unknown[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, unknown>>;
}

type Document = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

let server: TestServer;
let document: Document;

test.before(async () => {
  server = await startServer({ demo: true });
  document = (await send(server, 'GET', '/openapi.json')).json;
});

test.after(async () => {
  await server.stop();
});

/** Every operation of the document: its path template, its method, itself. */
function operations(): (readonly [path: string, method: string, operation: Operation])[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[path, method.toUpperCase(), operation] as const];
    }),
  );
}

/** What a JSON pointer of the document names. */
function resolve(value: unknown): unknown {
  const pointer = (value as { $ref?: string }).$ref;
  if (pointer === undefined) return value;
  assert.match(pointer, /^#\//);
  let found: unknown = document;
  for (const step of pointer.slice(2).split('/')) {
    found = (found as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    assert.ok(found !== undefined, `${pointer} leads nowhere`);
  }
  return resolve(found);
}

const parametersOf = ({ parameters = [] }: Operation) =>
  parameters.map((each) => resolve(each) as Parameter);

/** A path of the demo catalog: parent 1, and a child that belongs to it. */
async function real(template: string): Promise<string> {
  const collection = template.replace('{pk}', '1');
  if (!collection.includes('{child}')) return collection;
  const listed = await send(server, 'GET', collection.replace('{child}/', ''));
  return collection.replace('{child}', String(listed.json[0].id));
}

/** The schema of what an operation takes, or answers with this status. */
function schemaOf(body: unknown): Schema {
  const { content = {} } = resolve(body) as Body;
  return resolve(content['application/json']?.schema) as Schema;
}

test('the document has the seven collections, their items and every nested form', () => {
  const collections = [
    '/books/',
    '/admin/goods/',
    '/admin/skus/',
    '/admin/brands/',
    '/admin/categories/',
    '/admin/specs/',
    '/admin/options/',
  ];
  const flat = collections.flatMap((path) => [path, `${path}{pk}/`]);
  const nested = [
    '/admin/goods/{pk}/skus/',
    '/admin/goods/{pk}/specs/',
    '/admin/specs/{pk}/options/',
    '/admin/skus/{pk}/specs/',
    '/admin/categories/{pk}/categories/',
    '/admin/brands/{pk}/goods/',
  ].flatMap((path) => [path, `${path}{child}/`]);
  assert.equal(Object.keys(document.paths).toSorted(), [...flat, ...nested].toSorted());
});

test('every $ref resolves', () => {
  const seen: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('$ref' in value) {
      seen.push(String(value.$ref));
      resolve(value);
    }
    for (const each of Object.values(value)) walk(each);
  };
  walk(document);
  assert.ok(seen.length > 100);
});

test('operationIds are there and unique', () => {
  const names = operations().map(([, , { operationId }]) => operationId);
  for (const name of names) assert.match(name, /^[a-z][A-Za-z]+$/);
  assert.equal(names.toSorted(), [...new Set(names)].toSorted());
});

test('every placeholder of a path is a required parameter, and no parameter is named twice', () => {
  for (const [path, method, operation] of operations()) {
    const parameters = parametersOf(operation);
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

test('the document and OPTIONS name the same methods, of every path', async () => {
  for (const [template, item] of Object.entries(document.paths)) {
    const path = await real(template);
    const options = await send(server, 'OPTIONS', path, { token: null });
    assert.is(options.status, 200, path);
    // HEAD and OPTIONS come with every path and are documented once for all of them.
    const allowed = (options.headers.get('allow') ?? '')
      .split(', ')
      .filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
    const documented = METHODS.filter((method) => method in item);
    assert.equal(
      allowed.toSorted(),
      documented.map((method) => method.toUpperCase()).toSorted(),
      template,
    );
  }
});

test('OPTIONS and the document name the same attributes, types and requirements', async () => {
  for (const [template, item] of Object.entries(document.paths)) {
    const writes = item['put'] ?? item['post'];
    const options = await send(server, 'OPTIONS', await real(template), { token: null });
    const { attributes } = options.json;
    if (writes === undefined) {
      assert.equal(attributes, {}, template);
      continue;
    }
    const { properties = {}, required = [] } = schemaOf(writes.requestBody);
    assert.equal(Object.keys(attributes), Object.keys(properties), template);
    for (const [name, schema] of Object.entries(properties)) {
      assert.equal(attributes[name].type, schema.type, `${template} ${name}`);
      assert.is(attributes[name].required, required.includes(name), `${template} ${name}`);
    }
  }
});

test('inputs and filters say spu_id, never goods_id; answers say goods_id, never spu_id', () => {
  const filters: string[] = [];
  for (const [path, method, operation] of operations()) {
    for (const { name } of parametersOf(operation)) {
      assert.is.not(name, 'goods_id', `${method} ${path}`);
      if (name === 'spu_id') filters.push(path);
    }
    if (operation.requestBody !== undefined) {
      const { properties = {} } = schemaOf(operation.requestBody);
      assert.not.ok('goods_id' in properties, `${method} ${path}`);
    }
  }
  assert.equal(filters.toSorted(), [
    '/admin/goods/{pk}/skus/',
    '/admin/goods/{pk}/specs/',
    '/admin/skus/',
    '/admin/specs/',
  ]);
  for (const name of ['Sku', 'Spec']) {
    const { schemas } = document.components;
    assert.ok('goods_id' in (schemas[name]?.properties ?? {}), name);
    assert.not.ok('spu_id' in (schemas[name]?.properties ?? {}), name);
    for (const input of [`${name}Input`, `${name}Patch`]) {
      assert.ok('spu_id' in (schemas[input]?.properties ?? {}), input);
    }
  }
});

test('a token is asked for exactly where the document says so', async () => {
  for (const [template, method, { security, responses }] of operations()) {
    const open = template.startsWith('/books/');
    assert.equal(security, open ? [] : [{ token: [] }], `${method} ${template}`);
    assert.is('401' in responses, !open);
    assert.is('403' in responses, !open);
    if (open) continue;
    const answer = await send(server, method, await real(template), { token: null });
    assert.is(answer.status, 401, `${method} ${template}`);
  }
});

test('what POST and PUT of {} complain of is what the schema requires', async () => {
  for (const [template, method, operation] of operations()) {
    if (operation.requestBody === undefined) continue;
    const { required = [] } = schemaOf(operation.requestBody);
    const answer = await send(server, method, await real(template), { body: {} });
    if (method === 'PATCH') {
      assert.equal(required, [], template);
      assert.is(answer.status, 200, template);
    } else {
      assert.is(answer.status, 422, `${method} ${template}`);
      assert.equal(Object.keys(answer.json.fields), required, `${method} ${template}`);
      assert.ok(required.length > 0);
    }
  }
});

const typeOf = (value: unknown) => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

/** Whether the value is of the schema, members in the order of the schema. */
function requireFits(value: unknown, declared: Schema, at: string): void {
  const schema = resolve(declared) as Schema;
  assert.ok(schema.type !== undefined, `${at} has a type`);
  assert.ok([schema.type].flat().includes(typeOf(value)), `${at}: ${typeOf(value)}`);
  if (Array.isArray(value)) {
    for (const element of value) requireFits(element, schema.items ?? {}, `${at}[]`);
  } else if (typeof value === 'object' && value !== null && schema.properties !== undefined) {
    assert.equal(Object.keys(value), Object.keys(schema.properties), at);
    assert.equal(schema.required, Object.keys(schema.properties), at);
    for (const [name, member] of Object.entries(value)) {
      requireFits(member, schema.properties[name] ?? {}, `${at}.${name}`);
    }
  }
}

test('what GET answers is of the schema of the answer, with the headers that it names', async () => {
  for (const [template, method, { responses }] of operations()) {
    if (method !== 'GET') continue;
    const path = await real(template);
    const answer = await send(server, 'GET', path);
    assert.is(answer.status, 200, path);
    requireFits(answer.json, schemaOf(responses['200']), path);
    if (Array.isArray(answer.json)) assert.ok(answer.json.length > 0, path);
    for (const name of Object.keys((resolve(responses['200']) as Body).headers ?? {})) {
      assert.ok(answer.headers.has(name), `${path} ${name}`);
    }
    const types = Object.keys((resolve(responses['200']) as Body).content ?? {});
    for (const accept of types) {
      const { headers } = await send(server, 'GET', path, { headers: { accept } });
      assert.is(headers.get('content-type'), accept, path);
    }
  }
});

test('every query parameter is accepted, with every value that it enumerates', async () => {
  for (const [template, method, operation] of operations()) {
    const query = parametersOf(operation).filter((each) => each.in === 'query');
    if (template.endsWith('}/') || method !== 'GET') {
      assert.equal(query, [], `${method} ${template}`);
      continue;
    }
    const path = await real(template);
    for (const { name, schema } of query) {
      for (const value of schema.enum ?? ['1']) {
        const answer = await send(server, 'GET', `${path}?${name}=${value}`);
        assert.is(answer.status, 200, `${path}?${name}=${value}`);
      }
      const twice = await send(server, 'GET', `${path}?${name}=1&${name}=1`);
      assert.is(twice.status, 400, `${path} knows ${name}`);
    }
    // Every scalar attribute of the rows can be sorted by.
    const [row] = (await send(server, 'GET', path)).json;
    const scalars = Object.keys(row).filter((name) => !Array.isArray(row[name]));
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

/** Requests that fail, and the status: each has to be among the documented ones. */
const FAILURES: readonly (readonly [
  status: number,
  methods: RegExp,
  request: { headers?: Record<string, string>; body?: unknown },
  query?: string,
])[] = [
  [400, /POST|PUT|PATCH/, { body: '{' }],
  [406, /GET/, { headers: { accept: 'text/html' } }],
  [415, /POST|PUT|PATCH/, { body: '{}', headers: { 'content-type': 'text/plain' } }],
  [422, /POST|PUT|PATCH/, { body: [] }],
  [413, /POST|PUT|PATCH/, { body: ' '.repeat(1024 * 1024 + 1) }],
];

test('the failures that an operation can answer with are documented', async () => {
  const undocumented: string[] = [];
  for (const [template, method, { responses }] of operations()) {
    const path = await real(template);
    const check = (status: number, answer: Received) => {
      assert.is(answer.status, status, `${method} ${path}`);
      if (!(String(status) in responses)) undocumented.push(`${status} of ${method} ${template}`);
    };
    for (const [status, methods, request] of FAILURES) {
      if (methods.test(method)) check(status, await send(server, method, path, request));
    }
    const isItem = template.endsWith('}/');
    if (isItem) {
      const unknown = path.replace(/\d+\/$/, '987654/');
      check(404, await send(server, method, unknown, {}));
      const headers = { 'if-match': '"stale"' };
      check(412, await send(server, method, path, { headers }));
    } else if (method === 'GET') {
      check(400, await send(server, 'GET', `${path}?limit=0`));
    }
    if (!isItem && template.includes('{pk}')) {
      check(404, await send(server, method, path.replace('/1/', '/987654/'), {}));
    }
  }
  assert.equal(undocumented, []);
});

test('every operation of the document is one of the server, with a documented answer', async () => {
  const order = [...METHODS].map((method) => method.toUpperCase());
  // Deletions come last, children before parents, so that everything is there to be called.
  const all = operations().toSorted(
    ([a, left], [b, right]) => order.indexOf(left) - order.indexOf(right) || b.length - a.length,
  );
  for (const [template, method, operation] of all) {
    const path = await real(template);
    const hasBody = operation.requestBody !== undefined;
    const answer = await send(server, method, path, hasBody ? { body: {} } : {});
    assert.ok(
      ![404, 405, 410].includes(answer.status) && answer.status < 500,
      `${method} ${path}: ${answer.status}`,
    );
    assert.ok(String(answer.status) in operation.responses, `${method} ${path}: ${answer.status}`);
  }
});

test.run();
