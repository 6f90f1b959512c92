import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
process.on('exit', () => {
  for (const directory of made) remove(directory);
});

/** What a test has made read-only holds up everybody but root. */
function remove(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', directory]);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A new empty directory that is removed when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-server-test-'));
  made.push(directory);
  return directory;
}

/** A new directory with these files, by their names. */
export function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}
