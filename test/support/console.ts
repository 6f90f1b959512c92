/** A console of two files, for what the server does with any. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Asset, ConsoleAssets } from '../../src/console/assets.ts';
import { entityTag } from '../../src/resources/entity-tag.ts';

export const INDEX_HTML =
  '<!doctype html>\n<html lang="en">\n<title>Console</title>\n<script type="module" src="/console/app-3f9c1b2a.js"></script>\n</html>\n';

export const APP_JS = `document.title = '${'Catalog '.repeat(100)}';\n`;

function assetOf(type: string, text: string, immutable: boolean): Asset {
  const bytes = Buffer.from(text);
  return {
    type,
    bytes,
    brotli: brotliCompressSync(bytes),
    gzip: gzipSync(bytes),
    etag: entityTag(bytes),
    immutable,
  };
}

export function smallConsole(): Promise<ConsoleAssets> {
  return Promise.resolve(
    new Map([
      ['index.html', assetOf('text/html; charset=utf-8', INDEX_HTML, false)],
      ['app-3f9c1b2a.js', assetOf('text/javascript; charset=utf-8', APP_JS, true)],
    ]),
  );
}
