/**
 * When a server is idle, no page is older than the store, even after SIGKILL at any moment. Every
 * page is compared with a rendering of the store on the disk.
 *
 * FRESHNESS_ROUNDS is the number of kills, FRESHNESS_SEED selects their moments.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FileLock } from '../../../src/disk/lock.ts';
import {
  type Catalog,
  createCatalog,
  make,
  read,
  skuFields,
  spuFields,
} from '../../support/catalog.ts';
import { type Received, send } from '../../support/client.ts';
import { csv, importInto } from '../../support/imports.ts';
import { cutPage, pagePath, plantPage } from '../../support/page-files.ts';
import { type Random, randomFrom } from '../../support/random.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { faultsOf, folderOf } from '../../support/shop.ts';
import { stopAtRest } from './rest.ts';

const ARGS = ['--public-url', 'https://shop.example/pages'];

const ROUNDS = Number(process.env['FRESHNESS_ROUNDS'] ?? 4);

test.after(killServers);

interface Busy {
  readonly data: string;
  readonly of: Catalog;
  readonly paths: readonly string[];
  readonly skus: number[];
  readonly spu: number;
  readonly fields: ReturnType<typeof skuFields>;
  /** Number of answered writes. */
  answered: number;
}

/** A server with a small catalog in which the list of one SPU has two parts. */
async function busyShop(): Promise<{ server: TestServer; shop: Busy }> {
  const server = await startServer({ args: ARGS });
  const of = await createCatalog(server);
  const { id: second } = await make(server, '/admin/goods/', spuFields(of, { name: 'Second' }));
  const fields = skuFields(of);
  const many = Array.from({ length: 60 }, (_, number) => ({ ...fields, name: `SKU ${number}` }));
  const first = { ...fields, specs: [of.silver, of.large] };
  const created = await send(server, 'POST', '/admin/skus/bulk/', { body: [first, ...many] });
  const skus = created.json.map(({ id }: { id: number }) => id);
  const paths = [
    `/admin/brands/${of.brand}/`,
    `/admin/goods/${of.spu}/`,
    `/admin/goods/${second}/`,
    ...of.chain.map((id) => `/admin/categories/${id}/`),
    `/admin/specs/${of.silver.spec_id}/`,
  ];
  return { server, shop: { data: server.data, of, paths, skus, spu: second, fields, answered: 0 } };
}

/** A write of a catalog that others write to as well, so that it may be refused. */
interface Write {
  readonly server: TestServer;
  readonly shop: Busy;
  readonly random: Random;
  /** A SKU, which may be gone. */
  readonly sku: number;
  readonly name: string;
}

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

/** Some SKUs, each once. */
function someOf({ skus }: Busy, random: Random): readonly number[] {
  return skus.slice(random(skus.length)).slice(0, 9);
}

/** Every kind of write that changes pages; each returns the status of its last response. */
const WRITES: Readonly<Record<string, (write: Write) => Promise<number>>> = {
  async 'create a SKU'({ server, shop, name }) {
    const body = { ...shop.fields, name };
    const { status, json } = await send(server, 'POST', '/admin/skus/', { body });
    if (status === 201) shop.skus.push(json.id);
    return status;
  },
  async 'create many SKUs'({ server, shop, name }) {
    const body = ['1', '2', '3'].map((end) => ({ ...shop.fields, name: `${name} ${end}` }));
    const { status, json } = await send(server, 'POST', '/admin/skus/bulk/', { body });
    if (status === 201) shop.skus.push(...json.map(({ id }: { id: number }) => id));
    return status;
  },
  async 'delete a SKU'({ server, shop, sku }) {
    if (shop.skus.length <= 40) return 204;
    shop.skus.splice(shop.skus.indexOf(sku), 1);
    return statusOf(send(server, 'DELETE', `/admin/skus/${sku}/`));
  },
  'put a SKU on sale or off': ({ server, sku, random }) =>
    patched(server, `/admin/skus/${sku}/`, { is_launched: random(2) === 0 }),
  'change a SKU': ({ server, sku, name, random }) =>
    patched(server, `/admin/skus/${sku}/`, { name, stock: random(9) }),
  'replace a SKU': ({ server, shop, sku, name }) =>
    statusOf(send(server, 'PUT', `/admin/skus/${sku}/`, { body: { ...shop.fields, name } })),
  'change many SKUs': ({ server, shop, random }) =>
    patched(
      server,
      '/admin/skus/bulk/',
      someOf(shop, random).map((id) => ({ id, price: random(9) })),
    ),
  // The last one, whose records, if it has some, are of its first SPU.
  'move a SKU to another SPU': ({ server, shop }) =>
    patched(server, `/admin/skus/${shop.skus.at(-1)}/`, { spu_id: shop.spu, specs: [] }),
  'replace the records of a SKU': ({ server, shop, random }) => {
    const body = { specs: [random(2) === 0 ? shop.of.silver : shop.of.black] };
    const path = `/admin/skus/${shop.of.sku}/`;
    return statusOf(send(server, 'PATCH', path, { body, headers: MERGE_PATCH }));
  },
  'add a record': ({ server, shop, random }) => {
    const body = random(2) === 0 ? shop.of.black : shop.of.large;
    return statusOf(send(server, 'POST', `/admin/skus/${shop.of.sku}/specs/`, { body }));
  },
  async 'remove a record'({ server, shop }) {
    const path = `/admin/skus/${shop.of.sku}/specs/`;
    const { status, json } = await send(server, 'POST', path, { body: shop.of.silver });
    return status === 201 ? statusOf(send(server, 'DELETE', `${path}${json.id}/`)) : status;
  },
  'rename what SKUs refer to': ({ server, shop, name, random }) =>
    patched(server, shop.paths[random(shop.paths.length)] ?? '', { name }),
  'rename an option': ({ server, shop, name }) =>
    patched(server, `/admin/options/${shop.of.black.option_id}/`, { value: name }),
  'change a logo': ({ server, shop, random }) =>
    patched(server, `/admin/brands/${shop.of.brand}/`, { logo: `/${random(9)}.png` }),
  async 'create a category, and delete it'({ server, name, random }) {
    const { id } = await make(server, '/admin/categories/', { name });
    return random(2) === 0 ? 201 : statusOf(send(server, 'DELETE', `/admin/categories/${id}/`));
  },
  async 'import names'({ server, shop, random, name }) {
    const rows = someOf(shop, random).map((id) => `${id},${name}`);
    const { state } = await importInto(server, 'skus', csv('id,name', ...rows));
    return state === 'done' ? 200 : 422;
  },
  async 'undo a write'({ server, shop, name }) {
    const path = `/admin/goods/${shop.spu}/`;
    await patched(server, path, { name });
    const [entry] = await read(server, `${path}audits/?sortby=id&order=desc&per_page=1`);
    return statusOf(send(server, 'POST', `/admin/audits/${entry.id}/reversal/`));
  },
};

async function statusOf(response: Promise<Received>): Promise<number> {
  return (await response).status;
}

function patched(server: TestServer, path: string, body: unknown): Promise<number> {
  return statusOf(send(server, 'PATCH', path, { body }));
}

const KINDS = Object.values(WRITES);

/** Writes until the server ends, and counts the answered writes. */
async function write(server: TestServer, shop: Busy, random: Random): Promise<void> {
  for (;;) {
    const sku = shop.skus[random(shop.skus.length)] ?? 0;
    const kind = KINDS[random(KINDS.length)];
    try {
      await kind?.({ server, shop, random, sku, name: `Name ${random(1000)}` });
      shop.answered += 1;
    } catch (error) {
      if (server.child.killed) return;
      throw error;
    }
  }
}

/** Damages some pages, as power loss or a user might. */
function damage(data: string, random: Random): void {
  const names = [...folderOf(data).keys()];
  for (let left = random(6); left > 0; left -= 1) {
    const name = names[random(names.length)] ?? 'index.html';
    const inflict = [
      () => writeFileSync(pagePath(data, name), ''),
      () => cutPage(data, name, 300),
      () => rmSync(pagePath(data, name), { force: true }),
      () => plantPage(data, `skus/${5000 + random(9)}.html`),
      () => plantPage(data, `goods/1/${2 + random(9)}.html`),
      () => plantPage(data, 'skus/.0123456789abcdef.tmp'),
    ][random(6)];
    inflict?.();
  }
}

test('after random kills under writers and damage to pages, a restart repairs all pages', async () => {
  const seed = Number(process.env['FRESHNESS_SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`FRESHNESS_SEED=${seed} FRESHNESS_ROUNDS=${ROUNDS}\n`);
  const random = randomFrom(seed);
  const { server: first, shop } = await busyShop();
  let server = first;
  let behind = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = server;
    const writers = Array.from({ length: 4 }, () => write(running, shop, random));
    const enough = shop.answered + 1 + random(60);
    await until('some writes are answered', () => shop.answered >= enough);
    await running.kill();
    await Promise.all(writers);
    if (faultsOf(shop.data).length > 0) behind += 1;
    damage(shop.data, random);
    server = await startServer({ data: shop.data, args: ARGS });
    // In every other round the next kill comes while the pages are still being checked.
    if (round % 2 === 1 || round === ROUNDS - 1) {
      await until('every page is as it should be', () => faultsOf(shop.data).length === 0);
    }
  }
  await stopAtRest(server, ARGS);
  assert.ok(behind > 0, 'no kill came while pages were behind');
});

test('after each kind of write the pages that it changed are written', async () => {
  const { server, shop } = await busyShop();
  const random = randomFrom(1);
  await until('every page is as it should be', () => faultsOf(shop.data).length === 0);
  for (const [kind, carryOut] of Object.entries(WRITES)) {
    const status = await carryOut({ server, shop, random, sku: shop.skus[7] ?? 0, name: kind });
    assert.ok(status < 300, `${kind}: ${status}`);
    await until(`pages are fresh: ${kind}`, () => faultsOf(shop.data).length === 0);
  }
  await server.stop();
});

test('pages that were queued at a kill are written after the next start', async () => {
  const { server, shop } = await busyShop();
  await until('every page is there', () => faultsOf(shop.data).length === 0);
  const lock = new FileLock(join(shop.data, 'pages.lock'));
  // While this test holds the pages' lock, no page can be written.
  lock.lock();
  await send(server, 'PATCH', shop.paths[0] ?? '', { body: { name: 'Crashed' } });
  await send(server, 'DELETE', `/admin/skus/${shop.skus[0]}/`);
  await server.kill();
  lock.close();
  assert.ok(faultsOf(shop.data).length > 60, 'the crash came before the pages');
  const again = await startServer({ data: shop.data, args: ARGS });
  await until('every page is as it should be', () => faultsOf(shop.data).length === 0);
  await again.stop();
});

test('after concurrent writes and a stop, no page is stale', async () => {
  const { server, shop } = await busyShop();
  await Promise.all(
    [...shop.paths, ...shop.skus.map((id) => `/admin/skus/${id}/`)].map(async (path) => {
      for (let round = 0; round < 5; round += 1) {
        await send(server, 'PATCH', path, { body: { name: `Round ${round}` } });
      }
    }),
  );
  for (const id of shop.skus.slice(0, 20)) await send(server, 'DELETE', `/admin/skus/${id}/`);
  await stopAtRest(server, ARGS);
});

test.run();
