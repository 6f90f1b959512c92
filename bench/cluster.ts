/**
 * What a shared log costs: PUT on one host with `--log` against one without, alternating in one run,
 * and reads of two hosts against one: `bun bench/cluster.ts [SKUS] [SECONDS]`.
 *
 * Needs wrk and etcd (Debian: `apt-get install wrk etcd-server`). Three nodes of etcd, all hosts and
 * the load share the machine and its disk, so the ratios are lower than on separate machines.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { startEtcd } from '../test/support/etcd.ts';
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

const SKUS = Number(process.argv[2] ?? 10_000);
const SECONDS = Number(process.argv[3] ?? 4);
const ROUNDS = 5;
const CONNECTIONS = 64;

/** @returns requests per second. */
const load = (url: string, name: string, token: string): Promise<number> =>
  requestsPerSecond({
    url,
    token,
    connections: CONNECTIONS,
    seconds: SECONDS,
    script: { name, skus: SKUS },
  });

function report(what: string, values: readonly number[], base: readonly number[]): void {
  const ratio = (median(values) / median(base)).toFixed(2);
  const [rate, baseRate] = [Math.round(median(values)), Math.round(median(base))];
  process.stdout.write(`${what}: ${rate}/s, ${ratio} of ${baseRate}/s\n`);
}

need('wrk');
need('etcd');
build();
await inDirectory(async (directory) => {
  const [plain, first, second] = ['plain', 'first', 'second'].map((each) => join(directory, each));
  if (plain === undefined || first === undefined || second === undefined) return;
  fill(plain, SKUS);
  const token = issueToken(plain);
  for (const copy of [first, second]) cpSync(plain, copy, { recursive: true });
  const etcd = await startEtcd();
  const log = ['--log', etcd.url('bench')];
  const begin = async (data: string, ...args: string[]): Promise<Running> => {
    const running = await serve(data, ...args);
    await pagesMade(data, SKUS);
    return running;
  };
  try {
    const alone = await begin(plain);
    const sharing = await begin(first, ...log);
    const [writes, shared]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      writes.push(await load(alone.url, 'put', token));
      shared.push(await load(sharing.url, 'put', token));
    }
    report('PUT with --log', shared, writes);
    const other = await begin(second, ...log);
    const [one, two]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push(await load(sharing.url, 'get', token));
      const both = [load(sharing.url, 'get', token), load(other.url, 'get', token)];
      two.push((await Promise.all(both)).reduce((sum, rate) => sum + rate, 0));
    }
    report('GET of two hosts', two, one);
  } finally {
    await etcd.close();
  }
});
