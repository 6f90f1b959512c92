/** Paths without symbolic links, also of what does not exist yet. */
import fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * @param path absolute or relative; it need not exist.
 * @returns the absolute path, with its links resolved as far as it exists.
 */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    const absolute = resolve(path);
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPath(parent), basename(absolute));
  }
}
