/**
 * How a read's cost divides into platform and program: `bun bench/floor.ts [SKUS] [SECONDS]`.
 *
 * Four servers take turns: bare node:http that sends a ready body; the same with every header of the
 * program's response; the same again that keeps two promises of the program (bare.ts), with neither
 * a route nor a row; and the program. The figure is the CPU time of a request, of all threads of
 * the server: unlike requests per second it does not depend on what else the machine does meanwhile.
 */
import { join } from 'node:path';
import type { BareResponse } from './bare.ts';
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
const SECONDS = Number(process.argv[3] ?? 3);
const ROUNDS = 7;

/** Title, case of requests.lua, a path of the case, connections. */
const CASES = [
  ['GET a book', 'book', '/books/1/', 64],
  ['GET a SKU with a token', 'sku', '/admin/skus/17/', 64],
  ['GET a page of 20 SKUs', 'list', '/admin/skus/?per_page=20&page=3', 16],
  ['GET SKUs by exact name', 'keyword', '/admin/skus/?keyword=Benchmark%20SKU%2017', 16],
] as const;

/** The costs of a request, and then those of the bare servers divided by that of the program. */
const TITLES = ['bare', 'headers', 'promises', 'ours', '/ ours', '/ ours', '/ ours'];

/** Characters of a column. */
const WIDTH = 10;

/** Headers that node:http sends in any case. */
const OF_THE_PLATFORM = new Set(['connection', 'content-length', 'date', 'keep-alive']);

const cpuOf = ({ child: { pid } }: Running) => cpuSecondsOf(`/proc/${pid}/stat`);

async function responseOf({ url }: Running, path: string, token: string): Promise<BareResponse> {
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const headers = [...response.headers].filter(([name]) => !OF_THE_PLATFORM.has(name));
  return { headers: Object.fromEntries(headers), body: await response.text() };
}

void inDirectory(async (directory) => {
  need('wrk');
  build();
  const data = join(directory, 'data');
  fill(data, SKUS);
  const token = issueToken(data);
  const ours = await serve(data);
  await pagesMade(data, SKUS);
  process.stdout.write(
    `${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; microseconds of CPU a request, medians\n\n` +
      `${'case'.padEnd(28)}${TITLES.map((title) => title.padStart(WIDTH)).join('')}\n`,
  );
  for (const [title, name, path, connections] of CASES) {
    const response = await responseOf(ours, path, token);
    const type = { 'Content-Type': response.headers['content-type'] ?? '' };
    const responses: BareResponse[] = [
      { ...response, headers: type },
      response,
      { ...response, promises: true },
    ];
    const bare: Running[] = [];
    for (const one of responses) {
      bare.push(await start(process.execPath, 'bench/bare.ts', JSON.stringify(one)));
    }
    const servers = [...bare, ours];
    const costs: number[][] = servers.map(() => []);
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [nth, server] of servers.entries()) {
        const before = cpuOf(server);
        const script = { name, skus: SKUS };
        const load = { url: server.url, token, connections, seconds: SECONDS, script };
        const requests = (await requestsPerSecond(load)) * SECONDS;
        if (round > 0) costs[nth]?.push(((cpuOf(server) - before) / requests) * 1e6);
      }
    }
    for (const { child } of bare) child.removeAllListeners('exit').kill('SIGKILL');
    const medians = costs.map((each) => median(each));
    const cost = medians.at(-1) ?? 0;
    const figures = [
      ...medians.map((each) => each.toFixed(1)),
      ...medians.slice(0, -1).map((each) => (each / cost).toFixed(2)),
    ].map((figure) => figure.padStart(WIDTH));
    process.stdout.write(`${`${title}, ${connections}`.padEnd(28)}${figures.join('')}\n`);
  }
});
