/**
 * The files of the console, made from `browser/` by Bun's bundler. From source this happens in
 * process, when the console is first asked for. In the executable `bin/build.ts` puts the finished
 * files in the place of this module.
 */
import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { BunPlugin } from 'bun';
import shopStyle from '../../templates/style.css' with { type: 'text' };
import { CatalogError } from '../errors.ts';
import type { Asset, ConsoleAssets } from './assets.ts';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

/** A file that compresses to more than this share of its size is sent as it is. */
const WORTHWHILE = 0.95;

/** Quality of Brotli, from 0 to 11: a start from source is not to wait for the last per cent. */
const QUICK = 5;

/** Names change with the content, so clients keep the files for ever. */
const NAMING = '[name]-[hash].[ext]';

const DIRECTORY = fileURLToPath(new URL('browser/', import.meta.url));

const shrinkBrotli = promisify(brotliCompress);
const shrinkGzip = promisify(gzip);

/** Where the colours of the shop's style sheet end, and its rules for elements begin. */
const END_OF_COLOURS = '\n* {';

/** The console has the colours of the shop's pages: the first rules of their style sheet. */
const shopColours: BunPlugin = {
  name: "the shop's colours",
  setup(build) {
    build.onResolve({ filter: /^shop-colours\.css$/ }, ({ path }) => ({ path, namespace: 'shop' }));
    build.onLoad({ filter: /./, namespace: 'shop' }, () => ({
      contents: shopStyle.slice(0, shopStyle.indexOf(END_OF_COLOURS)),
      loader: 'css',
    }));
  },
};

/**
 * @param quality of Brotli, from 0 to 11.
 * @throws CatalogError `internal` if the source does not compile.
 */
export async function bundleConsole(quality = QUICK): Promise<ConsoleAssets> {
  const main = await bundle('main.tsx', 'console');
  const parts = partsOf(main);
  const early = await bundle('start/early.ts', 'early', {
    EARLY_FILES: JSON.stringify({ german: parts.german, screens: parts.screens }),
  });
  const files = new Map<string, Uint8Array>();
  for (const { outputs } of [main, early]) {
    for (const output of outputs) {
      files.set(basename(output.path), new Uint8Array(await output.arrayBuffer()));
    }
  }
  files.set('index.html', Buffer.from(pageOf([...files.keys()], parts.main)));
  const assets = await Promise.all(
    [...files].map(async ([path, bytes]) => [path, await assetOf(path, bytes, quality)] as const),
  );
  return new Map(assets);
}

/** @param define constants of the source, as JavaScript. @throws CatalogError `internal`. */
async function bundle(entry: string, name: string, define: Readonly<Record<string, string>> = {}) {
  const built = await Bun.build({
    entrypoints: [join(DIRECTORY, entry)],
    target: 'browser',
    splitting: true,
    minify: true,
    metafile: true,
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    naming: { entry: `${name}-[hash].[ext]`, chunk: NAMING, asset: NAMING },
    plugins: [shopColours],
    throw: false,
  });
  if (!built.success) throw new CatalogError('internal', built.logs.map(String).join('\n'));
  return built;
}

/** Files of the console that are loaded together, by what needs them. */
interface Parts {
  /** Everything that a list needs. */
  readonly main: readonly string[];
  /** What the texts in German need besides. */
  readonly german: readonly string[];
  /** What the other screens need besides. */
  readonly screens: readonly string[];
}

function partsOf({ metafile }: Bun.BuildOutput): Parts {
  const outputs = new Map(
    Object.entries(metafile?.outputs ?? {}).map(([path, output]) => [basename(path), output]),
  );
  /** A file, and what it imports at once, without what is there already. */
  const closure = (name: string, known: readonly string[]): readonly string[] => {
    if (known.includes(name)) return [];
    const found = [name];
    for (const { path, kind } of outputs.get(name)?.imports ?? []) {
      if (kind !== 'import-statement') continue;
      found.push(...closure(basename(path), [...known, ...found]));
    }
    return found;
  };
  const entryOf = (source: string) =>
    [...outputs].find(([, { entryPoint }]) => entryPoint?.endsWith(source))?.[0] ?? '';
  const main = closure(entryOf('main.tsx'), []);
  return {
    main,
    german: closure(entryOf('messages/de.ts'), main),
    screens: closure(entryOf('more-screens.ts'), main),
  };
}

/**
 * The page that loads the console; the server puts its base path before `"/console/`.
 *
 * @param names of all files.
 * @param script the one that starts the console.
 * @param parts what it imports. They are asked for together, which saves a round trip.
 */
function pageOf(names: readonly string[], [script, ...parts]: readonly string[]): string {
  const early = names.find((name) => /^early-\w+\.js$/.test(name));
  const style = names.find((name) => name.endsWith('.css'));
  const preloads = parts.map((name) => `<link rel="modulepreload" href="/console/${name}">\n`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Catalog</title>
<link rel="icon" href="data:,">
<script type="module" async src="/console/${early}"></script>
<link rel="stylesheet" href="/console/${style}">
${preloads.join('')}<script type="module" src="/console/${script}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}

async function assetOf(path: string, bytes: Uint8Array, quality: number): Promise<Asset> {
  const [brotli, zipped] = await Promise.all([
    shrinkBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    shrinkGzip(bytes),
  ]);
  const limit = bytes.length * WORTHWHILE;
  const ending = path.slice(path.lastIndexOf('.') + 1);
  return {
    type: TYPES[ending] ?? 'application/octet-stream',
    bytes,
    ...(brotli.length < limit && { brotli }),
    ...(zipped.length < limit && { gzip: zipped }),
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`,
    immutable: path !== 'index.html',
  };
}
