/**
 * Refusals of the server in German. The API words them in English, for programs as well, so they
 * are recognised by their text: one that is not known stays as it is.
 */
import { attributesDe } from '../messages/attributes-de.ts';

/** What the server calls a kind, and what the console calls it: one, and several. */
const KINDS: Readonly<Record<string, string>> = {
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
  'specification records': 'Merkmale',
};

/** `$k1` is the kind that the first group names. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^is required$/, 'muss angegeben werden'],
  [/^is required, because/, 'muss angegeben werden, weil die Zeile einen neuen Eintrag anlegt'],
  [/^must not be empty$/, 'darf nicht leer sein'],
  [/^must not be empty or only/, 'darf nicht leer sein oder nur aus Leerraum bestehen'],
  [/^must not begin or end with/, 'darf nicht mit Leerraum beginnen oder enden'],
  [/^must be at most (\d+) c/, 'darf höchstens $1 Zeichen lang sein'],
  [/^must have at least (\d+) c/, 'muss mindestens $1 Zeichen haben'],
  [/^must be (\d+) or more$/, 'muss $1 oder mehr sein'],
  [/^must be true or false$/, 'muss „true“ oder „false“ sein'],
  [/^must be a whole number in digits$/, 'muss eine ganze Zahl aus Ziffern sein'],
  [/^must be an id in digits, or empty$/, 'muss eine ID aus Ziffern sein, oder leer'],
  [/^must be a date that exists/, 'muss ein Datum sein, das es gibt, in der Form JJJJ-MM-TT'],
  [
    /^must be an amount in (\w+):/,
    'muss ein Betrag in $1 sein: Ziffern, und ein Punkt vor den Nachkommastellen',
  ],
  [/^must have three levels$/, 'muss drei Ebenen haben'],
  [/^there is no (\w+) (.+)$/s, '$k1 $2 gibt es nicht'],
  [/^(\w+) (\d+(?:, \d+)*) have this name; give the id$/, '$k1 $2 heißen so; geben Sie die ID an'],
  [/^(.+) is in the file twice$/s, '$1 steht zweimal in der Datei'],
  [/^occurs twice$/, 'kommt zweimal vor'],
  [/^is in (\w+), but prices are in (\w+)$/, 'ist in $1, die Preise sind aber in $2'],
  [/^is not a column; the columns are (.+)$/s, 'ist keine Spalte; die Spalten sind $1'],
  [/^has (\d+) cells, but the header has (\d+)$/, 'hat $1 Zellen, die Kopfzeile aber $2'],
  [/^(.+) is the code of SKU (\d+)$/s, '$1 ist schon die Artikelnummer der SKU $2'],
  [/^(\d+) does not exist$/, 'den Eintrag $1 gibt es nicht'],
  [/^category (\d+) is not a third-level/, 'Kategorie $1 ist nicht auf der dritten Ebene'],
  [/^category (\d+) is not a first-level/, 'Kategorie $1 ist nicht auf der ersten Ebene'],
  [/^category (\d+) is not a child of category (\d+)$/, 'Kategorie $1 steht nicht unter $2'],
  [
    /^under category (\d+) it would be on a fourth level or below itself$/,
    'unter Kategorie $1 wäre sie auf einer vierten Ebene oder unter sich selbst',
  ],
  [
    /^specification (\d+) does not belong to SPU (\d+) of SKU (\d+)$/,
    'Merkmal $1 gehört nicht zur SPU $2 der SKU $3',
  ],
  [
    /^option (\d+) does not belong to specification (\d+)$/,
    'Ausprägung $1 gehört nicht zum Merkmal $2',
  ],
  [/^(\w+) (\d+) would have more than (\d+) ([\w ]+)$/, '$k1 $2 hätte mehr als $3 $k4'],
  [/^is the name of another user$/, 'so heißt schon ein anderer Benutzer'],
  [
    /^(.+) is the last active user with the role admin;/,
    '$1 ist der letzte aktive Verwalter; geben Sie die Rolle zuerst einem anderen Benutzer',
  ],
];

const REFERRED = /^\w+ \d+ is referred to (by the .+)$/s;

/** One of the attributes by which rows refer to a row. */
const REFERRERS = /^by the \w+ of (?:[\w ]+ of )?(\w+) (\d+(?:, \d+)*)( and others)?$/;

/** The attribute before a refusal, perhaps after the number of an element. */
const ATTRIBUTE = /^(?:\d+\.)?(\w+)(?: of (\w+) (\d+))?: (.+)$/s;

/** @param text of the server, for a request or for one attribute. @returns null if it is not known. */
export function refusalDe(text: string): string | null {
  const bare = text.replace(/^database error: (?:element \d+: )?/, '');
  return attributeText(bare) ?? knownText(bare) ?? referredText(bare);
}

function attributeText(text: string): string | null {
  const [, attribute = '', kind = '', id = '', rest = ''] = ATTRIBUTE.exec(text) ?? [];
  const labels: Readonly<Record<string, unknown>> = attributesDe;
  const label = labels[`attribute.${attribute}`];
  const refusal = knownText(rest);
  if (typeof label !== 'string' || refusal === null) return null;
  return `${label}${kind === '' ? '' : ` (${KINDS[kind] ?? kind} ${id})`}: ${refusal}`;
}

function knownText(text: string): string | null {
  for (const [pattern, german] of KNOWN) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return german.replace(/\$(k?)(\d)/g, (_, isKind: string, at: string) => {
      const value = found[Number(at)] ?? '';
      return isKind === '' ? value : (KINDS[value] ?? value);
    });
  }
  return null;
}

function referredText(text: string): string | null {
  const parts = REFERRED.exec(text)?.[1]?.split('; ') ?? [];
  const named = parts.map((part) => {
    const [, kind = '', ids = '', others = ''] = REFERRERS.exec(part) ?? [];
    return `${KINDS[kind] ?? kind} ${ids}${others === '' ? '' : ' und weitere'}`;
  });
  return named.length === 0 ? null : `Andere Einträge verweisen darauf: ${named.join('; ')}`;
}
