/**
 * What an import costs, and what it costs readers: `bun bench/import.ts [ROWS]`.
 *
 * The store has an SPU for each 20 rows, and a thousand SKUs. A CSV file creates ROWS SKUs with
 * their specifications, and a second one, the export of all, changes the price of each. Meanwhile a
 * client reads SKUs, one request after the other. Pages wait until the import has ended. Memory is
 * the growth from before the import to the peak, including the new rows.
 */
import { join } from 'node:path';
import { latencyLine, latencyTitle, probe } from './latency.ts';
import type { Sample } from './probe.ts';
import { categories, categoriesOf, specificationsOf, spuOf, spusFor } from './shape.ts';
import {
  build,
  cpuSecondsOf,
  fill,
  inDirectory,
  issueToken,
  memoryOf,
  pagesMade,
  type Running,
  serve,
} from './server.ts';

const ROWS = Number(process.argv[2] ?? 100_000);
const SPUS = spusFor(ROWS);
const SKUS = 1000;
const SAMPLE_MS = 50;

interface Report {
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly changed: number;
  readonly errors: readonly unknown[];
}

function created(): string {
  const lines = [
    'name,spu_id,caption,category,price USD,cost_price USD,market_price USD,stock,is_launched,specs,code',
  ];
  const names = new Map(categories().map(({ id, name }) => [id, name]));
  for (let n = 1; n <= ROWS; n += 1) {
    const spu = spuOf(n, SPUS);
    const path = categoriesOf(spu).map((id) => names.get(id));
    const specs = specificationsOf(spu).map(
      ({ name, options }, nth) => `${name}=${options[(n >> nth) % options.length]?.value}`,
    );
    lines.push(
      `Imported SKU ${n},${spu},Made for measuring,${path.join(' > ')},4999.00,3999.00,5499.00,${n % 1000},true,${specs.join('; ')},I-${n}`,
    );
  }
  return `${lines.join('\r\n')}\r\n`;
}

async function measure(
  title: string,
  file: string,
  { url, child }: Running,
  token: string,
): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const { pid } = child;
  const paths = [`/proc/${pid}/stat`, `/proc/${pid}/task/${pid}/stat`];
  const resident = () => memoryOf(child, 'VmRSS');
  const before = { cpu: paths.map(cpuSecondsOf), memory: resident(), at: performance.now() };
  const { headers: accepted } = await fetch(`${url}/admin/skus/imports/`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'text/csv' },
    body: file,
  });
  const samples: Sample[] = [];
  const end = new AbortController();
  const reading = (async () => {
    while (!end.signal.aborted) {
      const task = { url, token, skus: SKUS, seconds: 1, methods: ['GET'] } as const;
      samples.push(...(await probe(task)));
    }
  })();
  let peak = 0;
  let report: Report;
  do {
    await Bun.sleep(SAMPLE_MS);
    peak = Math.max(peak, resident());
    report = (await (
      await fetch(`${url}${accepted.get('location')}`, { headers })
    ).json()) as Report;
  } while (report.state === 'checking' || report.state === 'writing');
  const seconds = (performance.now() - before.at) / 1000;
  const [all = 0, serving = 0] = paths.map(
    (path, at) => cpuSecondsOf(path) - (before.cpu[at] ?? 0),
  );
  end.abort();
  await reading;
  const { state, rows, created: made, changed, errors } = report;
  if (state !== 'done') throw new Error(JSON.stringify(errors[0]));
  process.stdout.write(
    `${title}: ${rows} rows, ${made} created, ${changed} changed in ${seconds.toFixed(1)} s\n` +
      `CPU ${all.toFixed(1)} s, of that ${serving.toFixed(1)} s of the thread that serves; ` +
      `memory ${before.memory.toFixed(0)} MiB, at its peak ${(peak - before.memory).toFixed(0)} MiB more\n` +
      `${latencyTitle()}${latencyLine('GET beside the import', samples)}\n`,
  );
}

void inDirectory(async (directory) => {
  build();
  const data = join(directory, 'data');
  fill(data, SKUS, SPUS);
  const token = issueToken(data);
  const server = await serve(data, '--page-delay', '1h');
  await pagesMade(data, SKUS);
  await measure('creating', created(), server, token);
  await pagesMade(data, SKUS + ROWS);
  const headers = { Authorization: `Bearer ${token}` };
  const exported = await (await fetch(`${server.url}/admin/skus/export/`, { headers })).text();
  await measure('changing', exported.replaceAll(',4999.00,', ',4998.00,'), server, token);
});
