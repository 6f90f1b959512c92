/**
 * The sources of the templates: the built-in ones, and the operator's own, which override built-in
 * ones of the same name.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import brand from '../../../templates/brand.njk' with { type: 'text' };
import category from '../../../templates/category.njk' with { type: 'text' };
import front from '../../../templates/front.njk' with { type: 'text' };
import layout from '../../../templates/layout.njk' with { type: 'text' };
import parts from '../../../templates/parts.njk' with { type: 'text' };
import picture from '../../../templates/picture.njk' with { type: 'text' };
import sitemapIndex from '../../../templates/sitemap-index.njk' with { type: 'text' };
import sitemap from '../../../templates/sitemap.njk' with { type: 'text' };
import sku from '../../../templates/sku.njk' with { type: 'text' };
import spu from '../../../templates/spu.njk' with { type: 'text' };
import style from '../../../templates/style.css' with { type: 'text' };
import texts from '../../../templates/texts.njk' with { type: 'text' };
import type { Disk } from '../../disk/disk.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError, messageOf, systemErrorCode } from '../../errors.ts';

/** A compiled binary has no files beside it: the templates are part of it. */
const BUILT_IN: Readonly<Record<string, string>> = {
  'brand.njk': brand,
  'category.njk': category,
  'front.njk': front,
  'layout.njk': layout,
  'parts.njk': parts,
  'picture.njk': picture,
  'sitemap-index.njk': sitemapIndex,
  'sitemap.njk': sitemap,
  'sku.njk': sku,
  'spu.njk': spu,
  'style.css': style,
  'texts.njk': texts,
};

/** Bytes of the operator's directory, all of which is kept in memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The names that a template may have. */
export const TEMPLATE_NAMES = Object.keys(BUILT_IN);

/**
 * Invariant: the sources are those that the digest covers, also if a file is edited later. Otherwise
 * a page could be made with a template that the manifest does not name, and the next start would
 * keep it.
 */
export class TemplateSources {
  readonly #disk: Disk;
  readonly #directory: string | null;
  /** The files of the operator's directory by path. */
  readonly #own = new Map<string, Buffer>();

  /**
   * @param directory of the operator's own; null for none.
   * @throws CatalogError `page_failed` if the directory contains no template, is too large, or has
   *   a file that cannot be read.
   */
  constructor(disk: Disk, directory: string | null) {
    this.#disk = disk;
    this.#directory = directory;
    if (directory === null) return;
    this.#requireTemplates(directory);
    for (const path of this.#filesBelow(directory)) {
      const bytes = readFile(disk, path, 'page_failed');
      if (bytes !== null) this.#own.set(path, bytes);
    }
  }

  /**
   * @returns the source, and the path by which messages name the template; null if there is no
   *   template of the name.
   * @throws Error if it is not UTF-8, except for the style sheet.
   */
  read(name: string): { readonly text: string; readonly path: string } | null {
    const own = join(this.#directory ?? '', name);
    const bytes = this.#own.get(own);
    // The style sheet is UTF-8 too, but pages without it are better than none.
    if (bytes !== undefined && name !== 'style.css' && !isUtf8(bytes)) {
      throw new Error(`${own} is not UTF-8; save it in this encoding`);
    }
    if (bytes !== undefined) return { text: bytes.toString(), path: own };
    const text = BUILT_IN[name];
    return text === undefined ? null : { text, path: `templates/${name}` };
  }

  /** Changes with every file of the operator's directory: a template may include any of them. */
  digest(): string {
    const hash = createHash('sha256').update(JSON.stringify(BUILT_IN));
    for (const [path, bytes] of this.#own) hash.update(`\n${path}\n`).update(bytes);
    return hash.digest('hex');
  }

  *#filesBelow(directory: string): Generator<string> {
    for (const name of this.#disk.list(directory).toSorted()) {
      const path = join(directory, name);
      if (this.#isDirectory(path)) yield* this.#filesBelow(path);
      else yield path;
    }
  }

  #isDirectory(path: string): boolean {
    try {
      this.#disk.list(path);
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'ENOTDIR') return false;
      throw error;
    }
  }

  /**
   * Otherwise, with a misspelt directory, the operator's templates would never take effect, or all
   * files below it would be read.
   *
   * @throws CatalogError `page_failed`.
   */
  #requireTemplates(directory: string): void {
    let names: string[];
    let bytes = 0;
    try {
      names = this.#disk.list(directory);
      for (const path of this.#filesBelow(directory)) {
        bytes += this.#disk.size(path) ?? 0;
        if (bytes > MAX_BYTES) break;
      }
    } catch (cause) {
      throw new CatalogError(
        'page_failed',
        `the templates in ${directory} cannot be read: ${messageOf(cause)}`,
        { cause },
      );
    }
    if (this.#disk.stat(directory) === null) {
      throw new CatalogError(
        'page_failed',
        `there is no directory ${directory}; name that of your templates with --templates`,
      );
    }
    const templates = names.filter((name) => TEMPLATE_NAMES.includes(name));
    // Only these: editors make symbolic links to nothing, with names of their own, as locks.
    for (const path of templates.map((name) => join(directory, name))) {
      if (this.#disk.stat(path) !== null) continue;
      throw new CatalogError(
        'page_failed',
        `${path} is a symbolic link to a file that is missing; put that file back, or remove the link`,
      );
    }
    if (templates.length === 0) {
      throw new CatalogError(
        'page_failed',
        `${directory} holds no template; the names are ${TEMPLATE_NAMES.join(', ')}`,
      );
    }
    if (bytes > MAX_BYTES) {
      throw new CatalogError(
        'page_failed',
        `${directory} holds more than ${MAX_BYTES / 1024 / 1024} MiB; keep only templates in it`,
      );
    }
  }
}
