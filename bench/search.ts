/**
 * What a search costs, and what its index costs the writes: `bun bench/search.ts [SKUS]`.
 *
 * Every search is a first one: a commit before it invalidates earlier results. All figures are
 * CPU time of the process, so that other work on the machine matters less; bytes are those of the
 * heap after a collection.
 */
import { heapStats } from 'bun:jsc';
import { changeOf } from '../src/model/change.ts';
import { perKind } from '../src/model/per-kind.ts';
import type { RowOf } from '../src/model/rows.ts';
import { foldText, wordsOf } from '../src/model/text-folding.ts';
import { RowTable } from '../src/store/memory/row-table.ts';
import { Tables } from '../src/store/memory/tables.ts';
import { median, print } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SPUS = Math.max(1000, SKUS / 20);
const CATEGORIES = 300;
const ROUNDS = 25;
const WRITES = 20_000;

const BRANDS = 'Apple Samsung Nordlys Bosch Siemens Philips Sony Grohe Makita Lego'.split(' ');
const THINGS =
  'Phone Kettle Drill Toaster Lamp Chair Shirt Cable Charger Headphones Speaker Monitor Keyboard Mouse Backpack'.split(
    ' ',
  );
const COLOURS = 'Black White Silver Graphite Midnight Red Green Blue Champagne Copper'.split(' ');

/** What people type: words, beginnings and middles of words, numbers, article numbers, nothing. */
const QUERIES = [
  'phone',
  'kettle',
  'headphones',
  'samsung',
  'black',
  'graphite',
  'category',
  'measuring',
  'kettle black',
  'samsung drill red',
  'apple phone silver 128',
  'sony 4999',
  'made for',
  'pho',
  'hone',
  'ket',
  'sam',
  'blac',
  'ing',
  'e',
  'a',
  'o',
  '1',
  '9',
  'ph',
  'in',
  'gb',
  '12',
  '100',
  '4999',
  '77',
  'art-',
  'art-00',
  'art-001',
  'art-00123',
  '00123',
  '-',
  'zzz',
  'e a o',
  'nordlys c',
  '128 gb',
  'e 1',
]; // prettier-ignore

const numbers = (() => {
  let state = 1;
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % below;
  };
})();

function pick(words: readonly string[]): string {
  return words[numbers(words.length)] ?? '';
}

function sku(id: number): RowOf<'skus'> {
  const size = 2 ** (5 + numbers(5));
  return {
    id,
    name: `${pick(BRANDS)} ${pick(THINGS)} ${numbers(9000)} ${pick(COLOURS)} ${size} GB`,
    goods_id: 1 + numbers(SPUS),
    caption: id % 3 === 0 ? `Now in ${pick(COLOURS)}` : 'Made for measuring',
    category_id: 1 + numbers(CATEGORIES),
    price: 499_900,
    cost_price: 399_900,
    market_price: 549_900,
    stock: 7,
    sales: 0,
    is_launched: true,
    code: `ART-${String(id).padStart(7, '0')}`,
  };
}

function catalog(): ConstructorParameters<typeof Tables>[0] {
  const rows = perKind(() => new RowTable());
  for (let id = 1; id <= CATEGORIES; id += 1) {
    rows.categories.set({ id, name: `Category of ${pick(THINGS)} ${id}`, parent_id: null });
  }
  for (let id = 1; id <= SPUS; id += 1) {
    const name = `${pick(BRANDS)} ${pick(THINGS)} ${numbers(9000)}`;
    rows.goods.set({ id, name, brand_id: 1 });
  }
  // As rows are read from a file: texts that are joined here would be flattened by the search.
  for (let id = 1; id <= SKUS; id += 1) rows.skus.set(JSON.parse(JSON.stringify(sku(id))));
  return rows;
}

/** Milliseconds of CPU so far. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Bytes of the heap, and of what belongs to its objects, after a collection. */
function heap(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return Math.max(heapSize, extraMemorySize);
}

async function search(tables: Tables, words: readonly string[]): Promise<number> {
  const selection = {
    filters: [],
    words,
    sortby: 'id',
    order: 'asc',
    offset: 0,
    limit: 20,
  } as const;
  for (;;) {
    const waiting = tables.queries.prepare('skus', selection);
    if (waiting === undefined) return tables.queries.select('skus', selection).total;
    await waiting;
  }
}

function rename(tables: Tables, id: number): void {
  const before = tables.get('skus', id) ?? null;
  const after = { ...sku(id), code: before?.code ?? null };
  tables.apply([changeOf('skus', id, before, after)]);
}

/** Microseconds of CPU that a change of a name costs the tables. */
function writes(tables: Tables): number {
  const begun = cpu();
  for (let nth = 1; nth <= WRITES; nth += 1) rename(tables, ((nth * 7919) % SKUS) + 1);
  return ((cpu() - begun) * 1000) / WRITES;
}

async function main(): Promise<void> {
  const tables = new Tables(catalog());
  writes(tables);
  const without = writes(tables);
  const before = heap();
  const begun = cpu();
  await search(tables, ['zzz']);
  const built = cpu() - begun;
  const bytes = (heap() - before) / SKUS;
  print(`${SKUS} SKUs: built in ${built.toFixed(0)} ms, ${bytes.toFixed(0)} bytes a SKU`);
  writes(tables);
  print(
    `a new name costs ${without.toFixed(1)} µs, with the index ${writes(tables).toFixed(1)} µs`,
  );
  const found = new Map<string, { readonly costs: number[]; total: number }>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const query of QUERIES) {
      rename(tables, 1);
      const start = cpu();
      const total = await search(tables, wordsOf(foldText(query)));
      const cost = cpu() - start;
      const known = found.get(query) ?? { costs: [], total };
      known.costs.push(cost);
      found.set(query, known);
    }
  }
  const costs = [...found]
    .map(([query, { costs: each, total }]) => ({
      query,
      total,
      cost: median(each),
    }))
    .sort((a, b) => a.cost - b.cost);
  const typical = median(costs.map(({ cost }) => cost));
  print(`a search costs ${typical.toFixed(2)} ms at the median; the dearest:`);
  for (const { query, total, cost } of costs.slice(-8).reverse()) {
    print(`${cost.toFixed(2).padStart(8)} ms  ${query.padEnd(24)} ${total} SKUs`);
  }
}

void main();
