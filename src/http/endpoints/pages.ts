/** The folder of pages as it is served: open to everybody, and nothing but the files of a shop. */
import { type Document, DocumentEndpoint } from './documents.ts';

/** A file of the folder, by its path in it; null where there is none. */
export type StaticFiles = (name: string) => Promise<Pick<Document, 'body' | 'modified'> | null>;

/** Its own style sheet and pictures are all that a page may load; it runs no script. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' https: data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = { type: 'text/html; charset=utf-8', policy: POLICY };
const XML = { type: 'application/xml; charset=utf-8' };
const CSS = { type: 'text/css; charset=utf-8' };

/** The paths in the folder, with 0 for every number. */
const FILES: Readonly<Record<string, Pick<Document, 'type' | 'policy'>>> = {
  'index.html': HTML,
  'index/0.html': HTML,
  'categories/0.html': HTML,
  'categories/0/0.html': HTML,
  'goods/0.html': HTML,
  'goods/0/0.html': HTML,
  'skus/0.html': HTML,
  'sitemap.xml': XML,
  'sitemaps/categories-0.xml': XML,
  'sitemaps/goods-0.xml': XML,
  'sitemaps/skus-0.xml': XML,
  'style.css': CSS,
};

export const PAGE_SHAPES: readonly string[] = Object.keys(FILES);

/**
 * @param shape one of {@link PAGE_SHAPES}.
 * @param numbers those of the path in their order, in digits.
 */
export function pageEndpoint(
  files: StaticFiles,
  shape: string,
  numbers: readonly string[],
): DocumentEndpoint {
  const left = [...numbers];
  const name = shape.replaceAll('0', () => left.shift() ?? '');
  const served = FILES[shape] ?? HTML;
  return new DocumentEndpoint(async () => {
    const file = await files(name);
    return file && { ...file, ...served };
  });
}
