/** A small catalog made over HTTP, for tests that need one of everything. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Reachable, type Received, send } from './client.ts';
import { until } from './until.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Creates one item. @returns the created object. @throws if the response is not 201. */
export async function make(
  server: Reachable,
  path: string,
  body: Fields,
): Promise<Received['json']> {
  const created = await send(server, 'POST', path, { body });
  if (created.status !== 201) throw new Error(`POST ${path}: ${created.status} ${created.text}`);
  return created.json;
}

/** Reads what must exist. @throws if the response is not 200. */
export async function read(server: Reachable, path: string): Promise<Received['json']> {
  const answer = await send(server, 'GET', path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** Ids of a chain of categories from the first level to the third. */
export type Chain = readonly [number, number, number];

export async function makeChain(server: Reachable, name: string): Promise<Chain> {
  const path = '/admin/categories/';
  const first = await make(server, path, { name: `${name} 1` });
  const second = await make(server, path, { name: `${name} 2`, parent_id: first.id });
  const third = await make(server, path, { name: `${name} 3`, parent_id: second.id });
  return [first.id, second.id, third.id];
}

/** One element of `specs`, as requests carry it. */
export type Pair = {
  readonly spec_id: number;
  readonly option_id: number;
};

export interface Catalog {
  readonly brand: number;
  readonly chain: Chain;
  readonly spu: number;
  /** Two options of the SPU's first specification. */
  readonly silver: Pair;
  readonly black: Pair;
  /** An option of its second specification. */
  readonly large: Pair;
  /** A SKU of the SPU, without specification records. */
  readonly sku: number;
}

/** One brand, one chain of categories, one SPU with two specifications, one SKU. */
export async function createCatalog(server: Reachable, name = 'Phone'): Promise<Catalog> {
  const brand = (await make(server, '/admin/brands/', { name: `${name} Works` })).id;
  const chain = await makeChain(server, name);
  const spu = (await make(server, '/admin/goods/', spuFields({ brand, chain }, { name }))).id;
  const colour = (await make(server, '/admin/specs/', { name: 'Colour', spu_id: spu })).id;
  const size = (await make(server, '/admin/specs/', { name: 'Size', spu_id: spu })).id;
  const silver = await makePair(server, colour, 'Silver');
  const black = await makePair(server, colour, 'Black');
  const large = await makePair(server, size, 'Large');
  const sku = (await make(server, '/admin/skus/', skuFields({ spu, chain }))).id;
  return { brand, chain, spu, silver, black, large, sku };
}

export async function makePair(server: Reachable, spec: number, value: string): Promise<Pair> {
  const option = await make(server, '/admin/options/', { value, spec_id: spec });
  return { spec_id: spec, option_id: option.id };
}

/** Every field of an SPU request (spec 1.6). */
export function spuFields(
  { brand, chain }: Pick<Catalog, 'brand' | 'chain'>,
  changes: Fields = {},
): Fields {
  return {
    name: 'Phone',
    brand_id: brand,
    category1_id: chain[0],
    category2_id: chain[1],
    category3_id: chain[2],
    desc_detail: 'All of it.',
    desc_pack: 'A box.',
    desc_service: 'Two years.',
    ...changes,
  };
}

/** Every field of a SKU request (spec 1.7) but `specs`. */
export function skuFields(
  { spu, chain }: Pick<Catalog, 'spu' | 'chain'>,
  changes: Fields = {},
): Fields {
  return {
    name: 'Phone, silver',
    spu_id: spu,
    caption: 'Light',
    category_id: chain[2],
    price: 64900,
    cost_price: 50200,
    market_price: 69900,
    stock: 42,
    is_launched: true,
    ...changes,
  };
}

/** The object without the members named. */
export function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Every file of a data directory but the locks and what is half-written, by its path, in base64. */
export function filesOf(
  directory: string,
  wanted: (path: string) => boolean = () => true,
): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || /lock$|\.tmp$/.test(entry.name)) continue;
    const name = relative(directory, path);
    if (wanted(name)) files[name] = readFileSync(path).toString('base64');
  }
  return files;
}

/** The files of the store, without the pages that are written in the background. */
export function storeFilesOf(directory: string): Readonly<Record<string, string>> {
  return filesOf(directory, (path) => !path.startsWith('pages'));
}

/** Requests a SKU's page until it contains `text`. */
export async function pageWith(server: Reachable, sku: number, text: string): Promise<string> {
  let page = '';
  await until(`page ${sku} says ${text}`, async () => {
    const answer = await send(server, 'GET', `/pages/skus/${sku}.html`, { token: null });
    page = answer.text;
    return answer.status === 200 && page.includes(text);
  });
  return page;
}
