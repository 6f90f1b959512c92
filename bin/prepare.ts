/**
 * Runs before `npm start`: builds the executable unless it is newer than every source, and
 * creates the store with the demo catalog unless there is one.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release/paths.ts';
import { isUpToDate } from '../release/up-to-date.ts';
import { DATA_FILES } from '../src/data-files.ts';

const EXECUTABLE = join(ROOT, 'dist', 'catalog-server');

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!isUpToDate(EXECUTABLE)) run(process.execPath, 'run', 'build');
const data = process.env['CATALOG_DATA'] || join(ROOT, 'data');
if (!existsSync(join(data, DATA_FILES.base))) run(EXECUTABLE, 'migrate', '--demo', '--data', data);
