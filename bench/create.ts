/** Creates files the way pages are: `bun bench/create.ts DIRECTORY FILES BYTES`. Prints seconds. */
import { join } from 'node:path';
import { machineDisk } from '../src/disk/disk.ts';
import { writeVolatile } from '../src/disk/durable-file.ts';

/** As many at the same time as rebuild-pages writes. */
const AT_ONCE = 64;

async function main(directory: string, files: number, bytes: number): Promise<void> {
  const content = Buffer.alloc(bytes, 'x');
  machineDisk.mkdir(directory);
  const started = performance.now();
  for (let first = 1; first <= files; first += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, files - first + 1) }, (_, at) => first + at);
    await Promise.all(
      ids.map((id) => writeVolatile(machineDisk, join(directory, `${id}.html`), content)),
    );
  }
  process.stdout.write(`${(performance.now() - started) / 1000}\n`);
}

const [directory, files, bytes] = process.argv.slice(2);
if (directory === undefined || files === undefined || bytes === undefined) {
  process.stderr.write('usage: bun bench/create.ts DIRECTORY FILES BYTES\n');
  process.exit(2);
}
void main(directory, Number(files), Number(bytes));
