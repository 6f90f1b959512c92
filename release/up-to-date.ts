/** Whether the executable has to be built again. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.ts';

/** What an executable is made of, and how. */
const SOURCES = ['bin', 'data/demo.json', 'package.json', 'release', 'src', 'templates'];

/** @returns whether the executable is there and not older than any of its sources. */
export function isUpToDate(executable: string): boolean {
  if (!existsSync(executable)) return false;
  const built = statSync(executable).mtimeMs;
  return SOURCES.every((path) => newest(join(ROOT, path)) <= built);
}

/** When the newest file below a path was changed, in milliseconds since the epoch. */
function newest(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))));
}
