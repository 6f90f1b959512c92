/** The console: the files that a browser loads, which need no token (spec 13.1). */
import type { Asset, ConsoleAssets } from '../../console/assets.ts';
import { CatalogError } from '../../errors.ts';
import { entityTag } from '../../resources/entity-tag.ts';
import { header, type HttpRequest, type HttpResponse } from '../message.ts';
import { noBody } from '../operations/body.ts';
import { textContent } from '../operations/content.ts';
import { HTML_CONTENT } from '../operations/document.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import type { PathParameter } from '../operations/parameters.ts';
import { definePath, type Path } from '../operations/path.ts';
import type { Settings } from '../operations/settings.ts';
import type { Validators } from '../operations/validators.ts';
import { chooseCoding, type ContentCoding } from '../rules/content-coding.ts';
import { CONSOLE_TAG } from './tags.ts';

/** Only this server's own files run. `blob:` is for files and pages that the console creates. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

const INDEX = 'index.html';

const HEADERS = [
  'ETag',
  'Content-Security-Policy',
  'Referrer-Policy',
  'Content-Encoding?',
] as const;

/** A segment of the characters of a path (RFC 3986, section 3.3) that does not begin with a dot. */
const SEGMENT = String.raw`[\w~!$&'()*+,;=:@%-][\w.~!$&'()*+,;=:@%-]*`;

const FILE: PathParameter = {
  component: 'consoleFile',
  name: 'path',
  in: 'path',
  description:
    'The path of a file, whose last segment has a dot, or of a view of the console, such as `skus/17`.',
  schema: { type: 'string', pattern: `^${SEGMENT}(?:/${SEGMENT})*/?$` },
  example: 'skus/17',
  pattern: `${SEGMENT}(?:/${SEGMENT})*/?`,
  memorable: false,
};

/** @returns the paths of the console. Its files are opened by the first request for one. */
export function consolePaths({ basePath }: Settings): readonly Path[] {
  const indexOf = indexWithin(basePath);
  return [indexPath(indexOf), filePath(indexOf)];
}

function indexPath(indexOf: FindIndex): Path {
  return definePath({
    template: '/console/',
    catalogFree: true,
    tag: CONSOLE_TAG,
    name: 'Console',
    about: 'the console',
    page: true,
    resolve: async (_, { openConsole }) => indexOf(await openConsole()),
    validators: validatorsFor,
    operations: {
      GET: operation({
        id: 'readConsole',
        summary: 'Open the console',
        description: 'The catalog in a browser. The console uses only the paths of this API.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Console',
            description: 'The document.',
            headers: HEADERS,
            content: HTML_CONTENT,
          },
        },
        failures: [404],
        run: readAsset,
      }),
    },
  });
}

function filePath(indexOf: FindIndex): Path {
  return definePath({
    template: '/console/{path}',
    catalogFree: true,
    parameters: [FILE],
    matchedWhole: true,
    tag: CONSOLE_TAG,
    name: 'ConsoleFile',
    about: 'a file of the console',
    resolve: async (params, { openConsole }) =>
      assetAt(params.text('path'), await openConsole(), indexOf),
    validators: validatorsFor,
    operations: {
      GET: operation({
        id: 'readConsoleFile',
        summary: 'Read a file of the console',
        description:
          'Each view of the console has its own address: every path below `/console/` whose last segment has no dot returns the page of the console.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'ConsoleFile',
            description: 'The document.',
            headers: HEADERS,
            content: textContent('*/*', {
              ConsoleFile: () => ({ summary: 'A file', value: '…' }),
            }),
          },
        },
        run: readAsset,
      }),
    },
  });
}

/** @throws CatalogError `not_found` if the path looks like that of a file, but there is no file. */
function assetAt(path: string, assets: ConsoleAssets, indexOf: FindIndex): Asset {
  const asset = path === INDEX ? undefined : assets.get(path);
  if (asset !== undefined) return asset;
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (path !== INDEX && last.includes('.')) throw notFound();
  return indexOf(assets);
}

/** Finds the page of the console. @throws CatalogError `not_found` if there is no page. */
type FindIndex = (assets: ConsoleAssets) => Asset;

/**
 * Finds the page of the console and prefixes the addresses of its files with the base path.
 *
 * @param basePath "" or a path such as "/api".
 */
function indexWithin(basePath: string): FindIndex {
  const moved = new WeakMap<Asset, Asset>();
  return (assets) => {
    const index = assets.get(INDEX);
    if (index === undefined) throw notFound();
    if (basePath === '') return index;
    let within = moved.get(index);
    if (within === undefined) {
      const text = Buffer.from(index.bytes).toString();
      const bytes = Buffer.from(text.replaceAll('"/console/', `"${basePath}/console/`));
      within = { type: index.type, bytes, etag: entityTag(bytes), immutable: index.immutable };
      moved.set(index, within);
    }
    return within;
  };
}

function notFound(): CatalogError {
  return new CatalogError('not_found', 'there is no such file of the console');
}

/** The form of a file that a request accepts. */
interface Variant {
  readonly coding: ContentCoding | null;
  readonly bytes: Uint8Array;
  /** Each form has its own strong tag (RFC 9110, section 8.8.3.3). */
  readonly etag: string;
}

function variantFor({ bytes, brotli, gzip, etag }: Asset, request: HttpRequest): Variant {
  const forms = { br: brotli, gzip };
  const available = (['br', 'gzip'] as const).filter((coding) => forms[coding] !== undefined);
  const coding = chooseCoding(header(request, 'accept-encoding'), available);
  if (coding === null) return { coding, bytes, etag };
  return { coding, bytes: forms[coding] ?? bytes, etag: etag.replace(/"$/, `-${coding}"`) };
}

/** The caching headers of a response, including a 304. */
function cachingOf({ immutable }: Asset): Record<string, string> {
  return {
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    Vary: 'Accept-Encoding',
  };
}

function validatorsFor(asset: Asset, _: unknown, __: string, request: HttpRequest): Validators {
  return { etag: variantFor(asset, request).etag, caching: cachingOf(asset) };
}

function readAsset({ found: asset, request }: RequestContext<Asset>): HttpResponse {
  const { coding, bytes, etag } = variantFor(asset, request);
  const headers: Record<string, string> = {
    ...cachingOf(asset),
    'Content-Type': asset.type,
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    ETag: etag,
  };
  if (coding !== null) headers['Content-Encoding'] = coding;
  return { status: 200, headers, body: bytes };
}
