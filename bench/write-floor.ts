/**
 * How a write's cost divides into platform and program:
 * `bun bench/write-floor.ts [SKUS] [SECONDS]`.
 *
 * Three servers take turns: node:http over the program's own durable write and nothing else
 * (bare-writer.ts), the program while the benchmark holds the lock of its pages, so that it makes
 * none, and the program as it is. It prints requests per second and the CPU time of a request, of all threads of the server. To
 * bind the servers to one processor, and the load to another: `SERVERS_ON=1 taskset -c 0 bun …`.
 */
import { join } from 'node:path';
import { FileLock } from '../src/disk/lock.ts';
import { pagesLockPath } from '../src/pages/refresh/pages-lock.ts';
import { renameCeiling } from './ceiling.ts';
import { requestsPerSecond } from './load.ts';
import {
  build,
  cpuSecondsOf,
  fill,
  inDirectory,
  issueToken,
  median,
  need,
  pagesMade,
  type Running,
  serve,
  start,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 4);
const ROUNDS = 3;

/** Seconds of load before a server counts as warm. */
const WARM_UP = 5;

/** Title, case of requests.lua, connections. */
const CASES = [
  ['PUT a SKU', 'put', 1],
  ['PUT a SKU', 'put', 64],
  ['POST a book', 'post', 64],
] as const;

const cpuOf = ({ child: { pid } }: Running) => cpuSecondsOf(`/proc/${pid}/stat`);

void inDirectory(async (directory) => {
  need('wrk');
  build();
  process.env['CATALOG_JWT_SECRET'] = 'a secret of the benchmark, 32 bytes';
  const begin = async (name: string) => {
    const data = join(directory, name);
    fill(data, SKUS);
    const server = await serve(data);
    await pagesMade(data, SKUS);
    return server;
  };
  const ours = await begin('ours');
  const token = issueToken(join(directory, 'ours'));
  const withoutPages = await begin('without-pages');
  new FileLock(pagesLockPath(join(directory, 'without-pages'))).lock();
  const bare = await start(process.execPath, 'bench/bare-writer.ts', join(directory, 'bare'));
  const servers = [bare, withoutPages, ours];
  const run = (server: Running, name: string, connections: number, seconds: number) => {
    const script = { name, skus: SKUS };
    return requestsPerSecond({ url: server.url, token, connections, seconds, script });
  };
  for (const server of servers) await run(server, 'put', 64, WARM_UP);
  process.stdout.write(
    `${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; requests per second and microseconds of CPU each, medians\n\n` +
      `${'case'.padEnd(20)}${['bare writer', 'no pages', 'ours'].map((title) => title.padStart(18)).join('')}\n`,
  );
  for (const [title, name, connections] of CASES) {
    const figures: { rate: number[]; cost: number[] }[] = servers.map(() => ({
      rate: [],
      cost: [],
    }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [nth, server] of servers.entries()) {
        const before = cpuOf(server);
        const rate = await run(server, name, connections, SECONDS);
        figures[nth]?.rate.push(rate);
        figures[nth]?.cost.push(((cpuOf(server) - before) / (rate * SECONDS)) * 1e6);
      }
    }
    const cells = figures.map(({ rate, cost }) =>
      `${median(rate).toFixed(0)} ${median(cost).toFixed(0).padStart(6)} µs`.padStart(18),
    );
    process.stdout.write(`${`${title}, ${connections}`.padEnd(20)}${cells.join('')}\n`);
  }
  const ceiling = renameCeiling(join(directory, 'ceiling'), SECONDS);
  process.stdout.write(`\ncommits of the disk by rename: ${ceiling.toFixed(0)} per second\n`);
});
