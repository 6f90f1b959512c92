/**
 * Builds `dist/catalog-server` for this platform: bundles the console, and compiles everything into
 * one executable that holds its files, compressed. `bin/release.ts` builds for all platforms.
 *
 *     bun bin/build.ts                  dist/catalog-server
 *     bun bin/build.ts --outfile FILE   this file
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledConsole, compile } from '../release/executable.ts';
import { ROOT } from '../release/paths.ts';

const { values } = parseArgs({ options: { outfile: { type: 'string' } } });
const outfile = resolve(values.outfile ?? join(ROOT, 'dist', 'catalog-server'));
await compile(outfile, await bundledConsole());
