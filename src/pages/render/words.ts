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

const ES: Words = {
  skip: 'Ir al contenido',
  home: 'Inicio',
  breadcrumb: 'Ruta de navegación',
  empty: 'Aquí todavía no hay nada.',
  pages: 'Páginas',
  previous: 'Anterior',
  next: 'Siguiente',
  page: 'Página',
  by: 'de',
  inStock: 'en stock',
  outOfStock: 'Agotado',
  offSale: 'No está a la venta',
  marketPrice: 'Precio de referencia',
  chosen: 'Esta versión:',
  unavailable: 'no disponible',
  specification: 'Características',
  details: 'Descripción',
  pack: 'Contenido de la caja',
  service: 'Servicio posventa',
  versions: 'Todas las versiones',
  noVersions: 'Todavía no hay versiones.',
};

const FR: Words = {
  skip: 'Aller au contenu',
  home: 'Accueil',
  breadcrumb: 'Fil d’Ariane',
  empty: 'Il n’y a encore rien ici.',
  pages: 'Pages',
  previous: 'Précédente',
  next: 'Suivante',
  page: 'Page',
  by: 'par',
  inStock: 'en stock',
  outOfStock: 'En rupture de stock',
  offSale: 'Non disponible à la vente',
  marketPrice: 'Prix de référence',
  chosen: 'Cette version\u00a0:',
  unavailable: 'non disponible',
  specification: 'Caractéristiques',
  details: 'Description',
  pack: 'Contenu de la boîte',
  service: 'Service après-vente',
  versions: 'Toutes les versions',
  noVersions: 'Aucune version pour le moment.',
};

const IT: Words = {
  skip: 'Vai al contenuto',
  home: 'Home',
  breadcrumb: 'Percorso di navigazione',
  empty: 'Qui non c’è ancora nulla.',
  pages: 'Pagine',
  previous: 'Precedente',
  next: 'Successiva',
  page: 'Pagina',
  by: 'di',
  inStock: 'in magazzino',
  outOfStock: 'Esaurito',
  offSale: 'Non in vendita',
  marketPrice: 'Prezzo di riferimento',
  chosen: 'Questa versione:',
  unavailable: 'non disponibile',
  specification: 'Caratteristiche',
  details: 'Descrizione',
  pack: 'Contenuto della confezione',
  service: 'Assistenza post-vendita',
  versions: 'Tutte le versioni',
  noVersions: 'Ancora nessuna versione.',
};

const NL: Words = {
  skip: 'Naar de inhoud',
  home: 'Home',
  breadcrumb: 'Kruimelpad',
  empty: 'Hier is nog niets.',
  pages: 'Pagina’s',
  previous: 'Vorige',
  next: 'Volgende',
  page: 'Pagina',
  by: 'van',
  inStock: 'op voorraad',
  outOfStock: 'Niet op voorraad',
  offSale: 'Niet te koop',
  marketPrice: 'Vergelijkingsprijs',
  chosen: 'Deze uitvoering:',
  unavailable: 'niet beschikbaar',
  specification: 'Kenmerken',
  details: 'Beschrijving',
  pack: 'Inhoud van de verpakking',
  service: 'Klantenservice',
  versions: 'Alle uitvoeringen',
  noVersions: 'Nog geen uitvoeringen.',
};

/** By the primary language of a locale (BCP 47). */
const LANGUAGES: Readonly<Record<string, Words>> = {
  en: EN,
  de: DE,
  es: ES,
  fr: FR,
  it: IT,
  nl: NL,
};

/**
 * @param locale of the pages, BCP 47.
 * @returns the words in its language; in English if the program does not have that language.
 * @throws RangeError if the locale is malformed.
 */
export function wordsOf(locale: string): Words {
  return LANGUAGES[new Intl.Locale(locale).language] ?? EN;
}
