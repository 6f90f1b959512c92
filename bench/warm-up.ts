/**
 * How the cost of a request falls after a start: `bun bench/warm-up.ts [SKUS] [SECONDS] [CASE]`.
 *
 * A server that was just started gets the load of one case of requests.lua (`put` by default) over
 * 64 connections. For each of the first windows of so many seconds it prints requests per second,
 * and the CPU time of a request in the thread that serves and in the threads of the compilers. To
 * bind the server to one processor, and the load to another: `SERVERS_ON=1 taskset -c 0 bun …`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestsPerSecond } from './load.ts';
import {
  build,
  cpuSecondsOf,
  fill,
  inDirectory,
  issueToken,
  need,
  pagesMade,
  print,
  serve,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 5);
const CASE = process.argv[4] ?? 'put';
const WINDOWS = 8;
const CONNECTIONS = 64;

/** Seconds of CPU that threads have taken so far, by their number. */
type Cpu = ReadonlyMap<number, number>;

/** Those of the thread that serves, and of the compilers. */
function cpuOf(pid: number): Cpu {
  const threads = `/proc/${pid}/task`;
  const isCompiler = (thread: string) =>
    readFileSync(join(threads, thread, 'comm'), 'utf8').startsWith('JITWorker');
  const counted = readdirSync(threads).filter((each) => Number(each) === pid || isCompiler(each));
  return new Map(counted.map((each) => [Number(each), cpuSecondsOf(join(threads, each, 'stat'))]));
}

/** What the threads have taken between two times; a compiler that has ended since does not count. */
function taken(before: Cpu, after: Cpu, isCounted: (thread: number) => boolean): number {
  const counted = [...after].filter(([thread]) => isCounted(thread));
  return counted.reduce((sum, [thread, cpu]) => sum + cpu - (before.get(thread) ?? 0), 0);
}

function cell(value: string): string {
  return value.padStart(12);
}

void inDirectory(async (directory) => {
  need('wrk');
  build();
  process.env['CATALOG_JWT_SECRET'] = 'a secret of the benchmark, 32 bytes';
  const data = join(directory, 'data');
  fill(data, SKUS);
  const first = await serve(data);
  await pagesMade(data, SKUS);
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  first.child.kill('SIGTERM');
  await ended;
  const { url, child } = await serve(data);
  const token = issueToken(data);
  const script = { name: CASE, skus: SKUS };
  const pid = child.pid ?? Number.NaN;
  print(['seconds', 'per second', 'serving', 'compiling'].map(cell).join(''));
  for (let window = 0; window < WINDOWS; window += 1) {
    const before = cpuOf(pid);
    const rate = await requestsPerSecond({
      url,
      token,
      connections: CONNECTIONS,
      seconds: SECONDS,
      script,
    });
    const after = cpuOf(pid);
    const cost = (isCounted: (thread: number) => boolean) =>
      `${((taken(before, after, isCounted) / (rate * SECONDS)) * 1e6).toFixed(0)} µs`;
    const cells = [
      `to ${(window + 1) * SECONDS}`,
      rate.toFixed(0),
      cost((thread) => thread === pid),
      cost((thread) => thread !== pid),
    ];
    print(cells.map(cell).join(''));
  }
});
