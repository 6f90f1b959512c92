/** Creates files as pages are made: `bun bench/create.ts DIRECTORY FILES BYTES`. Prints seconds. */
import { join } from 'node:path';
import { blockingDisk } from '../src/disk/disk.ts';
import { writeVolatile } from '../src/disk/durable-file.ts';

async function main(directory: string, files: number, bytes: number): Promise<void> {
  const content = Buffer.alloc(bytes, 'x');
  blockingDisk.mkdir(directory);
  const started = performance.now();
  for (let id = 1; id <= files; id += 1) {
    await writeVolatile(blockingDisk, join(directory, `${id}.html`), content);
  }
  process.stdout.write(`${(performance.now() - started) / 1000}\n`);
}

const [directory, files, bytes] = process.argv.slice(2);
if (directory === undefined || files === undefined || bytes === undefined) {
  process.stderr.write('usage: bun bench/create.ts DIRECTORY FILES BYTES\n');
  process.exit(2);
}
void main(directory, Number(files), Number(bytes));
