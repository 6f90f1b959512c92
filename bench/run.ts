/**
 * Throughput, compared with two peers and the limit of the disk: `bun run bench [SKUS] [SECONDS]`.
 *
 * The peers are bare node:http, which stores nothing (bare.ts), and Bun.serve over SQLite
 * (sqlite.ts). Load comes from wrk (Debian: `apt-get install wrk`). It shares the machine, which is
 * noisy, so the servers take turns in every case: medians and their ratios are what counts. To bind
 * the servers to one processor, and the load to another: `SERVERS_ON=1 taskset -c 0 bun run bench`.
 */
import { join } from 'node:path';
import { renameCeiling } from './ceiling.ts';
import { requestsPerSecond } from './load.ts';
import {
  build,
  EXECUTABLE,
  fillAtRest,
  inDirectory,
  issueToken,
  median,
  memoryOf,
  need,
  pagesMade,
  print,
  type Running,
  start,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 4);
const ROUNDS = 3;
const STARTS = 5;

/** Seconds of load before a server counts as warm. */
const WARM_UP = 5;

/** Title, case of requests.lua, connections. Reads come first: writes leave work behind. */
const CASES = [
  ['GET a book', 'book', 64],
  ['GET a SKU with a token', 'sku', 64],
  ['GET a page of 20 SKUs', 'list', 16],
  ['GET SKUs by exact name', 'keyword', 16],
  ['GET a page sorted by price', 'sorted', 16],
  ['95 % GET, 5 % PUT', 'mixed', 64],
  ['POST a book', 'post', 64],
  ['PUT a SKU', 'put', 64],
  ['PUT a SKU, one connection', 'put', 1],
] as const;

/** A program and its arguments. */
type Command = readonly [string, ...string[]];

type Rate = (name: string, connections: number, seconds?: number) => Promise<number>;

const rateOf =
  ({ url }: Running, token: string): Rate =>
  (name, connections, seconds = SECONDS) =>
    requestsPerSecond({ url, token, connections, seconds, script: { name, skus: SKUS } });

const cell = (value: number, digits = 0) => value.toFixed(digits).padStart(10);

async function compare(
  [title, name, connections]: (typeof CASES)[number],
  servers: readonly Rate[],
): Promise<number> {
  const rates: number[][] = servers.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [nth, rate] of servers.entries()) rates[nth]?.push(await rate(name, connections));
  }
  const [ours = 0, bare = 0, sqlite = 0] = rates.map((each) => median(each));
  const figures = [ours, bare, sqlite].map((rate) => cell(rate)).join('');
  print(
    `${`${title}, ${connections}`.padEnd(32)}${figures}${cell(ours / bare, 2)}${cell(ours / sqlite, 2)}`,
  );
  return ours;
}

const peakOf = ({ child }: Running) => memoryOf(child, 'VmHWM').toFixed(0);

async function end({ child }: Running): Promise<void> {
  const ended = new Promise((resolve) => child.removeAllListeners('exit').once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Milliseconds from the start of a process to its first response, medians of starts in turns. */
async function startTimes(commands: readonly Command[], token: string): Promise<number[]> {
  const times = commands.map((): number[] => []);
  for (let round = 0; round < STARTS; round += 1) {
    for (const [nth, command] of commands.entries()) {
      const begun = performance.now();
      const server = await start(...command);
      const headers = { Authorization: `Bearer ${token}` };
      const { status } = await fetch(`${server.url}/admin/skus/1/`, { headers });
      if (status !== 200) throw new Error(`the first answer is ${status}`);
      times[nth]?.push(performance.now() - begun);
      await end(server);
    }
  }
  return times.map(median);
}

async function main(): Promise<void> {
  need('wrk');
  build();
  await inDirectory(async (directory) => {
    const data = fillAtRest(directory, SKUS);
    const secret = 'a secret of the benchmark, 32 bytes';
    process.env['CATALOG_JWT_SECRET'] = secret;
    const token = issueToken(data);
    const catalog: Command = [EXECUTABLE, 'serve', '--port', '0', '--data', data];
    const tuned: Command = [process.execPath, 'bench/sqlite.ts', directory, String(SKUS), secret];
    for (const command of [catalog, tuned]) {
      const server = await start(...command);
      if (command === catalog) await pagesMade(data, SKUS);
      await end(server);
    }
    const times = await startTimes([catalog, tuned], token);
    const ours = await start(...catalog);
    const bare = await start(process.execPath, 'bench/bare.ts');
    const sqlite = await start(...tuned);
    const servers = [ours, bare, sqlite].map((server) => rateOf(server, token));
    for (const rate of servers) await rate('sku', 64, WARM_UP);
    print(`${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; requests per second, medians\n`);
    const titles = ['ours', 'bare', 'SQLite', '/ bare', '/ SQLite'];
    print(`${'case, connections'.padEnd(32)}${titles.map((each) => each.padStart(10)).join('')}`);
    let alone = 0;
    for (const each of CASES) alone = await compare(each, servers);
    const ceiling = renameCeiling(join(directory, 'ceiling'), SECONDS);
    print(
      `\ncommits of the disk by rename: ${ceiling.toFixed(0)}; PUT, 1: ${(alone / ceiling).toFixed(2)} of it`,
    );
    const [first = 0, second = 0] = times;
    print(`start to the first answer: ${first.toFixed(0)} ms, SQLite ${second.toFixed(0)} ms`);
    print(`peak of memory: ${peakOf(ours)} MiB, SQLite ${peakOf(sqlite)} MiB`);
  });
}

void main();
