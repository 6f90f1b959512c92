/**
 * A server under mixed load for a long time: `bun bench/soak.ts [MINUTES] [SKUS]`, an hour and 10,000
 * SKUs by default. It fails if memory keeps growing, if the tail of the latencies grows too long, if
 * a response is not as expected, or if the store is not in order at the end.
 */
import { join } from 'node:path';
import { latencyLine, latencyTitle, probe } from './latency.ts';
import {
  build,
  EXECUTABLE,
  fill,
  inDirectory,
  issueToken,
  median,
  memoryOf,
  output,
  pagesMade,
  print,
  quantile,
  type Running,
  serve,
} from './server.ts';

const MINUTES = Number(process.argv[2] ?? 60);
const SKUS = Number(process.argv[3] ?? 10_000);

/** Clients besides the one whose latencies are measured; each pauses between its requests. */
const CLIENTS = 6;
const REST_MS = 5;

/** Milliseconds between two commits of many rows. */
const BULK_INTERVAL_MS = 10_000;
const BULK_ROWS = 2000;

/** The number of parts of the run. The first part warms the server up. */
const PARTS = 5;

/** By which resident memory may grow from the second part to the last: a factor, and MiB. */
const MAX_GROWTH = 1.15;
const ALLOWANCE_MIB = 48;

/** Bounds of the measured client's latencies: milliseconds by quantile. */
const MAX_LATENCY_MS = { 0.99: 50, 0.999: 250 } as const;

/** The requests of one client, in turn. It deletes what it creates. */
class Client {
  readonly #url: string;
  readonly #token: string;
  #nth: number;

  constructor({ url }: Running, token: string, index: number) {
    this.#url = url;
    this.#token = token;
    this.#nth = index * 7919;
  }

  async turn(): Promise<void> {
    this.#nth += 1;
    const sku = ((this.#nth * 104_729) % SKUS) + 1;
    const word = `${sku % 97}`;
    await this.send('GET', `/admin/skus/${sku}/`, 200);
    await this.send('PATCH', `/admin/skus/${sku}/`, 200, { stock: this.#nth % 1000 });
    await this.send('GET', `/admin/skus/?limit=100&offset=${sku % 1000}&sortby=price`, 200);
    await this.send('GET', `/admin/skus/?q=${word}`, 200);
    await this.send('GET', `/pages/skus/${sku}.html`, 200);
    await this.send('GET', '/admin/summary/', 200);
    const brand = { name: `Brand ${this.#nth}`, logo: '', first_letter: 'B' };
    const { id } = (await this.send('POST', '/admin/brands/', 201, brand)) as { id: number };
    await this.send('DELETE', `/admin/brands/${id}/`, 204);
  }

  /** Changes many rows in one commit. */
  async bulk(): Promise<void> {
    const stock = Math.floor(performance.now()) % 1000;
    const rows = Array.from({ length: Math.min(BULK_ROWS, SKUS) }, (_, i) => ({
      id: i + 1,
      stock,
    }));
    await this.send('PATCH', '/admin/skus/bulk/', 200, rows);
    await this.send('GET', '/admin/changes/?limit=1', 200);
  }

  async send(method: string, path: string, expected: number, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== expected) {
      throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    }
    return text.startsWith('{') ? JSON.parse(text) : null;
  }
}

/** Keeps every client busy. @returns MiB of resident memory, one figure a second. */
async function work(server: Running, token: string, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1000;
  const memory: number[] = [];
  const busy = async (rest: number, run: () => Promise<void>) => {
    while (performance.now() < end) {
      await run();
      await Bun.sleep(Math.min(rest, Math.max(end - performance.now(), 0)));
    }
  };
  const bulky = new Client(server, token, CLIENTS);
  await Promise.all([
    busy(1000, async () => void memory.push(memoryOf(server.child, 'VmRSS'))),
    busy(BULK_INTERVAL_MS, () => bulky.bulk()),
    ...Array.from({ length: CLIENTS }, (_, index) => {
      const client = new Client(server, token, index);
      return busy(REST_MS, () => client.turn());
    }),
  ]);
  return memory;
}

/** @returns a sentence for each figure that is over its bound. */
function excesses(memory: readonly number[][], latencies: readonly number[]): string[] {
  const [, early = [], ...later] = memory;
  const [before, after] = [median(early), median(later.at(-1) ?? [])];
  const found: string[] = [];
  if (after > before * MAX_GROWTH + ALLOWANCE_MIB) {
    found.push(`memory grew from ${Math.round(before)} to ${Math.round(after)} MiB`);
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  for (const [share, most] of Object.entries(MAX_LATENCY_MS)) {
    const figure = quantile(sorted, Number(share));
    if (figure > most) found.push(`quantile ${share}: ${figure.toFixed(1)} ms of ${most} ms`);
  }
  return found;
}

build();
await inDirectory(async (directory) => {
  const data = join(directory, 'data');
  fill(data, SKUS);
  const server = await serve(data);
  const token = issueToken(data);
  await pagesMade(data, SKUS);
  const seconds = (MINUTES * 60) / PARTS;
  const memory: number[][] = [];
  const latencies: number[] = [];
  print(latencyTitle().trimEnd());
  for (let part = 1; part <= PARTS; part += 1) {
    const methods = ['GET', 'PATCH'] as const;
    const [figures, samples] = await Promise.all([
      work(server, token, seconds),
      probe({ url: server.url, token, skus: SKUS, seconds, methods }),
    ]);
    memory.push(figures);
    for (const { latency } of samples) latencies.push(latency);
    const title = `part ${part}, ${Math.round(median(figures))} MiB`;
    print(latencyLine(title, samples).trimEnd());
  }
  const ended = new Promise((resolve) => server.child.once('exit', resolve));
  server.child.kill('SIGTERM');
  const status = await ended;
  const over = excesses(memory, latencies);
  if (status !== 0) over.push(`the server ended with ${String(status)}`);
  print(output(EXECUTABLE, 'check', '--data', data));
  for (const each of over) print(`over: ${each}`);
  if (over.length > 0) process.exitCode = 1;
});
