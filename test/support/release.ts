/** The files that `npm run release` has made, for the tests that try them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { ROOT } from './paths.ts';

export const RELEASE = join(ROOT, 'dist', 'release', version);

/** Tells why a test of a release is skipped; null if it can run. */
export function missingFor(file: string, programs: readonly string[] = []): string | null {
  if (!existsSync(join(RELEASE, file))) return 'run `npm run release` first';
  const missing = programs.filter((program) => Bun.which(program) === null);
  return missing.length === 0 ? null : `there is no ${missing.join(', ')} here`;
}

/** @returns the folder that the archive of a target holds, unpacked in a directory. */
export function unpack(target: string, directory: string): string {
  const folder = `catalog-server-${version}-${target}`;
  succeed('tar', ['--zstd', '-xf', join(RELEASE, `${folder}.tar.zst`), '-C', directory]);
  return join(directory, folder);
}

/**
 * @returns standard output.
 * @throws Error with standard error if the program failed.
 */
export function succeed(command: string, args: readonly string[], cwd?: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}
