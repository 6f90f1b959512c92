/**
 * How fast `rebuild-pages` is: `bun bench/rebuild.ts [SKUS]`.
 *
 * The ceiling is a process that only creates as many files of the same size in the same way. Both
 * write into empty folders, in turn, and the ratio is what counts.
 */
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, EXECUTABLE, fill, inDirectory, median, output } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 3;

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

function show(title: string, perSecond: number, more = ''): void {
  process.stdout.write(`${title.padEnd(34)}${perSecond.toFixed(0).padStart(8)} files/s${more}\n`);
}

void inDirectory(async (directory) => {
  build();
  const data = join(directory, 'data');
  const pages = join(data, 'pages');
  fill(data, SKUS);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    // Removing a hundred thousand files would continue in the background while the next are written.
    if (round > 1) renameSync(pages, join(directory, `pages-${round}`));
    const said = output(EXECUTABLE, 'rebuild-pages', '--data', data);
    const [, count, took] = /^(\d+) pages written.* in ([\d.]+) s$/m.exec(said) ?? [];
    const rate = Number(count) / Number(took);
    const size = Math.round(statSync(join(pages, 'skus', '1.html')).size);
    const files = filesBelow(pages).length;
    const target = join(directory, `created-${round}`);
    const seconds = output(
      process.execPath,
      'bench/create.ts',
      target,
      String(files),
      String(size),
    );
    const ceiling = files / Number(seconds);
    ratios.push(rate / ceiling);
    show(`create ${files} files of ${size} bytes`, ceiling);
    show('rebuild-pages, all', rate, `  ratio ${(rate / ceiling).toFixed(2)}`);
    const checked = output(EXECUTABLE, 'rebuild-pages', '--stale', '--data', data);
    const [, same, wait] = /(\d+) unchanged.* in ([\d.]+) s$/m.exec(checked) ?? [];
    show('rebuild-pages --stale, none is', Number(same) / Number(wait));
  }
  process.stdout.write(`median ratio of rebuild-pages to creating: ${median(ratios).toFixed(2)}\n`);
});
