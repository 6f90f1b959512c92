import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './directory.ts';

export const MIB = 2 ** 20;

/** A new file of which every MiB has another content. */
export function fileOf(bytes: number): { readonly path: string; readonly content: Buffer } {
  const path = join(temporaryDirectory(), 'file');
  const content = Buffer.alloc(bytes);
  for (let start = 0; start < bytes; start += MIB) content.fill(start / MIB + 1, start);
  writeFileSync(path, content);
  return { path, content };
}
