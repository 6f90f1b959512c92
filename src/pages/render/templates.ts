/** The templates, each compiled once, at its first use. */
import { hash } from 'node:crypto';
import nunjucks from 'nunjucks';
import { CatalogError, messageOf } from '../../errors.ts';
import type { Root } from 'nunjucks/src/nodes.js';
import { checkBlocks } from './blocks.ts';
import { beginSteps, boundFilters, range } from './steps.ts';
import { type Code, compile, parse } from './template-errors.ts';
import type { TemplateSources } from './template-sources.ts';
import type { Words } from './words.ts';

/**
 * Control characters and noncharacters that HTML allows in no document, not even as character
 * references (https://html.spec.whatwg.org/multipage/parsing.html#parse-errors). Names may contain
 * them, and so may descriptions, where they can also come from a reference such as `&#1;`.
 */
const FORBIDDEN = /(?![\t\n\f\r])[\p{Cc}\p{NChar}]/gu;

export class Templates {
  readonly #sources: TemplateSources;
  readonly #environment: nunjucks.Environment;
  /** The style sheet of all pages. */
  readonly style: string;
  /** Changes with the style sheet, so that no cache combines an old one with a new page. */
  readonly styleVersion: string;

  /** @param words that all templates get, also inside macros. */
  constructor(sources: TemplateSources, words: Words) {
    this.#sources = sources;
    const loader = { async: false, getSource: (name: string) => this.#compiled(name) };
    this.#environment = new nunjucks.Environment(loader as unknown as nunjucks.ILoader, {
      autoescape: true,
      throwOnUndefined: true,
      // Errors are thrown unchanged, with their places.
      dev: true,
    });
    this.#environment.addGlobal('words', words);
    this.#environment.addGlobal('range', range);
    boundFilters(this.#environment);
    this.style = sources.read('style.css')?.text ?? '';
    this.styleVersion = hash('sha256', this.style, 'hex').slice(0, 8);
  }

  /**
   * @returns the text, with U+FFFD in place of every {@link FORBIDDEN} code point.
   * @throws CatalogError `page_failed`, with file and line.
   */
  render(name: string, context: object): string {
    try {
      beginSteps();
      return this.#environment.render(name, context).replace(FORBIDDEN, '\uFFFD');
    } catch (cause) {
      throw new CatalogError('page_failed', messageOf(cause), { cause });
    }
  }

  /** @returns null if there is no such template: an include may say that it can be missing. */
  #compiled(name: string): { src: Code; path: string; noCache: boolean } | null {
    const found = this.#parsed(name);
    if (found === null) return null;
    const { root, path } = found;
    const check = (template: Root): void =>
      checkBlocks(template, (extended) => this.#parsed(extended)?.root ?? null);
    return { src: compile(root, path, check), path, noCache: false };
  }

  #parsed(name: string): { root: Root; path: string } | null {
    const found = this.#sources.read(name);
    if (found === null) return null;
    const { text, path } = found;
    // Editors of Windows put a byte order mark first. A browser would end the head of a page at it.
    return { root: parse(text.replace(/^\uFEFF/, ''), path), path };
  }
}
