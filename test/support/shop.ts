/** Pages of a store in memory, followed from change to change as the queue does it. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { machineDisk } from '../../src/disk/disk.ts';
import { refresh } from '../../src/pages/refresh/builds.ts';
import { affectedBy, type FanOut, pagesOf } from '../../src/pages/refresh/dependents.ts';
import { PageFiles } from '../../src/pages/refresh/files.ts';
import type { PageName } from '../../src/pages/shop/names.ts';
import {
  DEFAULT_SETTINGS,
  keptSettings,
  type PageSettings,
} from '../../src/pages/shop/settings.ts';
import { Site } from '../../src/pages/shop/site.ts';
import { Templates } from '../../src/pages/shop/templates.ts';
import type { Transaction } from '../../src/store/draft.ts';
import type { Change } from '../../src/model/change.ts';
import type { ReadableStore } from '../../src/store/state.ts';
import { readSnapshot } from '../../src/store/store.ts';
import { memoryDisk } from './memory-disk.ts';
import { add, MemoryStore } from './memory-store.ts';

const SETTINGS: PageSettings = {
  ...DEFAULT_SETTINGS,
  publicUrl: 'https://shop.example/pages',
};

export function siteOf(settings: Partial<PageSettings> = {}): Site {
  const all = { ...SETTINGS, ...settings };
  return new Site(new Templates(machineDisk, all.templates), all);
}

/** Every page that there should be, by name, from nothing but the store. */
export function freshPages(store: ReadableStore, site = siteOf()): Map<PageName, string> {
  const pages = new Map<PageName, string>();
  for (const name of site.all(store)) {
    const text = site.render(store, name);
    if (text === null) throw new Error(`${name} is one of all pages, and is none`);
    if (pages.has(name)) throw new Error(`${name} is named twice`);
    if (!site.has(store, name)) throw new Error(`${name} is one of all pages that there is not`);
    pages.set(name, text);
  }
  if (pages.size !== site.count(store)) throw new Error('the count is another');
  return pages;
}

/** A folder of pages that follows a store. */
export class Shop {
  readonly store: MemoryStore;
  readonly #site = siteOf();
  readonly #disk = memoryDisk();
  readonly #files = new PageFiles(this.#disk.disk, '');
  readonly #waiting = new Set<PageName>();
  readonly #fans = new Set<FanOut>();
  #spreading: Iterator<PageName> | null = null;

  /** With the pages of the current state of the store. */
  constructor(store: MemoryStore) {
    this.store = store;
    for (const [name, text] of freshPages(store)) this.#disk.files.set(`pages/${name}`, text);
  }

  /** See {@link MemoryStore.commit}. */
  commit(...[transactions, refused]: Parameters<MemoryStore['commit']>): void {
    this.follow(this.store.commit(transactions, refused));
  }

  follow(changes: readonly Change[]): void {
    for (const change of changes) {
      const { pages, fans } = affectedBy(this.store, change);
      for (const name of pages) this.#waiting.add(name);
      for (const fan of fans) this.#fans.add(fan);
    }
  }

  /** Does some of what waits, of the newest first: no order is promised. */
  async work(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      if (!(await this.#step(step % 2 === 0))) return;
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

  async #step(naming: boolean): Promise<boolean> {
    this.#spreading ??= this.#nextFan();
    if (this.#spreading !== null && (naming || this.#waiting.size === 0)) {
      const next = this.#spreading.next();
      if (next.done === true) this.#spreading = null;
      else this.#waiting.add(next.value);
      return true;
    }
    const name = [...this.#waiting].at(-1);
    if (name === undefined) return false;
    this.#waiting.delete(name);
    await refresh(this.#site, this.store, this.#files, name, false);
    return true;
  }

  #nextFan(): Iterator<PageName> | null {
    const fan = [...this.#fans].at(-1);
    if (fan === undefined) return null;
    this.#fans.delete(fan);
    return pagesOf(this.store, fan);
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
  return freshPages(readSnapshot(data), siteOf(keptSettings(machineDisk, data)));
}

/** How the folder of a data directory differs from what it should hold. */
export function faultsOf(data: string): string[] {
  return differences(folderOf(data), wantedFolder(data));
}
