/**
 * The names of pages: paths below the folder of pages, as links use them.
 * A list of many rows is cut into parts: `categories/4.html`, `categories/4/2.html` and so on.
 */
import type { KindName } from '../../model/kind.ts';

/** Rows on one part of a list. */
export const PART_SIZE = 48;

/** Ids whose pages one file of the sitemap lists; the protocol allows 50,000 addresses. */
export const SITEMAP_PART = 1000;

/** The kinds whose rows have pages. */
export const SHOWN_KINDS = ['skus', 'goods', 'categories'] as const satisfies readonly KindName[];

export type ShownKind = (typeof SHOWN_KINDS)[number];

/** The path of a file below the folder of pages, such as `skus/7.html`. */
export type PageName = string;

export type Page =
  | { readonly type: 'sku'; readonly id: number }
  | { readonly type: 'spu' | 'category'; readonly id: number; readonly part: number }
  | { readonly type: 'front'; readonly part: number }
  | { readonly type: 'sitemap' }
  | { readonly type: 'sitemap-part'; readonly of: ShownKind; readonly part: number }
  | { readonly type: 'style' };

export const STYLE: PageName = 'style.css';
export const SITEMAP: PageName = 'sitemap.xml';
export const FRONT: PageName = 'index.html';

/** The only page of a SKU: it has no parts. */
export function skuPage(id: number): PageName {
  return `skus/${id}.html`;
}

/** The kinds whose pages are lists; the folders of these pages. */
export type ListFolder = Exclude<ShownKind, 'skus'>;

/** @param part from 1. */
export function listPage(folder: ListFolder, id: number, part = 1): PageName {
  return part === 1 ? `${folder}/${id}.html` : `${folder}/${id}/${part}.html`;
}

/** @param part from 1. */
export function frontPage(part: number): PageName {
  return part === 1 ? FRONT : `index/${part}.html`;
}

/**
 * In the same folder as the index: a sitemap may list only addresses below the folder that it is in
 * (https://www.sitemaps.org/protocol.html#location).
 *
 * @param part from 1: ids from 1 on, then those from {@link SITEMAP_PART} + 1 on.
 */
export function sitemapPage(of: ShownKind, part: number): PageName {
  return `sitemap-${of}-${part}.xml`;
}

/** The file of the sitemap that lists a row. */
export function sitemapOf(of: ShownKind, id: number): PageName {
  return sitemapPage(of, Math.ceil(id / SITEMAP_PART));
}

const NAME =
  /^(?:(?<folder>goods|categories)\/(?<id>N)(?:\/(?<part>M))?\.html|index(?:\/(?<front>M))?\.html|(?<sitemap>sitemap)\.xml|sitemap-(?<of>skus|goods|categories)-(?<number>N)\.xml|(?<style>style)\.css)$/;

/** Each number has one spelling, and the first part of a list has no number. */
const PATTERN = new RegExp(
  NAME.source.replaceAll('N', '[1-9]\\d{0,15}').replaceAll('M', '(?!1\\b)[1-9]\\d{0,8}'),
);

/** Nearly all names are of this form, and a pattern with one group is fast. */
const SKU = /^skus\/([1-9]\d{0,15})\.html$/;

/** Whether a name is that of the page of a SKU, rather than of one that lists several rows. */
export function isSkuPage(name: PageName): boolean {
  return name.startsWith('skus/');
}

/** The page of a name; null if no page can have it. */
export function parseName(name: PageName): Page | null {
  const id = SKU.exec(name)?.[1];
  return id === undefined ? parseOther(name) : { type: 'sku', id: Number(id) };
}

function parseOther(name: PageName): Page | null {
  const found = PATTERN.exec(name)?.groups;
  if (found === undefined) return null;
  const { folder, id, part, front, sitemap, of, number, style } = found;
  if (folder !== undefined) {
    const type = folder === 'goods' ? 'spu' : 'category';
    return { type, id: Number(id), part: Number(part ?? 1) };
  }
  if (of !== undefined) return { type: 'sitemap-part', of: of as ShownKind, part: Number(number) };
  if (sitemap !== undefined) return { type: 'sitemap' };
  if (style !== undefined) return { type: 'style' };
  return { type: 'front', part: Number(front ?? 1) };
}

/** The relative path from a page to the folder of pages: "", "../" or "../../". */
export function rootOf(name: PageName): string {
  return '../'.repeat(name.split('/').length - 1);
}
