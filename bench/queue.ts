/**
 * What queued pages cost readers: `bun bench/queue.ts [SKUS] [SECONDS]`.
 *
 * All SKUs are of one brand. A client reads SKUs while nothing is queued; then the brand is renamed,
 * which queues the page of every SKU, and the client continues to read.
 */
import { join } from 'node:path';
import { latencyLine, latencyTitle, probe } from './latency.ts';
import { build, fill, inDirectory, issueToken, pagesMade, serve } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 20);
const METRICS_PORT = 9187;

async function queueLength(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  return Number(/^catalog_page_queue_length (\d+)/m.exec(text)?.[1]);
}

void inDirectory(async (directory) => {
  build();
  const data = join(directory, 'data');
  fill(data, SKUS);
  const token = issueToken(data);
  const { url } = await serve(data, '--metrics-port', String(METRICS_PORT));
  await pagesMade(data, SKUS);
  const task = { url, token, skus: SKUS, seconds: SECONDS, methods: ['GET'] } as const;
  const idle = await probe(task);
  await fetch(`${url}/admin/brands/1/`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Another name' }),
  });
  const queued = await probe(task);
  const left = await queueLength();
  process.stdout.write(
    `${SKUS} SKUs; ${left} pages were still queued at the end\n\n${latencyTitle()}` +
      `${latencyLine('GET, nothing queued', idle)}${latencyLine('GET, all pages queued', queued)}`,
  );
});
