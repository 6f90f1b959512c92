/**
 * Runs test files in this process, one after the other, for test/run.ts: they share what takes
 * longest, the modules of the program and the description that every answer is held against.
 *
 *     bun test/batch.ts FILE...
 *
 * Between two files it prints {@link BOUNDARY} and the exit status that the first one alone would
 * have had. The last one decides the exit status of the process.
 */
import { pathToFileURL } from 'node:url';
import { hasFailed, nextFile } from './support/file-hooks.ts';

/** A line that begins so is between two files. */
export const BOUNDARY = '\u0001end of a file: ';

/** Milliseconds in which the last of several files may still fail. */
const LATE_MS = 50;

/** What uvu's own command sets, so that files queue their tests instead of starting them. */
const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: unknown[] };

async function runFiles(files: readonly string[]): Promise<void> {
  uvu.UVU_DEFER = 1;
  uvu.UVU_INDEX = 0;
  const { exec } = await import('uvu');
  const root = process.cwd();
  const urls = files.map((file) => pathToFileURL(file).href);
  for (const [index, url] of urls.entries()) {
    process.chdir(root);
    if (index > 0) {
      const status = hasFailed() ? 1 : (process.exitCode ?? 0);
      process.stdout.write(`\n${BOUNDARY}${status}\n`);
      process.exitCode = 0;
    }
    uvu.UVU_QUEUE = [[null]];
    if (index > 0) nextFile();
    await import(url);
    await exec();
  }
  if (files.length === 1) return;
  // What an earlier file has left open is no reason to wait for ever, but a late failure counts.
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  process.exit();
}

// Not awaited here: a test that never settles would keep the process alive for ever.
if (import.meta.main) void runFiles(process.argv.slice(2));
