/**
 * What workers gain and cost: `bun bench/workers.ts [SKUS] [SECONDS] [WORKERS]`.
 *
 * A server with one worker and one with several take turns, on the same data. The gain shows fully
 * only if wrk has a processor of its own: with two processors it takes a part of the second
 * worker's time, which is smaller for more expensive requests.
 */
import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { requestsPerSecond } from './load.ts';
import {
  build,
  fill,
  inDirectory,
  issueToken,
  median,
  need,
  pagesMade,
  type Running,
  serve,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 4);
const WORKERS = process.argv[4] ?? '2';
const ROUNDS = 5;

const CASES = [
  ['GET any SKU with a token, 64', 'sku', 64],
  ['GET a page of 20 SKUs, 64', 'list', 64],
  ['GET SKUs by keyword, 64', 'keyword', 64],
  ['PUT SKU, 64 connections', 'put', 64],
  ['PUT SKU, 1 connection', 'put', 1],
] as const;

/** MiB of memory of a server and its workers. Memory that they share is counted once. */
function memoryOf({ child: { pid } }: Running): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = [String(pid), ...children.trim().split(' ').filter(Boolean)];
  const parts = pids.map((each) => {
    const rollup = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8');
    return Number(/^Pss: +(\d+)/m.exec(rollup)?.[1]);
  });
  return Math.round(parts.reduce((sum, part) => sum + part, 0) / 1024);
}

async function main(): Promise<void> {
  need('wrk');
  build();
  await inDirectory(async (directory) => {
    const data = join(directory, 'one');
    fill(data, SKUS);
    const token = issueToken(data);
    const one = await serve(data);
    await pagesMade(data, SKUS);
    const copy = join(directory, 'several');
    await cp(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    const several = await serve(copy, '--workers', WORKERS);
    await Bun.sleep(10_000);
    const rate = ({ url }: Running, name: string, connections: number) =>
      requestsPerSecond({
        url,
        token,
        connections,
        seconds: SECONDS,
        script: { name, skus: SKUS },
      });
    process.stdout.write(
      `${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; requests per second, medians\n\n` +
        `${'case'.padEnd(32)}${'1 worker'.padStart(10)}${WORKERS.padStart(10)}${'ratio'.padStart(8)}  range\n`,
    );
    for (const [title, name, connections] of CASES) {
      const rates: { one: number; several: number }[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const alone = await rate(one, name, connections);
        rates.push({ one: alone, several: await rate(several, name, connections) });
      }
      const ratios = rates.map((each) => each.several / each.one);
      const figures = [rates.map((each) => each.one), rates.map((each) => each.several)]
        .map((all) => median(all).toFixed(0).padStart(10))
        .join('');
      const [low, high] = [Math.min(...ratios).toFixed(2), Math.max(...ratios).toFixed(2)];
      process.stdout.write(
        `${title.padEnd(32)}${figures}${median(ratios).toFixed(2).padStart(8)}  ${low}-${high}\n`,
      );
    }
    process.stdout.write(
      `\nmemory afterwards: ${memoryOf(one)} MiB with 1 worker, ${memoryOf(several)} MiB with ${WORKERS}\n`,
    );
  });
}

void main();
