/**
 * Builds `dist/catalog-server`: bundles the console, and compiles everything into one executable
 * that holds its files, compressed.
 *
 *     bun bin/build.ts                  dist/catalog-server
 *     bun bin/build.ts --outfile FILE   this file
 */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BunPlugin } from 'bun';
import type { ConsoleAssets } from '../src/console/assets.ts';
import { bundleConsole } from '../src/console/bundle.ts';

const ROOT = join(import.meta.dir, '..');

const { values } = parseArgs({ options: { outfile: { type: 'string' } } });
const outfile = resolve(values.outfile ?? join(ROOT, 'dist', 'catalog-server'));

/** The slowest and smallest that Brotli has. */
const BEST = 11;

/** The module that stands in the executable for the one that bundles. */
function embedding(assets: ConsoleAssets): string {
  const files = [...assets].map(([path, { bytes, brotli, gzip, ...rest }]) => [
    path,
    { ...rest, ...encoded({ bytes, brotli, gzip }) },
  ]);
  return `
const FILES = ${JSON.stringify(files)};
const decoded = (file) => Object.fromEntries(Object.entries(file).map(([name, value]) =>
  ['bytes', 'brotli', 'gzip'].includes(name) ? [name, Buffer.from(value, 'base64')] : [name, value]));
export async function bundleConsole() {
  return new Map(FILES.map(([path, file]) => [path, decoded(file)]));
}`;
}

function encoded(forms: Readonly<Record<string, Uint8Array | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(forms).flatMap(([name, bytes]) =>
      bytes === undefined ? [] : [[name, Buffer.from(bytes).toString('base64')]],
    ),
  );
}

const contents = embedding(await bundleConsole(BEST));

const embedConsole: BunPlugin = {
  name: 'embed the console',
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]console[/\\]bundle\.ts$/ }, () => ({
      contents,
      loader: 'js',
    }));
  },
};

mkdirSync(dirname(outfile), { recursive: true });
const built = await Bun.build({
  entrypoints: ['bin/catalog-server.ts', 'src/pages/writer/thread.ts'].map((path) =>
    join(ROOT, path),
  ),
  compile: {
    outfile,
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  root: ROOT,
  target: 'bun',
  minify: true,
  bytecode: true,
  plugins: [embedConsole],
  throw: false,
});
for (const line of built.logs) process.stderr.write(`${line.message}\n`);
if (!built.success) process.exit(1);
