/**
 * The templates: those that are built in, and the operator's own, which take the place of those of
 * the same name. They are read and compiled once.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import nunjucks from 'nunjucks';
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
import { CatalogError, messageOf } from '../../errors.ts';
import { type Code, compile } from './template-errors.ts';

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

/** The names that a template may have. */
export const TEMPLATE_NAMES = Object.keys(BUILT_IN);

export class Templates {
  readonly #disk: Disk;
  readonly #directory: string | null;
  readonly #environment: nunjucks.Environment;
  /** The style sheet of all pages. */
  readonly style: string;
  /** Changes with the style sheet, so that no cache puts an old one beside a new page. */
  readonly styleVersion: string;

  /**
   * @param directory of the operator's own; null for none.
   * @throws CatalogError `page_failed` where the directory holds none.
   */
  constructor(disk: Disk, directory: string | null) {
    this.#disk = disk;
    this.#directory = directory;
    if (directory !== null) this.#requireTemplates(directory);
    const loader = { async: false, getSource: (name: string) => this.#compiled(name) };
    this.#environment = new nunjucks.Environment(loader as unknown as nunjucks.ILoader, {
      autoescape: true,
      throwOnUndefined: true,
      trimBlocks: true,
      lstripBlocks: true,
      // Errors come as they were thrown, with their places.
      dev: true,
    });
    this.style = this.#source('style.css').text;
    this.styleVersion = createHash('sha256').update(this.style).digest('hex').slice(0, 8);
  }

  /** @throws CatalogError `page_failed`, with file and line. */
  render(name: string, context: object): string {
    try {
      return this.#environment.render(name, context);
    } catch (cause) {
      throw new CatalogError('page_failed', messageOf(cause), { cause });
    }
  }

  #compiled(name: string): { src: Code; path: string; noCache: boolean } {
    const { text, path } = this.#source(name);
    return { src: compile(this.#environment, text, path), path, noCache: false };
  }

  #source(name: string): { readonly text: string; readonly path: string } {
    const own = this.#directory === null ? null : join(this.#directory, name);
    const bytes = own === null ? null : this.#disk.read(own);
    if (own !== null && bytes !== null) return { text: bytes.toString(), path: own };
    const text = BUILT_IN[name];
    if (text !== undefined) return { text, path: `templates/${name}` };
    throw new Error(`there is no template ${name}`);
  }

  /** A misspelt directory would be overrides that never take effect. */
  #requireTemplates(directory: string): void {
    let names: string[];
    try {
      names = this.#disk.list(directory);
    } catch (cause) {
      throw new CatalogError(
        'page_failed',
        `the templates in ${directory} cannot be read: ${messageOf(cause)}`,
        { cause },
      );
    }
    if (names.some((name) => TEMPLATE_NAMES.includes(name))) return;
    throw new CatalogError(
      'page_failed',
      `${directory} holds no template; the names are ${TEMPLATE_NAMES.join(', ')}`,
    );
  }
}
