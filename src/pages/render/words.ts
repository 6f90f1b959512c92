/** The words of the built-in templates, in the language of the pages. */

const EN = {
  skip: 'Skip to content',
  home: 'Home',
  breadcrumb: 'Breadcrumb',
  empty: 'Nothing here yet.',
  pages: 'Pages',
  previous: 'Previous',
  next: 'Next',
  page: 'Page',
  by: 'by',
  inStock: 'in stock',
  outOfStock: 'Out of stock',
  offSale: 'Off sale',
  marketPrice: 'Market price',
  chosen: 'This one:',
  unavailable: 'unavailable',
  specification: 'Specification',
  details: 'Details',
  pack: 'In the box',
  service: 'After-sales service',
  versions: 'All versions',
  noVersions: 'Nothing to choose from yet.',
};

export type Words = Readonly<typeof EN>;

const DE: Words = {
  skip: 'Zum Inhalt springen',
  home: 'Startseite',
  breadcrumb: 'Sie sind hier',
  empty: 'Hier gibt es noch nichts.',
  pages: 'Seiten',
  previous: 'Zurück',
  next: 'Weiter',
  page: 'Seite',
  by: 'von',
  inStock: 'auf Lager',
  outOfStock: 'Nicht auf Lager',
  offSale: 'Nicht im Verkauf',
  marketPrice: 'Vergleichspreis',
  chosen: 'Diese Ausführung:',
  unavailable: 'nicht verfügbar',
  specification: 'Merkmale',
  details: 'Beschreibung',
  pack: 'Lieferumfang',
  service: 'Kundendienst',
  versions: 'Alle Ausführungen',
  noVersions: 'Noch keine Ausführungen.',
};

/** By the primary language of a locale (BCP 47). */
const LANGUAGES: Readonly<Record<string, Words>> = { en: EN, de: DE };

/**
 * @param locale of the pages, BCP 47.
 * @returns the words in its language; in English if the program does not have that language.
 * @throws RangeError if the locale is malformed.
 */
export function wordsOf(locale: string): Words {
  return LANGUAGES[new Intl.Locale(locale).language] ?? EN;
}
