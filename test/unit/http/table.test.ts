/** The table of operations: the description, Allow and the router agree with it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../src/http/operations/content.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { PK } from '../../../src/http/operations/parameters.ts';
import { definePath } from '../../../src/http/operations/path.ts';
import { Routes } from '../../../src/http/routes.ts';
import { operationTable } from '../../../src/http/table.ts';

const SETTINGS = { basePath: '', version: 'test', protectBooks: false, maxImport: 1 };

const TABLE = operationTable(SETTINGS);

/** The paths for clients; other paths are for requests between hosts. */
const PUBLIC = TABLE.filter(({ internal }) => internal !== true);

type Described = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const { paths } = openApiDocument(TABLE, SETTINGS) as { readonly paths: Described };

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** A path that matches a template. */
function real(template: string): string {
  return template
    .replace('{jti}', '3f0a-1')
    .replace('{file}', 'start.js')
    .replace('{name}', 'skus-17')
    .replace(/\{\w+\}/g, '12');
}

test('paths and operation ids are unique in the table', () => {
  const templates = TABLE.map(({ template }) => template);
  assert.equal(templates, [...new Set(templates)]);
  assert.ok(templates.length > 40, `${templates.length} paths`);
  const ids = TABLE.flatMap(({ operations }) => [...new Set(operations.values())]).map(
    ({ id }) => id,
  );
  assert.equal(ids, [...new Set(ids)]);
});

test('the description has every public operation of the table, and no other', () => {
  assert.equal(
    Object.keys(paths),
    PUBLIC.map(({ template }) => template),
  );
  assert.ok(PUBLIC.length > 40, `${PUBLIC.length} paths`);
  for (const { template, operations, allow } of PUBLIC) {
    const item = paths[template] ?? {};
    const described = METHODS.filter((method) => method.toLowerCase() in item);
    assert.equal(described.toSorted(), [...operations.keys(), 'OPTIONS'].toSorted(), template);
    assert.equal(allow.split(', ').toSorted(), described.toSorted(), template);
  }
});

test('the description has the statuses, the role and the body that an operation declares', () => {
  for (const { template, operations } of PUBLIC) {
    for (const [method, { id, role, body, responses, failures = [] }] of operations) {
      const at = `${method} ${template}`;
      const described = paths[template]?.[method.toLowerCase()] ?? {};
      const statuses = Object.keys(described['responses'] ?? {});
      if (method !== 'HEAD') assert.is(described['operationId'], id, at);
      for (const status of [...Object.keys(responses), ...failures]) {
        assert.ok(statuses.includes(String(status)), `${at} ${status}`);
      }
      assert.equal(described['security'], role === null ? [] : [{ token: [] }], at);
      const sent = described['requestBody'] as { readonly required: boolean } | undefined;
      assert.is(sent !== undefined, body.content !== null, at);
      assert.is(sent?.required === false, body.optional === true, at);
      assert.is(statuses.includes('415'), body.content !== null, at);
      assert.is(statuses.includes('422') || !body.validated, true, at);
    }
  }
});

test('a method that a path does not have is guarded as its GET is', () => {
  const readable = TABLE.filter(({ operations }) => operations.has('GET'));
  for (const path of readable) assert.is(path.guards('TRACE'), path.guards('GET'), path.template);
  assert.is(new Set(readable.map((path) => path.guards('TRACE'))).size, 2);
});

test('every path is routed to its template, at first and from the cache', async () => {
  const routes = new Routes(TABLE);
  for (let again = 0; again < 2; again += 1) {
    for (const { template } of TABLE) {
      const route = await routes.find(real(template));
      assert.is(route?.path.template, template);
      assert.is(route?.params.fill(template), real(template));
    }
  }
});

test('a cached route is found synchronously, whatever the ids in the path', async () => {
  const routes = new Routes(TABLE);
  await routes.find('/admin/goods/1/skus/2/');
  const route = routes.find('/admin/goods/30/skus/400/');
  assert.ok(route !== undefined && !(route instanceof Promise));
  assert.is(route.params.id('pk'), 30);
  assert.is(route.params.id('child'), 400);
});

test('a digit in a template is not taken for the id in the path', async () => {
  const planted = definePath({
    template: '/v2/notes/{pk}/',
    parameters: [PK],
    tag: { name: 'notes', description: 'Of this test.' },
    name: 'Note',
    about: 'a note',
    resolve: () => undefined,
    operations: {},
  });
  const routes = new Routes([planted]);
  for (const pk of [7, 30]) {
    assert.is((await routes.find(`/v2/notes/${pk}/`))?.params.id('pk'), pk);
  }
});

test('a path that matches no template is not found, even if similar routes are cached', async () => {
  const routes = new Routes(TABLE);
  for (let again = 0; again < 2; again += 1) {
    for (const path of [
      '/books',
      '/books//',
      '/books/1',
      '/books/1//',
      '/books/one/',
      '/books/1a/',
      '/books/-1/',
      '/books/1.5/',
      '/books/%31/',
      '/books/./1/',
      '/admin/../books/1/',
      '/./books/1/',
      '//books/1/',
      '/books//1/',
      '/admin/skus/bulk',
      '/admin/skus/bulk/1/',
      '/books/bulk/',
      '/admin/tokens/.hidden/',
      `/admin/tokens/${'x'.repeat(256)}/`,
      '/docs/other.js',
      '/pages/sitemap-books-1.xml',
      '/healthz/',
    ]) {
      assert.is(await routes.find(path), undefined, path);
    }
    await routes.find('/books/1/');
    await routes.find('/admin/skus/bulk/');
  }
});

test.run();
