/**
 * What an import costs, and what it costs readers: `bun bench/import.ts [ROWS]`.
 *
 * The store has an SPU for each 20 rows, and a thousand SKUs. A CSV file creates ROWS SKUs with
 * their specifications, and a second one, the export of all, changes the price of each. Meanwhile a
 * client reads SKUs, one request after the other. Pages wait until the import has ended. Memory is
 * the growth from before the import to the peak, including the new rows.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { latencyLine, latencyTitle, probe } from './latency.ts';
import type { Sample } from './probe.ts';
import { categories, categoriesOf, specificationsOf, spuOf, spusFor } from './shape.ts';
import {
  build,
  cpuSecondsOf,
  EXECUTABLE,
  fill,
  inDirectory,
  issueToken,
  pagesMade,
  start,
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

/** MiB. */
function residentOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
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
  { url, pid, token }: { readonly url: string; readonly pid: number; readonly token: string },
): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const paths = [`/proc/${pid}/stat`, `/proc/${pid}/task/${pid}/stat`];
  const before = { cpu: paths.map(cpuSecondsOf), memory: residentOf(pid), at: performance.now() };
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
    peak = Math.max(peak, residentOf(pid));
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

void inDirectory(async (directory, children) => {
  build();
  const data = join(directory, 'data');
  fill(data, SKUS, SPUS);
  const token = issueToken(data);
  const flags = ['--port', '0', '--page-delay', '1h'];
  const { url, child } = await start(EXECUTABLE, 'serve', ...flags, '--data', data);
  children.push(child);
  await pagesMade(data, SKUS);
  const server = { url, pid: child.pid ?? 0, token };
  await measure('creating', created(), server);
  await pagesMade(data, SKUS + ROWS);
  const headers = { Authorization: `Bearer ${token}` };
  const exported = await (await fetch(`${url}/admin/skus/export/`, { headers })).text();
  await measure('changing', exported.replaceAll(',4999.00,', ',4998.00,'), server);
});
