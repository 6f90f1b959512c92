/**
 * What a page of a collection costs at any position: `bun bench/pages.ts [SKUS] [SECONDS]`.
 *
 * Each case runs in turn against a large and a small store. The ratio is what counts: it is near 1
 * if the cost of a page depends only on what it shows.
 */
import { join } from 'node:path';
import { requestsPerSecond } from './load.ts';
import { build, fill, inDirectory, issueToken, median, need, pagesMade, serve } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 2);
const FEW_SKUS = 1000;
const ROUNDS = 5;
const CONNECTIONS = 16;
const SIZE = 20;

interface Case {
  readonly title: string;
  /** The query of a store with so many SKUs. */
  readonly search: (skus: number) => string;
}

const page = (skus: number, share: number) => Math.max(1, Math.round((skus / SIZE) * share));
const places = { first: 0, middle: 0.5, last: 1 };
const sorts = {
  'by id': '',
  'by price': '&sortby=price',
  'by SPU, backwards': '&sortby=goods&order=desc',
};

const CASES: readonly Case[] = [
  ...Object.entries(sorts).flatMap(([sort, order]) =>
    Object.entries(places).map(([place, share]) => ({
      title: `${place} page ${sort}`,
      search: (skus: number) => `page=${page(skus, share)}${order}`,
    })),
  ),
  { title: 'of one category', search: () => 'category_id=3&page=2' },
  { title: 'of one category by price', search: () => 'category_id=3&sortby=price&page=2' },
];

void inDirectory(async (directory) => {
  need('wrk');
  build();
  const begin = async (skus: number) => {
    const data = join(directory, String(skus));
    fill(data, skus);
    const token = issueToken(data);
    const { url } = await serve(data);
    await pagesMade(data, skus);
    return (search: string) =>
      requestsPerSecond({
        url: `${url}/admin/skus/?per_page=${SIZE}&${search}`,
        token,
        connections: CONNECTIONS,
        seconds: SECONDS,
      });
  };
  const [many, few] = [await begin(SKUS), await begin(FEW_SKUS)];
  process.stdout.write(
    `pages of ${SIZE} SKUs, requests per second, medians of ${ROUNDS} rounds of ${SECONDS} s\n\n` +
      `${'case'.padEnd(30)}${String(SKUS).padStart(10)}${String(FEW_SKUS).padStart(10)}${'ratio'.padStart(8)}\n`,
  );
  for (const { title, search } of CASES) {
    const rates: { large: number; small: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.push({ large: await many(search(SKUS)), small: await few(search(FEW_SKUS)) });
    }
    const [large, small] = [median(rates.map((r) => r.large)), median(rates.map((r) => r.small))];
    const ratio = median(rates.map((r) => r.large / r.small));
    process.stdout.write(
      `${title.padEnd(30)}${large.toFixed(0).padStart(10)}${small.toFixed(0).padStart(10)}${ratio.toFixed(2).padStart(8)}\n`,
    );
  }
});
