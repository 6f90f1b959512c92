/**
 * The limit of the disk: commits a second by one writer that makes each durable as the store does.
 * It writes a temporary file, syncs its data, renames it, and syncs the directory.
 */
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const BYTES = 4096;

/** @returns commits per second. @param directory on the disk in question; it need not exist. */
export function renameCeiling(directory: string, seconds: number): number {
  mkdirSync(directory, { recursive: true });
  const parent = openSync(directory, 'r');
  const content = Buffer.alloc(BYTES, 'w');
  const begun = performance.now();
  let commits = 0;
  while (performance.now() - begun < seconds * 1000) {
    commits += 1;
    const temporary = join(directory, 'temporary');
    const file = openSync(temporary, 'w');
    writeSync(file, content);
    fdatasyncSync(file);
    closeSync(file);
    renameSync(temporary, join(directory, `${commits}.json`));
    fsyncSync(parent);
  }
  const rate = (commits * 1000) / (performance.now() - begun);
  closeSync(parent);
  return rate;
}
