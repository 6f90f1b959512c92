/**
 * Compiles the program into one executable. The same source gives the same bytes in every
 * directory, because the executable contains no paths of the machine and no times.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BunPlugin } from 'bun';
import type { ConsoleAssets } from '../src/console/assets.ts';
import { bundleConsole } from '../src/console/bundle.ts';
import { ROOT } from './paths.ts';
import type { TargetName } from './targets.ts';

/**
 * How much higher than usual the engine's thresholds for compiling are, until the program ends its
 * start (src/app/engine/start-policy.ts).
 */
const START_JIT_POLICY = 16;

/** Brotli's highest quality, which is the slowest and gives the smallest files. */
const BROTLI_QUALITY = 11;

/** A platform other than the one that builds. */
export interface Cross {
  readonly target: TargetName;
  /** The path of Bun for that platform. */
  readonly runtime: string;
}

/**
 * Replace values that would contain the directory of the build. The executable does not use them:
 * `src/pages/writer/` reads them only when it runs from source, and pino only for its workers.
 */
const NO_PATHS = {
  __dirname: '"/"',
  'import.meta.dir': '"/"',
  'import.meta.url': '"file:///"',
};

/** Bundles the console with its files compressed; give the result to `compile`. */
export function bundledConsole(): Promise<ConsoleAssets> {
  return bundleConsole(BROTLI_QUALITY);
}

/**
 * @param outfile path of the executable. Its name is part of the bytes.
 * @param assets the files of the console.
 * @param cross null for this platform, and the Bun that runs now.
 * @throws Error with the messages of the compiler.
 */
export async function compile(
  outfile: string,
  assets: ConsoleAssets,
  cross: Cross | null = null,
): Promise<void> {
  const contents = consoleModule(assets);
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
      jitPolicy: START_JIT_POLICY,
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(cross && { target: `bun-${cross.target}`, executablePath: cross.runtime }),
    },
    root: ROOT,
    target: 'bun',
    minify: true,
    bytecode: true,
    // The entry point executes the program again before it loads the rest, and each command loads
    // only its own part, so neither should read all code. Only ESM can be split.
    format: 'esm',
    splitting: true,
    define: NO_PATHS,
    plugins: [embedConsole],
    throw: false,
  });
  if (!built.success) throw new Error(built.logs.map(({ message }) => message).join('\n'));
}

/** The module that replaces src/console/bundle.ts in the executable. */
function consoleModule(assets: ConsoleAssets): string {
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
