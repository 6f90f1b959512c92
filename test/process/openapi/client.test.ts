/** A client generated from `/openapi.json` by openapi-typescript typechecks and works. */
import { spawnSync } from 'node:child_process';
import { realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const TSCONFIG = {
  compilerOptions: {
    target: 'ESNext',
    lib: ['ESNext', 'DOM', 'DOM.Iterable'],
    module: 'Preserve',
    moduleResolution: 'bundler',
    types: ['bun-types'],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
  },
  include: ['*.ts'],
};

const CLIENT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './catalog.ts';

export const client = createClient<paths>({
  baseUrl: process.env['CATALOG_URL'] ?? '',
  headers: { Authorization: \`Bearer \${process.env['CATALOG_TOKEN']}\` },
});
export type Sku = components['schemas']['Sku'];
export type SkuInput = components['schemas']['SkuInput'];
`;

/** Reads, creates, changes and deletes, and prints the results. */
const PROGRAM = `
import { client, type Sku, type SkuInput } from './client.ts';

const path = { pk: 1 };
const first = await client.GET('/admin/skus/{pk}/', { params: { path } });
if (first.error !== undefined) throw new Error(first.error.error);
const { goods_id: spu_id, ...rest }: Sku = first.data;
const input: SkuInput = { ...rest, spu_id, name: 'Made by a generated client' };

const header = { 'Idempotency-Key': crypto.randomUUID() };
const create = () => client.POST('/admin/skus/', { params: { header }, body: input });
const created = await create();
if (created.data === undefined) throw new Error('no SKU');
const { id } = created.data;
const again = await create();
const brand = await client.POST('/admin/brands/', { body: { name: 'Only what is required' } });

const listed = await client.GET('/admin/skus/', {
  params: { query: { page: 2, per_page: 3, sortby: 'price', order: 'desc', spu_id } },
});
const names: string[] | undefined = listed.data?.map(({ name }) => name);

const several = await client.PATCH('/admin/skus/bulk/', { body: [{ id, stock: 7 }] });
const stock: number | undefined = several.data?.[0]?.stock;

const at = { path: { pk: id } };
const read = await client.GET('/admin/skus/{pk}/', { params: at });
const tag = read.response.headers.get('ETag') ?? '';
const guarded = { params: { ...at, header: { 'If-Match': tag } } };
const changed = await client.PATCH('/admin/skus/{pk}/', { ...guarded, body: { price: 1 } });
const price: number | undefined = changed.data?.price;
const stale = await client.PUT('/admin/skus/{pk}/', { ...guarded, body: input });
const invalid = await client.PATCH('/admin/skus/{pk}/', { params: at, body: { price: -1 } });
const fields = invalid.error && 'fields' in invalid.error ? invalid.error.fields : undefined;
const problems: readonly string[] | undefined = fields?.['price'];

const deleted = await client.DELETE('/admin/skus/{pk}/', { params: at });
const gone = await client.GET('/admin/skus/{pk}/', { params: at });
const books = await client.GET('/books/', { params: { query: { limit: 2, offset: 1 } } });
const book: string | undefined = books.data?.[0]?.pub_date;

console.log(JSON.stringify({
  created: created.response.status,
  location: created.response.headers.get('Location') === \`/admin/skus/\${id}/\`,
  brand: brand.data?.logo,
  replayed: again.response.headers.get('Idempotent-Replayed'),
  names: names?.length,
  total: listed.response.headers.get('X-Total-Count'),
  stock,
  price,
  stale: stale.response.status,
  problems,
  deleted: deleted.response.status,
  gone: gone.response.status,
  books: books.data?.length,
  book,
}));
`;

/** Each line after a @ts-expect-error is wrong: the compiler reports a mark without an error. */
const MISUSE = `
import { client, type SkuInput } from './client.ts';

const at = { params: { path: { pk: 1 } } };
declare const input: SkuInput;

// @ts-expect-error no such path
await client.GET('/admin/sku/');
// @ts-expect-error no such method
await client.DELETE('/admin/skus/');
// @ts-expect-error the id is missing
await client.GET('/admin/skus/{pk}/');
// @ts-expect-error the id is a number
await client.GET('/admin/skus/{pk}/', { params: { path: { pk: 'one' } } });
// @ts-expect-error no attribute to sort by
await client.GET('/admin/skus/', { params: { query: { sortby: 'specs' } } });
// @ts-expect-error books have no filters
await client.GET('/books/', { params: { query: { spu_id: 1 } } });
// @ts-expect-error the body is missing
await client.POST('/admin/skus/');
// @ts-expect-error the name is missing
await client.POST('/books/', { body: { pub_date: '1813-01-28' } });
// @ts-expect-error a price is a number
await client.PATCH('/admin/skus/{pk}/', { ...at, body: { price: '1' } });
// @ts-expect-error an element has an id
await client.PATCH('/admin/skus/bulk/', { body: [{ price: 1 }] });
// @ts-expect-error books are created one by one
await client.POST('/books/', { body: [{ name: 'Emma', pub_date: '1815-12-23' }] });
// @ts-expect-error records are not replaced
await client.PUT('/admin/skus/{pk}/specs/{child}/', { params: { path: { pk: 1, child: 1 } } });
// @ts-expect-error the request's word is spu_id
input.goods_id;
// @ts-expect-error a failure has no object
(await client.GET('/admin/skus/{pk}/', at)).data.name;
`;

let server: TestServer;
let directory: string;

test.before(async () => {
  server = await startServer({ demo: true });
  directory = temporaryDirectory();
});

test.after(async () => {
  await server.stop();
});

/** Runs a program with Bun in the directory. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}`, stdout };
}

test('the generated client typechecks in strict mode, and wrong uses of it do not', async () => {
  const description = await fetch(`${server.url}/openapi.json`);
  const home = dirname(
    realpathSync(fileURLToPath(import.meta.resolve('client-generator/package.json'))),
  );
  const generator = join(
    dirname(Bun.resolveSync('openapi-typescript', home)),
    '..',
    'bin',
    'cli.js',
  );
  writeFileSync(join(directory, 'openapi.json'), await description.text());
  // docs/api.md names the flag: without it, attributes with a default are required in requests.
  const flags = ['--default-non-nullable=false', '--output', 'catalog.ts'];
  const generated = run([generator, 'openapi.json', ...flags]);
  assert.is(generated.status, 0, generated.output);

  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const files = { 'client.ts': CLIENT, 'program.ts': PROGRAM, 'misuse.ts': MISUSE };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const checked = run([join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', '.']);
  assert.is(checked.output, '');
  assert.is(checked.status, 0);
});

test('the generated client can read, create, change and delete on a server', async () => {
  const env = { CATALOG_URL: server.url, CATALOG_TOKEN: await tokenFor('editor') };
  const { status, output, stdout } = run(['program.ts'], env);
  assert.is(status, 0, output);
  assert.equal(JSON.parse(stdout), {
    created: 201,
    location: true,
    brand: '',
    replayed: 'true',
    names: 3,
    total: '6',
    stock: 7,
    price: 1,
    stale: 412,
    problems: ['must be 0 or more'],
    deleted: 204,
    gone: 410,
    books: 2,
    book: '1818-01-01',
  });
});

test.run();
