/**
 * The shape of the data of the benchmarks, as a shop has it: 20 SKUs an SPU; two specifications an
 * SPU, with four options each; 10 categories of the first level, 60 of the second, 300 of the third.
 * Ids count from 1, and the contents of a row follow from its id.
 */

export const SKUS_AN_SPU = 20;
export const BOOKS = 1000;

/** How many categories each level has, the first one first. */
const LEVELS = [10, 60, 300] as const;

/** The specifications of an SPU, with their options. */
const SPECIFICATIONS = [
  { name: 'Colour', options: ['Silver', 'Black', 'Blue', 'Red'] },
  { name: 'Size', options: ['S', 'M', 'L', 'XL'] },
] as const;

const OPTIONS = SPECIFICATIONS[0].options.length;

export interface Category {
  readonly id: number;
  readonly name: string;
  readonly parent: number | null;
}

/** Every category; parents before their children. */
export function categories(): Category[] {
  const all: Category[] = [];
  let above: readonly Category[] = [];
  for (const count of LEVELS) {
    const parents = above;
    above = Array.from({ length: count }, (_, nth) => {
      const id = all.length + nth + 1;
      return { id, name: `Category ${id}`, parent: parents[nth % parents.length]?.id ?? null };
    });
    all.push(...above);
  }
  return all;
}

/** The ids of the categories of an SPU, the first level first. */
export function categoriesOf(spu: number): readonly [number, number, number] {
  const [first, second, third] = LEVELS;
  const nth = (spu - 1) % third;
  return [(nth % first) + 1, first + (nth % second) + 1, first + second + nth + 1];
}

export function spusFor(skus: number): number {
  return Math.ceil(skus / SKUS_AN_SPU);
}

/** The SPU of a SKU. */
export function spuOf(sku: number, spus: number): number {
  return ((sku - 1) % spus) + 1;
}

export interface Specification {
  readonly id: number;
  readonly name: string;
  readonly options: readonly { readonly id: number; readonly value: string }[];
}

export function specificationsOf(spu: number): Specification[] {
  return SPECIFICATIONS.map(({ name, options }, nth) => {
    const id = (spu - 1) * SPECIFICATIONS.length + nth + 1;
    const first = (id - 1) * OPTIONS + 1;
    return { id, name, options: options.map((value, at) => ({ id: first + at, value })) };
  });
}

export interface Choice {
  readonly spec: number;
  readonly option: number;
}

/** The options that a SKU has for the specifications of its SPU. */
export function choicesOf(sku: number, spu: number): Choice[] {
  return specificationsOf(spu).map(({ id, options }, nth) => {
    const option = options[(sku >> nth) % OPTIONS];
    return { spec: id, option: option?.id ?? 0 };
  });
}

/** Minor units: spread over the SKUs, so that a list by price is not a list by id. */
export function priceOf(sku: number): number {
  return ((sku * 7919) % 899_000) + 1000;
}

export const nameOf = (sku: number) => `Benchmark SKU ${sku}`;
export const spuName = (spu: number) => `Benchmark SPU ${spu}`;
