/**
 * How a start repairs pages: after a power loss a page may be old, torn, empty or missing. Every
 * page is compared with a rendering of the store as it is on disk.
 */
import { cpSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { make, read, skuFields } from '../support/catalog.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { cutPage, pagePath, plantPage } from '../support/page-files.ts';
import { closeServices, openService } from '../support/service.ts';
import { faultsOf, folderOf, wantedFolder } from '../support/shop.ts';
import { until } from '../support/until.ts';

const PAGES = { publicUrl: 'https://shop.example/pages' };

/** A closed directory with every page of the demo catalog. */
let demo: string;

test.before(async () => {
  const own = await openService({ demo: true, pages: PAGES });
  await own.stop();
  assert.equal(faultsOf(own.data), []);
  demo = own.data;
});

test.after(closeServices);

function copyOfDemo(): string {
  const data = temporaryDirectory();
  cpSync(demo, data, { recursive: true, preserveTimestamps: true });
  return data;
}

const DAMAGES: Readonly<Record<string, (data: string) => void>> = {
  stale(data) {
    const text = folderOf(data).get('skus/3.html') ?? '';
    writeFileSync(
      pagePath(data, 'skus/3.html'),
      text.replace(/<h1>.*?<\/h1>/, '<h1>Old name</h1>'),
    );
  },
  torn(data) {
    for (const name of ['skus/4.html', 'goods/1.html', 'style.css']) cutPage(data, name, 700);
  },
  empty(data) {
    for (const name of ['skus/5.html', 'index.html', 'sitemap.xml']) cutPage(data, name, 0);
  },
  'filled with zeros': (data) =>
    writeFileSync(
      pagePath(data, 'goods/2.html'),
      Buffer.alloc(folderOf(data).get('goods/2.html')?.length ?? 9),
    ),
  missing(data) {
    for (const name of ['skus/7.html', 'categories/1.html', 'sitemap-skus-1.xml']) {
      rmSync(pagePath(data, name));
    }
  },
  orphaned(data) {
    for (const name of [
      'skus/4711.html',
      'goods/1/2.html',
      'index/9.html',
      'sitemap-goods-7.xml',
    ]) {
      plantPage(data, name);
    }
  },
  'missing with their folder': (data) => rmSync(join(data, 'pages'), { recursive: true }),
  'damaged in every way at once'(data) {
    for (const [name, inflict] of Object.entries(DAMAGES).slice(0, 6)) if (name) inflict(data);
  },
};

for (const [name, inflict] of Object.entries(DAMAGES)) {
  test(`a start repairs pages that are ${name}`, async () => {
    const data = copyOfDemo();
    inflict(data);
    assert.ok(faultsOf(data).length > 0, 'there is damage');
    const own = await openService({ data, pages: PAGES });
    await until('the pages are as they should be', () => faultsOf(data).length === 0);
    await own.stop();
    assert.equal(own.log, []);
  });
}

test('a start does not write pages that are correct', async () => {
  const data = copyOfDemo();
  const times = () =>
    [...folderOf(data).keys()].map((name) => statSync(pagePath(data, name)).mtimeMs);
  const before = times();
  const own = await openService({ data, pages: PAGES });
  await own.stop();
  assert.equal(times(), before);
});

test('a start with other settings rewrites all pages that depend on them', async () => {
  const data = copyOfDemo();
  const own = await openService({ data, pages: { currency: 'EUR', locale: 'de' } });
  await until('the pages are as they should be', () => faultsOf(data).length === 0);
  await own.stop();
  assert.match(folderOf(data).get('skus/1.html') ?? '', '649,00\u00a0€');
  assert.not.ok(folderOf(data).has('sitemap.xml'), 'there is no public address any more');
});

test('a start removes the temporary files of a run that was killed', async () => {
  const data = copyOfDemo();
  const halves = ['', 'skus/', 'goods/'].map((where) =>
    pagePath(data, `${where}.0123456789abcdef.tmp`),
  );
  for (const path of halves) writeFileSync(path, '<!doctype html>');
  const own = await openService({ data, pages: PAGES });
  await own.stop();
  assert.equal(halves.filter(existsSync), []);
});

test('a file with the name of a folder for the parts of a list is left alone, and stops no page', async () => {
  const data = copyOfDemo();
  rmSync(pagePath(data, 'skus/3.html'));
  const theirs = ['goods/1', 'index'];
  for (const name of theirs) writeFileSync(pagePath(data, name), 'not a page');
  const own = await openService({ data, pages: PAGES });
  await own.pagesAtRest();
  // A new SKU changes the lists of its SPU, which might have had further parts.
  const { category_id } = await read(own, '/admin/skus/1/');
  await make(own, '/admin/skus/', skuFields({ spu: 1, chain: [0, 0, category_id] }));
  await own.pagesAtRest();
  await own.stop();
  assert.equal(
    faultsOf(data),
    theirs.map((name) => `${name} is an orphan`),
  );
  assert.equal(own.log, []);
});

test('if the folder of pages cannot be made, a server starts, sends pages, and writes them when it can', async () => {
  const data = copyOfDemo();
  const folder = join(data, 'pages');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in the way');
  // The disk of the machine: pages are made in their thread, as in a server.
  const own = await openService({ data, pages: PAGES, disk: machineDisk });
  const response = await own.fetch(`${own.url}/pages/skus/1.html`);
  assert.is(response.status, 200);
  assert.is(await response.text(), wantedFolder(data).get('skus/1.html'));
  await until('the log tells of it', () => own.log.join().includes('not a directory'));
  rmSync(folder);
  await until('the pages are written', () => faultsOf(data).length === 0);
  await own.stop();
});

test.run();
