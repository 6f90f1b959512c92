/**
 * Runs test files in this process, one after the other, for test/run.ts: they share what takes
 * longest, the modules of the program and the description that every answer is held against.
 *
 *     echo test/http/books.test.ts | bun test/batch.ts
 *
 * The names come by standard input, one in a line. When a file is over, this prints
 * {@link BOUNDARY} and the exit status that the file alone would have had, and only then reads the
 * next name.
 */
import { readSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { configureGlobal } from 'fast-check';
import { endOfFiles, hasFailed, nextFile } from './support/file-hooks.ts';

/** A line that begins so is at the end of a file. */
export const BOUNDARY = '\u0001end of a file: ';

/** Milliseconds in which the last of several files may still fail. */
const LATE_MS = 50;

/** What uvu's own command sets, so that files queue their tests instead of starting them. */
const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: unknown[] };

// Otherwise properties get at most ten elements of an array, whatever `maxLength` says.
configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

const STANDARD_INPUT = 0;

/**
 * The lines of standard input, each read when it is asked for. While tests run nothing waits for
 * the next one, so that a test that never settles ends the process.
 */
function* linesOfInput(): Generator<string> {
  const chunk = Buffer.alloc(4096);
  let text = '';
  for (;;) {
    const end = text.indexOf('\n');
    if (end >= 0) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
      continue;
    }
    const length = readSync(STANDARD_INPUT, chunk);
    if (length === 0) return;
    text += chunk.toString('utf8', 0, length);
  }
}

/**
 * Writes a text to standard output, and returns once it and all before it have left. What a pipe
 * does not take at once is kept by the process: it would wait for ever behind {@link linesOfInput},
 * which blocks, and be lost at the end.
 */
export function say(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

async function runFiles(files: Iterable<string>): Promise<void> {
  uvu.UVU_DEFER = 1;
  uvu.UVU_INDEX = 0;
  const { exec } = await import('uvu');
  const root = process.cwd();
  let count = 0;
  for (const file of files) {
    process.chdir(root);
    process.exitCode = 0;
    uvu.UVU_QUEUE = [[null]];
    if (count > 0) nextFile();
    count += 1;
    await import(pathToFileURL(file).href);
    await exec();
    const status = hasFailed() ? 1 : (process.exitCode ?? 0);
    await say(`\n${BOUNDARY}${status}\n`);
  }
  await endOfFiles();
  if (count === 1) return;
  // What an earlier file has left open is no reason to wait for ever, but a late failure counts.
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  process.exit();
}

// Not awaited here: a test that never settles would keep the process alive for ever.
if (import.meta.main) void runFiles(linesOfInput());
