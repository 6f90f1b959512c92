/**
 * What of a read is the platform, and what the program: `bun bench/floor.ts [SKUS] [SECONDS]`.
 *
 * Three servers take turns: bare node:http that sends a ready body; the same with every header of
 * the program's answer; and the program. The CPU time of a request counts, of all threads of the
 * server: unlike requests per second it does not depend on what else the machine does meanwhile.
 */
import { join } from 'node:path';
import type { BareAnswer } from './bare.ts';
import { requestsPerSecond } from './load.ts';
import {
  build,
  cpuSecondsOf,
  EXECUTABLE,
  fill,
  inDirectory,
  issueToken,
  median,
  need,
  pagesMade,
  type Running,
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

/** Headers that node:http sends in any case. */
const OF_THE_PLATFORM = new Set(['connection', 'content-length', 'date', 'keep-alive']);

const cpuOf = ({ child: { pid } }: Running) => cpuSecondsOf(`/proc/${pid}/stat`);

async function answerOf({ url }: Running, path: string, token: string): Promise<BareAnswer> {
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const headers = [...response.headers].filter(([name]) => !OF_THE_PLATFORM.has(name));
  return { headers: Object.fromEntries(headers), body: await response.text() };
}

void inDirectory(async (directory, children) => {
  need('wrk');
  build();
  const data = join(directory, 'data');
  fill(data, SKUS);
  const token = issueToken(data);
  const begin = async (...command: readonly [string, ...string[]]) => {
    const server = await start(...command);
    children.push(server.child);
    return server;
  };
  const ours = await begin(EXECUTABLE, 'serve', '--port', '0', '--data', data);
  await pagesMade(data, SKUS);
  process.stdout.write(
    `${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; microseconds of CPU a request, medians\n\n` +
      `${'case'.padEnd(28)}${'bare'.padStart(8)}${'headers'.padStart(9)}${'ours'.padStart(8)}${'bare / ours'.padStart(13)}${'headers / ours'.padStart(16)}\n`,
  );
  for (const [title, name, path, connections] of CASES) {
    const answer = await answerOf(ours, path, token);
    const type = { 'Content-Type': answer.headers['content-type'] ?? '' };
    const bare = await begin(
      process.execPath,
      'bench/bare.ts',
      JSON.stringify({ ...answer, headers: type }),
    );
    const withHeaders = await begin(process.execPath, 'bench/bare.ts', JSON.stringify(answer));
    const servers = [bare, withHeaders, ours];
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
    for (const { child } of [bare, withHeaders]) child.removeAllListeners('exit').kill('SIGKILL');
    const [least = 0, floor = 0, cost = 0] = costs.map((each) => median(each));
    const figures = [least.toFixed(1).padStart(8), floor.toFixed(1).padStart(9)];
    figures.push(cost.toFixed(1).padStart(8), (least / cost).toFixed(2).padStart(13));
    figures.push((floor / cost).toFixed(2).padStart(16));
    process.stdout.write(`${`${title}, ${connections}`.padEnd(28)}${figures.join('')}\n`);
  }
});
