/** What the server calls a kind, and what the console calls it: one, and several. */
export const KINDS: Readonly<Record<string, string>> = {
  book: 'Buch',
  books: 'Bücher',
  brand: 'Marke',
  brands: 'Marken',
  category: 'Kategorie',
  categories: 'Kategorien',
  SPU: 'SPU',
  SPUs: 'SPUs',
  SKU: 'SKU',
  SKUs: 'SKUs',
  specification: 'Merkmal',
  specifications: 'Merkmale',
  option: 'Ausprägung',
  options: 'Ausprägungen',
  'specification record': 'Merkmal',
  'specification records': 'Merkmale',
};
