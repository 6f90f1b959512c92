/**
 * What size costs: `bun bench/size.ts [SKUS...]`, 10,000, 100,000 and 1,000,000 without arguments.
 *
 * Start is the time from the start of the process to its first response. Memory is resident memory,
 * at the first response (with its peak until then) and when the work of the start is done.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, EXECUTABLE, fillAtRest, inDirectory, memoryOf, output, serve } from './server.ts';

const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1e4, 1e5, 1e6];

/** Seconds of rest after which memory counts as settled. */
const SETTLED = 20;

const seconds = (since: number) => (performance.now() - since) / 1000;
const column = (value: number, digits = 0) => value.toFixed(digits).padStart(12);

async function measure(directory: string, skus: number): Promise<string> {
  mkdirSync(directory);
  const data = fillAtRest(directory, skus);
  const begun = performance.now();
  const { url, child } = await serve(data);
  const { status } = await fetch(`${url}/books/1/`);
  if (status !== 200) throw new Error(`GET /books/1/: ${status}`);
  const started = seconds(begun);
  const [first, peak] = [memoryOf(child, 'VmRSS'), memoryOf(child, 'VmHWM')];
  await Bun.sleep(SETTLED * 1000);
  const settled = memoryOf(child, 'VmRSS');
  child.kill('SIGKILL');
  const checking = performance.now();
  output(EXECUTABLE, 'check', '--data', data);
  const checked = seconds(checking);
  const base = statSync(join(data, 'catalog.json')).size / 2 ** 20;
  return [
    String(skus).padStart(9),
    column(base),
    column(started, 2),
    column(first),
    column(peak),
    column(settled),
    column(checked, 2),
  ].join('');
}

void inDirectory(async (directory) => {
  build();
  const titles = ['base MiB', 'start s', 'first MiB', 'peak MiB', 'rest MiB', 'check s'];
  process.stdout.write(`     SKUs${titles.map((title) => title.padStart(12)).join('')}\n`);
  for (const skus of SIZES) {
    process.stdout.write(`${await measure(join(directory, String(skus)), skus)}\n`);
  }
});
