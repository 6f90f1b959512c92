/**
 * Makes a release of the commit that is checked out, in `dist/release/<version>/`:
 *
 *     npm run release                             for every platform
 *     npm run release -- --target linux-x64       for one; may be repeated
 *     npm run release -- --outdir DIRECTORY       elsewhere
 *
 * It needs git, npm, GNU tar, zstd and dpkg-deb. docs/releasing.md says what is in it.
 */
import { resolve, join } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../package.json' with { type: 'json' };
import { messageOf } from '../src/errors.ts';
import { cleanCheckout } from '../release/checkout.ts';
import { ROOT } from '../release/paths.ts';
import { makeRelease } from '../release/release.ts';
import { targetsNamed } from '../release/targets.ts';

try {
  const { values } = parseArgs({
    options: { target: { type: 'string', multiple: true }, outdir: { type: 'string' } },
  });
  await makeRelease({
    version,
    targets: targetsNamed(values.target ?? []),
    checkout: cleanCheckout(version),
    directory: resolve(values.outdir ?? join(ROOT, 'dist', 'release', version)),
    runtimes: join(ROOT, 'dist', 'runtimes'),
    report: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  process.stderr.write(`release: ${messageOf(error)}\n`);
  process.exit(1);
}
