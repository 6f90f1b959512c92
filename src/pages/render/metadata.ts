/** What a page declares to search engines and link previews: JSON-LD (schema.org). */

/** A page above another one, for its breadcrumbs. */
export interface Crumb {
  readonly name: string;
  /** Path below the folder of pages. */
  readonly page: string;
}

interface Offered {
  /** The shop's article number, or the id if there is none. */
  readonly sku: string;
  readonly name: string;
  readonly description: string;
  readonly brand: string | null;
  /** Names from the first level down. */
  readonly category: readonly string[];
  readonly offer: {
    /** A decimal number of the currency. */
    readonly price: string;
    readonly currency: string;
    readonly inStock: boolean;
  };
  /** Absolute; null if the public address is not known. */
  readonly url: string | null;
}

/** A Product with its Offer (https://schema.org/Product). */
export function product({ sku, name, description, brand, category, offer, url }: Offered): object {
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    sku,
    ...(description !== '' && { description }),
    ...(category.length > 0 && { category: category.join(' > ') }),
    ...(brand !== null && { brand: { '@type': 'Brand', name: brand } }),
    ...(url !== null && { url }),
    offers: {
      '@type': 'Offer',
      price: offer.price,
      priceCurrency: offer.currency,
      availability: `https://schema.org/${offer.inStock ? 'InStock' : 'OutOfStock'}`,
      ...(url !== null && { url }),
    },
  };
}

/** A BreadcrumbList (https://schema.org/BreadcrumbList), which requires absolute addresses. */
export function breadcrumbs(crumbs: readonly Crumb[], absolute: (page: string) => string): object {
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: crumbs.map(({ name, page }, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      item: absolute(page),
    })),
  };
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON that is safe inside `<script>`: nothing in it can end the element or begin a comment. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (mark) => ESCAPES[mark] ?? mark);
}
