/** The folder of pages is a small shop: no link is broken, and every page is linked to. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { faultsOf, folderOf } from '../support/shop.ts';

const PUBLIC = 'https://shop.example/a/shop';

let server: Service;

test.before(async () => {
  server = await openService({ demo: true, pages: { publicUrl: PUBLIC } });
  // Lists of two parts, on the pages of an SPU, of a category and on the front page.
  const of = await createCatalog(server);
  const many = (fields: object) => Array.from({ length: 50 }, () => ({ name: 'More', ...fields }));
  for (const [path, body] of [
    ['/admin/skus/bulk/', many(skuFields(of))],
    ['/admin/categories/bulk/', many({ parent_id: null })],
    ['/admin/categories/bulk/', many({ parent_id: of.chain[0] })],
  ] as const) {
    assert.is((await send(server, 'POST', path, { body })).status, 201, path);
  }
  await until('every page is there', () => faultsOf(server.data).length === 0);
});

test.after(closeServices);

interface Found {
  /** Pages that can be reached, by their paths in the folder. */
  readonly pages: Set<string>;
  readonly broken: string[];
}

/** Follows every link and every file that a page loads, from the front page on. */
async function walk(base: string, get: (url: string) => Promise<Response>): Promise<Found> {
  const found: Found = { pages: new Set(), broken: [] };
  const waiting = [base];
  const seen = new Set(waiting);
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    const answer = await get(url);
    if (answer.status !== 200) {
      found.broken.push(`${url} is ${answer.status}`);
      continue;
    }
    const name = url.slice(base.length).replace(/\?.*/, '') || 'index.html';
    found.pages.add(name);
    const text = await answer.text();
    if (!name.endsWith('.html')) continue;
    for (const [, target = ''] of text.matchAll(/<(?:a|link|img)\b[^>]* (?:href|src)="([^"]*)"/g)) {
      const next = new URL(target, url);
      next.hash = '';
      if (!/^https?:$/.test(next.protocol) || target.startsWith(PUBLIC)) continue;
      if (!next.href.startsWith(base)) found.broken.push(`${url} leads out to ${target}`);
      else if (!seen.has(next.href)) waiting.push(next.href);
      seen.add(next.href);
    }
  }
  return found;
}

/** Pages of the folder, without those that only crawlers look for. */
function pagesOfFolder(): string[] {
  return [...folderOf(server.data).keys()].filter((name) => !name.endsWith('.xml')).toSorted();
}

test('every page can be reached from the front page, and no link is broken', async () => {
  const { pages, broken } = await walk(`${server.url}/pages/`, server.fetch);
  assert.equal(broken, []);
  assert.equal([...pages].toSorted(), pagesOfFolder());
  const parts = [...pages].filter((name) => /(?:\d|index)\/2\.html$/.test(name));
  assert.is(parts.length, 4, 'those of an SPU, of two categories and of the front page');
});

test('a static file server can serve the folder as the same shop, below another path', async () => {
  const base = 'http://files/some/where/';
  const folder = join(server.data, 'pages');
  const fetchFile = async (url: string) => {
    const path = new URL(url).pathname.replace('/some/where/', '/');
    const file = Bun.file(join(folder, path.endsWith('/') ? `${path}index.html` : path));
    return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 });
  };
  const { pages, broken } = await walk(base, fetchFile);
  assert.equal(broken, []);
  assert.equal([...pages].toSorted(), pagesOfFolder());
});

test('every URL in a sitemap and every canonical URL is 200', async () => {
  const addresses = [...folderOf(server.data).values()].flatMap((text) =>
    [...text.matchAll(/<loc>([^<]+)<|rel="canonical" href="([^"]+)"/g)].map(
      ([, location, canonical]) => location ?? canonical ?? '',
    ),
  );
  assert.ok(addresses.length > 200, `${addresses.length}`);
  for (const address of new Set(addresses)) {
    assert.ok(address.startsWith(`${PUBLIC}/`), address);
    const answer = await server.fetch(address.replace(PUBLIC, `${server.url}/pages`));
    assert.is(answer.status, 200, address);
    await answer.text();
  }
});

test('the canonical URL of a page is its own URL', () => {
  for (const [name, text] of folderOf(server.data)) {
    if (!name.endsWith('.html')) continue;
    const canonical = /rel="canonical" href="([^"]+)"/.exec(text)?.[1];
    assert.is(canonical, `${PUBLIC}/${name === 'index.html' ? '' : name}`);
  }
});

test.run();
