/** docs/pages.md describes the templates completely. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SkuPageFacts } from '../../../../src/pages/shop/facts.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { atOnce } from '../../../../src/slices.ts';
import { TEMPLATE_NAMES } from '../../../../src/pages/render/template-sources.ts';
import { wordsOf } from '../../../../src/pages/render/words.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { ROOT } from '../../../support/paths.ts';
import { addShop, Site } from '../../../support/shop.ts';

const DOCS = readFileSync(join(ROOT, 'docs', 'pages.md'), 'utf8');

const TEMPLATES = new Map(
  TEMPLATE_NAMES.map((name) => [name, readFileSync(join(ROOT, 'templates', name), 'utf8')]),
);

function blocksOf(name: string): string[] {
  return [...(TEMPLATES.get(name) ?? '').matchAll(/\{%-? *block (\w+)/g)].map(([, block]) =>
    String(block),
  );
}

/** The names in backticks in a cell. */
function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => String(name));
}

function rowsAfter(heading: string): string[][] {
  const [, after = ''] = DOCS.split(heading);
  const lines = after.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) => line.split('|').slice(1, -1));
}

test('docs/pages.md describes every template, and no other', () => {
  const named = rowsAfter('| Template | Makes |').flatMap(([cell = '']) => namesIn(cell));
  assert.equal(named.toSorted(), [...TEMPLATE_NAMES].toSorted());
});

test('docs/pages.md describes every block of the layout, with the templates that fill it', () => {
  const blocks = blocksOf('layout.njk');
  assert.ok(blocks.length >= 3, blocks.join());
  const rows = rowsAfter('| Block of `layout.njk` | Contains | Filled by |');
  assert.equal(
    rows.map(([cell = '']) => namesIn(cell)),
    blocks.map((block) => [block]),
  );
  for (const [block = '', , fillers = ''] of rows) {
    const filling = TEMPLATE_NAMES.filter((name) => {
      if (name === 'layout.njk') return false;
      return blocksOf(name).includes(namesIn(block)[0] ?? '');
    });
    assert.equal(namesIn(fillers).toSorted(), filling.toSorted(), block);
  }
});

test('the example of own templates in docs/pages.md overwrites nothing of the source', () => {
  const [, directory = ''] = /^ {4}mkdir (\S+)$/m.exec(DOCS) ?? [];
  assert.ok(DOCS.includes(`--templates ${directory} 1\n`), directory);
  assert.not(existsSync(join(ROOT, directory)), directory);
});

test('templates fill only blocks that the layout has', () => {
  const blocks = new Set(blocksOf('layout.njk'));
  for (const name of TEMPLATE_NAMES) {
    for (const block of blocksOf(name)) assert.ok(blocks.has(block), `${name}: ${block}`);
  }
});

test('docs/pages.md describes every macro with its parameters', () => {
  const macros = [...(TEMPLATES.get('parts.njk') ?? '').matchAll(/\{% macro ([^%]+?) %\}/g)];
  assert.is(macros.length, 3);
  for (const [, macro] of macros) assert.ok(DOCS.includes(`\`parts.${macro}\``), macro);
});

test('templates have no words of their own, so that pages are in one language', () => {
  for (const [name, source] of TEMPLATES) {
    if (!name.endsWith('.njk')) continue;
    const literal = source.replace(/\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}/gs, '');
    assert.not.match(literal.replace(/<[^>]*>/g, ''), /\p{L}/u, name);
    assert.not.match(literal, /(?:aria-label|title)="[^"]*\p{L}/u, name);
  }
});

test('docs/pages.md names exactly the words that templates get', () => {
  const [, listed = ''] = /^\| `words` \| (.+) \|$/m.exec(DOCS) ?? [];
  assert.equal(namesIn(listed).toSorted(), Object.keys(wordsOf('en')).toSorted());
});

test('docs/pages.md names exactly the attributes of a SKU that templates get', () => {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, 1)]);
  const { own } = atOnce(new Gatherer(store, null).facts('skus/1.html'));
  const { sku } = JSON.parse(own ?? '') as SkuPageFacts;
  const [, listed = ''] = /`sku` \(([^;]+), as in the API/.exec(DOCS) ?? [];
  assert.equal(namesIn(listed).toSorted(), Object.keys(sku).toSorted());
});

/** Values of templates whose attributes are described once, for all pages that have them. */
const DESCRIBED = [
  { what: 'spu', text: /`spu` \((`id`[^)]+)\)/, pages: ['skus/1.html', 'goods/1.html'] },
  { what: 'brand', text: /`brand` \((`id`[^)]+)\)/, pages: ['skus/1.html', 'goods/1.html'] },
  { what: 'items', text: /An item has (.+?);/, pages: ['goods/1.html', 'categories/3.html'] },
  {
    what: 'categories',
    text: /a category has (.+?)\./,
    pages: ['categories/1.html', 'index.html'],
  },
] as const;

test('docs/pages.md names exactly the attributes of other values, on each page that has them', () => {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, 1)]);
  const gatherer = new Gatherer(store, null);
  for (const { what, text, pages } of DESCRIBED) {
    const listed = namesIn(text.exec(DOCS)?.[1] ?? '').toSorted();
    for (const page of pages) {
      const prepared = new Site().renderer.prepare(atOnce(gatherer.facts(page)));
      const context: Readonly<Record<string, unknown>> = { ...prepared?.context };
      const [one] = [context[what]].flat();
      assert.equal(Object.keys(one ?? {}).toSorted(), listed, `${what} on ${page}`);
    }
  }
});

test.run();
