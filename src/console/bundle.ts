/**
 * The files of the console, made from `browser/` by Bun's bundler. From source this happens in
 * process, when the console is first asked for. In the executable `bin/build.ts` puts the finished
 * files in the place of this module.
 */
import { createHash } from 'node:crypto';
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
  const directory = fileURLToPath(new URL('browser/', import.meta.url));
  const built = await Bun.build({
    entrypoints: [join(directory, 'main.tsx')],
    target: 'browser',
    splitting: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: 'console-[hash].[ext]', chunk: NAMING, asset: NAMING },
    plugins: [shopColours],
    throw: false,
  });
  if (!built.success) throw new CatalogError('internal', built.logs.map(String).join('\n'));
  const files = new Map<string, Uint8Array>();
  for (const output of built.outputs) {
    files.set(basename(output.path), new Uint8Array(await output.arrayBuffer()));
  }
  files.set('index.html', Buffer.from(pageOf([...files.keys()])));
  const assets = await Promise.all(
    [...files].map(async ([path, bytes]) => [path, await assetOf(path, bytes, quality)] as const),
  );
  return new Map(assets);
}

/** The page that loads the console; the server puts its base path before `"/console/`. */
function pageOf(names: readonly string[]): string {
  const script = names.find((name) => /^console-\w+\.js$/.test(name));
  const style = names.find((name) => name.endsWith('.css'));
  // The parts that the script needs are asked for together with it, which saves a round trip.
  const parts = names
    .filter((name) => /^main-\w+\.js$/.test(name))
    .map((name) => `<link rel="modulepreload" href="/console/${name}">\n`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Catalog</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/${style}">
${parts.join('')}<script type="module" src="/console/${script}"></script>
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
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
    immutable: path !== 'index.html',
  };
}
