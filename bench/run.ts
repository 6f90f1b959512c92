/**
 * Throughput as a ratio to bare node:http in the same run: `bun run bench [SKUS] [SECONDS]`.
 *
 * Load comes from wrk (Debian: `apt-get install wrk`). The machine is shared with it, and noisy:
 * every case alternates between the two servers, and the medians and their ratio are what counts.
 */
import { join } from 'node:path';
import { requestsPerSecond } from './load.ts';
import {
  build,
  EXECUTABLE,
  fill,
  inDirectory,
  issueToken,
  median,
  need,
  pagesMade,
  start,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 4);
const ROUNDS = 5;
const FEW_SKUS = 1000;

/** Runs both in turn and prints one line. */
async function compare(
  title: string,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<void> {
  const rates: { ours: number; peer: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.push({ peer: await peer(), ours: await ours() });
  }
  const [mine, theirs] = [median(rates.map((r) => r.ours)), median(rates.map((r) => r.peer))];
  const ratios = rates.map((r) => r.ours / r.peer);
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  const figures = [mine, theirs].map((rate) => rate.toFixed(0).padStart(9)).join('');
  process.stdout.write(
    `${title.padEnd(34)}${figures}${median(ratios).toFixed(2).padStart(8)}  ${low.toFixed(2)}-${high.toFixed(2)}\n`,
  );
}

async function main(): Promise<void> {
  need('wrk');
  build();
  await inDirectory(async (directory, children) => {
    const serve = async (skus: number) => {
      const data = join(directory, String(skus));
      fill(data, skus);
      const token = issueToken(data);
      const server = await start(EXECUTABLE, 'serve', '--port', '0', '--data', data);
      children.push(server.child);
      await pagesMade(data, skus);
      return (name: string, connections: number) =>
        requestsPerSecond({
          url: server.url,
          token,
          connections,
          seconds: SECONDS,
          script: { name, skus },
        });
    };
    const bareServer = await start(process.execPath, 'bench/bare.ts');
    children.push(bareServer.child);
    const many = await serve(SKUS);
    const bare = (name: string, connections: number) =>
      requestsPerSecond({
        url: bareServer.url,
        token: 'none',
        connections,
        seconds: SECONDS,
        script: { name, skus: SKUS },
      });
    const few = await serve(FEW_SKUS);

    process.stdout.write(
      `${SKUS} SKUs, ${ROUNDS} rounds of ${SECONDS} s; requests per second, medians\n\n` +
        `${'case'.padEnd(34)}${'ours'.padStart(9)}${'peer'.padStart(9)}${'ratio'.padStart(8)}  range\n`,
    );
    for (const [title, name, connections] of [
      ['GET book, 64 connections', 'book', 64],
      ['GET one SKU with a token, 64', 'one', 64],
      ['GET any SKU with a token, 64', 'sku', 64],
      ['GET a page of 20 SKUs, 64', 'list', 64],
      ['GET SKUs by keyword, 64', 'keyword', 64],
      ['PUT SKU, 64', 'put', 64],
      ['PUT SKU, 1 connection', 'put', 1],
    ] as const) {
      await compare(
        `${title}; bare`,
        () => many(name, connections),
        () => bare(name, connections),
      );
    }
    const title = `PUT SKU, 64; ${FEW_SKUS} SKUs`;
    await compare(
      title,
      () => many('put', 64),
      () => few('put', 64),
    );
    await compare(
      `PUT SKU, 1; ${FEW_SKUS} SKUs`,
      () => many('put', 1),
      () => few('put', 1),
    );
  });
}

void main();
