/** Pages of a store in memory, followed from change to change as the queue does it. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { machineDisk } from '../../src/disk/disk.ts';
import {
  dependentsOf,
  expand,
  type FanOut,
  NamedEnds,
} from '../../src/pages/refresh/dependents.ts';
import { RowSummaries, type RowSummary } from '../../src/pages/refresh/row-summaries.ts';
import type { Catalog } from '../../src/pages/shop/catalog.ts';
import { Gatherer } from '../../src/pages/shop/gather.ts';
import type { PageName } from '../../src/pages/shop/names.ts';
import {
  DEFAULT_SETTINGS,
  keptSettings,
  type PageSettings,
} from '../../src/pages/shop/settings.ts';
import { PageList } from '../../src/pages/shop/page-list.ts';
import { Renderer } from '../../src/pages/render/renderer.ts';
import { TemplateSources } from '../../src/pages/render/template-sources.ts';
import { Templates } from '../../src/pages/render/templates.ts';
import { wordsOf } from '../../src/pages/render/words.ts';
import { PageWriter } from '../../src/pages/writer/page-writer.ts';
import { atOnce } from '../../src/slices.ts';
import type { Transaction } from '../../src/store/writer/draft.ts';
import type { Change } from '../../src/model/change.ts';
import type { ReadableStore } from '../../src/store/readable-store.ts';
import { readSnapshot } from '../../src/store/directory.ts';
import { memoryDisk } from './memory-disk.ts';
import { add, MemoryStore } from './memory-store.ts';

export const SETTINGS: PageSettings = {
  ...DEFAULT_SETTINGS,
  publicUrl: 'https://shop.example/pages',
};

/** Pages that are taken together. */
const BATCH_SIZE = 3;

/** Makes pages without files, as they are now. */
export class Site {
  readonly list: PageList;
  readonly renderer: Renderer;

  constructor(settings: Partial<PageSettings> = {}) {
    const all = { ...SETTINGS, ...settings };
    const sources = new TemplateSources(machineDisk, all.templates);
    this.list = new PageList(all.publicUrl !== null);
    this.renderer = new Renderer(new Templates(sources, wordsOf(all.locale)), all);
  }

  /** @returns null if there is no such page. */
  render(catalog: Catalog, name: PageName): string | null {
    const gatherer = new Gatherer(catalog, this.list.hasSitemap ? catalog : null);
    const prepared = this.renderer.prepare(atOnce(gatherer.facts(name)));
    return prepared && this.renderer.render(prepared);
  }
}

/** The site of {@link SETTINGS}. It keeps nothing but its compiled templates, so one is enough. */
const SITE = new Site();

/** Every page that there should be, by name, from nothing but the store. */
export function freshPages(store: ReadableStore, site = SITE): Map<PageName, string> {
  const pages = new Map<PageName, string>();
  for (const name of site.list.all(store)) {
    const text = site.render(store, name);
    if (text === null) throw new Error(`${name} is one of all pages, and is none`);
    if (pages.has(name)) throw new Error(`${name} is named twice`);
    if (!site.list.has(store, name)) throw new Error(`the list names ${name} and denies it`);
    pages.set(name, text);
  }
  if (pages.size !== atOnce(site.list.count(store))) throw new Error('the count is another');
  return pages;
}

/** A folder of pages that follows a store. */
export class Shop {
  readonly store: MemoryStore;
  readonly #gatherer: Gatherer;
  readonly #disk = memoryDisk();
  readonly #writer = new PageWriter(this.#disk.disk, '', SITE.renderer, 'a shop');
  readonly #changed = new RowSummaries();
  readonly #taken: RowSummary[] = [];
  /** What was named for rows of {@link Shop.#taken} since some were added to it. */
  #ends = new NamedEnds();
  readonly #waiting = new Set<PageName>();
  readonly #fanOuts = new Set<FanOut>();
  #expanding: Iterator<PageName, readonly FanOut[] | undefined> | null = null;
  /** Pages that were taken together, and what they have in common. */
  #batch: PageName[] = [];
  #known = new Map<number, string>();

  /** @param pages of the current state of the store; {@link freshPages} makes them. */
  constructor(store: MemoryStore, pages: ReadonlyMap<PageName, string> = freshPages(store)) {
    this.store = store;
    this.#gatherer = new Gatherer(store, store);
    for (const [name, text] of pages) this.#disk.files.set(`pages/${name}`, text);
  }

  /** See {@link MemoryStore.commit}. */
  commit(...[transactions, refused]: Parameters<MemoryStore['commit']>): void {
    this.follow(this.store.commit(transactions, refused));
  }

  follow(changes: readonly Change[]): void {
    for (const change of changes) this.#changed.add(change);
  }

  /** Does some of what waits, of the newest first: no order is promised. */
  async work(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      if (!(await this.#step(step))) return;
    }
  }

  /** Does all that waits. */
  async rest(): Promise<void> {
    await this.work(Number.POSITIVE_INFINITY);
  }

  /** The pages on the disk, by name. */
  get pages(): ReadonlyMap<PageName, string> {
    return new Map(
      [...this.#disk.files].map(([path, text]) => [path.replace('pages/', ''), text] as const),
    );
  }

  /** Changes wait for a while before their pages are named, and pages are made meanwhile. */
  async #step(number: number): Promise<boolean> {
    if (number % 5 === 4 || this.#waiting.size === 0) this.#take();
    this.#expanding ??= this.#nextNames();
    if (this.#expanding !== null && (number % 2 === 0 || this.#waiting.size === 0)) {
      const next = this.#expanding.next();
      if (next.done === true) {
        for (const fanOut of next.value ?? []) this.#fanOuts.add(fanOut);
        this.#expanding = null;
      } else this.#waiting.add(next.value);
      return true;
    }
    const name = this.#nextPage();
    if (name === undefined) return false;
    const { shared, own } = atOnce(this.#gatherer.facts(name, this.#known));
    const results = await this.#writer.make([{ shared, pages: [{ name, own }] }], false);
    if (typeof results[0] !== 'string') throw new Error(`${name}: ${results[0]?.message}`);
    return true;
  }

  #take(): void {
    const before = this.#taken.length;
    this.#taken.push(...this.#changed.take());
    if (this.#taken.length > before) this.#ends = new NamedEnds();
  }

  /** Commits may come between the pages of a batch. */
  #nextPage(): PageName | undefined {
    if (this.#batch.length === 0) {
      this.#batch = [...this.#waiting].slice(-BATCH_SIZE);
      for (const name of this.#batch) this.#waiting.delete(name);
      this.#known = new Map();
    }
    return this.#batch.pop();
  }

  #nextNames(): Iterator<PageName, readonly FanOut[] | undefined> | null {
    const summary = this.#taken.pop();
    if (summary !== undefined) {
      const { pages, fanOuts } = dependentsOf(this.store, summary, this.#ends);
      for (const fanOut of fanOuts) this.#fanOuts.add(fanOut);
      return pages[Symbol.iterator]();
    }
    const fanOut = [...this.#fanOuts].at(-1);
    if (fanOut === undefined) return null;
    this.#fanOuts.delete(fanOut);
    return expand(this.store, fanOut);
  }
}

/** What differs between two folders: missing, orphaned and other pages by name. */
export function differences(
  found: ReadonlyMap<PageName, string>,
  wanted: ReadonlyMap<PageName, string>,
): string[] {
  const names = [...new Set([...found.keys(), ...wanted.keys()])].toSorted();
  return names.flatMap((name) => {
    const [is, shouldBe] = [found.get(name), wanted.get(name)];
    if (is === shouldBe) return [];
    if (is === undefined) return [`${name} is missing`];
    return [shouldBe === undefined ? `${name} is an orphan` : `${name} is stale`];
  });
}

/** Every attribute of a SKU but its name and its references. */
const SKU_FIELDS = {
  caption: '',
  price: 100,
  cost_price: 50,
  market_price: 200,
  stock: 3,
  sales: 0,
  is_launched: true,
  code: null,
} as const;

const SPU_FIELDS = {
  sales: 0,
  comments: 0,
  desc_detail: 'Detail.',
  desc_pack: '',
  desc_service: '',
} as const;

/** A chain of categories. @returns the ids, from the first level on. */
export function addChain(transaction: Transaction, name: string): [number, number, number] {
  const first = add(transaction, 'categories', { name: `${name} 1`, parent_id: null });
  const second = add(transaction, 'categories', { name: `${name} 2`, parent_id: first });
  const third = add(transaction, 'categories', { name: `${name} 3`, parent_id: second });
  return [first, second, third];
}

/** An SPU in the category that ends a chain. */
export function addSpu(
  transaction: Transaction,
  name: string,
  brand: number,
  [category1_id, category2_id, category3_id]: readonly [number, number, number],
): number {
  const references = { brand_id: brand, category1_id, category2_id, category3_id };
  return add(transaction, 'goods', { name, ...references, ...SPU_FIELDS });
}

export function addSku(
  transaction: Transaction,
  name: string,
  spu: number,
  category: number,
): number {
  const references = { goods_id: spu, category_id: category };
  return add(transaction, 'skus', { name, ...references, ...SKU_FIELDS });
}

/** One SPU and its SKUs, each with a record of its only specification. */
export function addShop(transaction: Transaction, skus: number): void {
  const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
  const chain = addChain(transaction, 'Wood');
  const spu = addSpu(transaction, 'Table', brand, chain);
  const spec = add(transaction, 'specs', { name: 'Colour', goods_id: spu });
  const option = add(transaction, 'options', { spec_id: spec, value: 'Brown' });
  for (let number = 1; number <= skus; number += 1) {
    const sku = addSku(transaction, `SKU ${number}`, spu, chain[2]);
    add(transaction, 'sku_specs', { sku_id: sku, spec_id: spec, option_id: option });
  }
}

/** The files of a folder of pages by their paths in it, without what is half-written. */
export function folderOf(data: string): Map<PageName, string> {
  const folder = join(data, 'pages');
  const files = new Map<PageName, string>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    const path = join(entry.parentPath, entry.name);
    // A running server may have removed it meanwhile.
    const bytes = machineDisk.read(path);
    if (bytes !== null) files.set(relative(folder, path), bytes.toString());
  }
  return files;
}

/** What the folder of a data directory should hold. */
export function wantedFolder(data: string): Map<PageName, string> {
  return freshPages(readSnapshot(data), new Site(keptSettings(machineDisk, data)));
}

/** How the folder of a data directory differs from what it should hold. */
export function faultsOf(data: string): string[] {
  return differences(folderOf(data), wantedFolder(data));
}
