/** Bun for each platform, from the npm registry. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { run } from './command.ts';
import { ROOT } from './paths.ts';
import type { Target } from './targets.ts';

const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({ version: v.optional(v.string()), integrity: v.optional(v.string()) }),
  ),
});

/**
 * Gets Bun for a platform in the version that package-lock.json names. An earlier download is used
 * again. Its digest is checked every time.
 *
 * @param directory where the packages are kept.
 * @returns the path of an executable of that platform.
 * @throws Error if the package is not what the lock file names.
 */
export function runtimeFor(target: Target, directory: string): string {
  const { version, integrity } = lockedPackage(target.runtime);
  const file = join(
    directory,
    `${target.runtime.replace('@', '').replace('/', '-')}-${version}.tgz`,
  );
  mkdirSync(directory, { recursive: true });
  if (!existsSync(file)) {
    const spec = `${target.runtime}@${version}`;
    run('npm', ['pack', spec, '--silent', '--pack-destination', directory], { cwd: ROOT });
  }
  if (digestOf(file) !== integrity) {
    throw new Error(`${file} is not the package that package-lock.json names; remove it`);
  }
  const executable = join(directory, `bun-${version}-${target.name}`);
  writeFileSync(executable, run('tar', ['-xzOf', file, 'package/bin/bun']));
  chmodSync(executable, 0o755);
  return executable;
}

function lockedPackage(name: string): { version: string; integrity: string } {
  const lock = v.parse(Lock, JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (version !== undefined && integrity !== undefined) return { version, integrity };
  throw new Error(`package-lock.json has no ${name} with a digest`);
}

/** In the form of Subresource Integrity, as npm writes it. */
function digestOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}
