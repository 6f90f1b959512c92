/** Makes pages from their facts: the same facts, settings and templates give the same text. */
import type {
  CategoryPageFacts,
  FrontPageFacts,
  PageFacts,
  SitemapFacts,
  SkuPageFacts,
  SpuFacts,
  SpuPageFacts,
} from '../shop/facts.ts';
import { breadcrumbs, type Crumb, scriptJson } from './metadata.ts';
import { FRONT, type PageName, parseName, rootOf, STYLE } from '../shop/names.ts';
import {
  categoryContent,
  frontContent,
  type PageContent,
  type Presentation,
  skuContent,
  spuContent,
} from './presentation.ts';
import { PriceFormat } from './price.ts';
import type { PageSettings } from '../shop/settings.ts';
import type { Templates } from './templates.ts';
import { wordsOf } from './words.ts';

/** A page before it is rendered. */
export interface Prepared {
  readonly template: string;
  readonly context: object;
}

export class Renderer {
  readonly #templates: Templates;
  readonly #settings: PageSettings;
  readonly #presentation: Presentation;
  readonly #direction: Direction;
  #shared: { readonly text: string; readonly facts: SpuFacts | null } | null = null;

  /** @throws RangeError if the currency or the locale is malformed. */
  constructor(templates: Templates, settings: PageSettings) {
    this.#templates = templates;
    this.#settings = settings;
    this.#direction = directionOf(settings.locale);
    this.#presentation = {
      prices: new PriceFormat(settings.currency, settings.locale),
      currency: settings.currency,
      words: wordsOf(settings.locale),
      absolute: (page) => this.#absolute(page),
    };
  }

  /**
   * @param root the prefix of links to other pages; relative to the page if left out.
   * @returns everything that the page is made from; null if there is no such page.
   */
  prepare(facts: PageFacts, root = rootOf(facts.name)): Prepared | null {
    const page = parseName(facts.name);
    if (page === null || facts.own === null) return null;
    if (page.type === 'style') {
      return { template: STYLE, context: { version: this.#templates.styleVersion } };
    }
    const own: unknown = JSON.parse(facts.own);
    const presentation = this.#presentation;
    switch (page.type) {
      case 'sku': {
        const shared = this.#sharedFacts(facts.shared ?? '');
        if (shared === null) return null;
        const content = skuContent(presentation, shared, own as SkuPageFacts);
        return this.#complete(facts.name, root, 'sku.njk', content);
      }
      case 'spu': {
        const content = spuContent(presentation, own as SpuPageFacts, page.part);
        return this.#complete(facts.name, root, 'spu.njk', content);
      }
      case 'category': {
        const content = categoryContent(presentation, own as CategoryPageFacts, page.id, page.part);
        return this.#complete(facts.name, root, 'category.njk', content);
      }
      case 'front': {
        const content = frontContent(own as FrontPageFacts, page.part, this.#settings.shopName);
        return this.#complete(facts.name, root, 'front.njk', content);
      }
      case 'sitemap':
        return this.#sitemap('sitemap-index.njk', own as SitemapFacts);
      case 'sitemap-part':
        return this.#sitemap('sitemap.njk', own as SitemapFacts);
    }
  }

  /**
   * @returns the text of the file.
   * @throws CatalogError `page_failed` from a template, with file and line.
   */
  render({ template, context }: Prepared): string {
    return template === STYLE ? this.#templates.style : this.#templates.render(template, context);
  }

  /**
   * Parses shared facts once, since the pages of an SPU's SKUs come one after the other.
   *
   * @returns null if the SPU, and with it the SKU, was deleted while the facts were gathered.
   */
  #sharedFacts(text: string): SpuFacts | null {
    if (this.#shared?.text !== text) {
      const parsed = JSON.parse(text) as SpuFacts | { readonly spu: null };
      this.#shared = { text, facts: parsed.spu === null ? null : parsed };
    }
    return this.#shared.facts;
  }

  /** Adds what every page has around its content. */
  #complete(name: PageName, root: string, template: string, content: PageContent): Prepared {
    const { shopName, locale, currency, publicUrl } = this.#settings;
    const crumbs: readonly Crumb[] =
      name === FRONT
        ? []
        : [{ name: this.#presentation.words.home, page: FRONT }, ...content.crumbs];
    const metadata: object[] = [...content.metadata];
    if (publicUrl !== null && crumbs.length > 0) {
      metadata.push(
        breadcrumbs([...crumbs, { name: content.title, page: name }], (page) =>
          String(this.#absolute(page)),
        ),
      );
    }
    // The content was made for this page alone; copying it would cost as much as all the rest here.
    const context = Object.assign(content, {
      crumbs,
      shop: { name: shopName, locale, direction: this.#direction, currency },
      root,
      style: `${STYLE}?v=${this.#templates.styleVersion}`,
      canonical: this.#absolute(name),
      jsonLd: metadata.map(scriptJson),
    });
    return { template, context };
  }

  #sitemap(template: string, { pages }: SitemapFacts): Prepared {
    return { template, context: { addresses: pages.map((page) => this.#absolute(page)) } };
  }

  /** The public address of a page, without a file name for the front page; null if unknown. */
  #absolute(name: PageName): string | null {
    const { publicUrl } = this.#settings;
    return publicUrl === null ? null : `${publicUrl}/${name === FRONT ? '' : name}`;
  }
}

/** The direction of text, as the HTML attribute `dir` names it. */
type Direction = 'ltr' | 'rtl';

/** The scripts of today that run from right to left, by their codes in ISO 15924. */
const RIGHT_TO_LEFT = new Set('Adlm Arab Aran Hebr Mand Nkoo Rohg Samr Syrc Thaa'.split(' '));

/**
 * By the script, because `getTextInfo` answers `ltr` for a language of which the engine has no data,
 * such as Dhivehi.
 *
 * @throws RangeError if the locale is malformed.
 */
function directionOf(locale: string): Direction {
  const { script } = new Intl.Locale(locale).maximize();
  return RIGHT_TO_LEFT.has(script ?? '') ? 'rtl' : 'ltr';
}
