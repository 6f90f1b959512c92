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
import { createCatalog, make, skuFields, spuFields } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { cutPage, pagePath, plantPage } from '../../support/page-files.ts';
import { randomFrom } from '../../support/random.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { faultsOf, folderOf } from '../../support/shop.ts';
import { stopAtRest } from './rest.ts';

const ARGS = ['--public-url', 'https://shop.example/pages'];

const ROUNDS = Number(process.env['FRESHNESS_ROUNDS'] ?? 4);

test.after(killServers);

interface Busy {
  readonly data: string;
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
  return { server, shop: { data: server.data, paths, skus, spu: second, fields, answered: 0 } };
}

/** Writes until the server ends, and counts the answered writes. */
async function write(
  server: TestServer,
  shop: Busy,
  random: (below: number) => number,
): Promise<void> {
  const { paths, skus, spu, fields } = shop;
  for (;;) {
    const sku = skus[random(skus.length)] ?? 0;
    const name = `Name ${random(1000)}`;
    try {
      const choice = random(10);
      if (choice === 0) {
        const { json } = await send(server, 'POST', '/admin/skus/', { body: { ...fields, name } });
        skus.push(json.id);
      } else if (choice === 1 && skus.length > 40) {
        skus.splice(skus.indexOf(sku), 1);
        await send(server, 'DELETE', `/admin/skus/${sku}/`);
      } else if (choice === 2) {
        await send(server, 'PATCH', `/admin/skus/${sku}/`, {
          body: { is_launched: random(2) === 0 },
        });
      } else if (choice < 5) {
        const path = paths[random(paths.length)] ?? '';
        await send(server, 'PATCH', path, { body: { name } });
      } else if (choice === 5) {
        await send(server, 'PATCH', `/admin/skus/${skus[skus.length - 1]}/`, {
          body: { spu_id: spu },
        });
      } else {
        await send(server, 'PATCH', `/admin/skus/${sku}/`, { body: { name, stock: random(9) } });
      }
      shop.answered += 1;
    } catch (error) {
      if (server.child.killed) return;
      throw error;
    }
  }
}

/** Damages some pages, as power loss or a user might. */
function damage(data: string, random: (below: number) => number): void {
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
