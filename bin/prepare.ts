/**
 * Runs before `npm start`: builds the executable unless it is newer than every source, and
 * creates the store with the demo catalog unless there is one.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const EXECUTABLE = join(ROOT, 'dist', 'catalog-server');
const SOURCES = ['bin', 'data/demo.json', 'package.json', 'src', 'templates'];

/** When the newest file below a path was changed, in milliseconds since the epoch. */
function newest(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))));
}

function isBuilt(): boolean {
  if (!existsSync(EXECUTABLE)) return false;
  const built = statSync(EXECUTABLE).mtimeMs;
  return SOURCES.every((path) => newest(join(ROOT, path)) <= built);
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!isBuilt()) run(process.execPath, 'run', 'build');
const data = process.env['CATALOG_DATA'] || join(ROOT, 'data');
if (!existsSync(join(data, 'catalog.json'))) run(EXECUTABLE, 'migrate', '--demo', '--data', data);
