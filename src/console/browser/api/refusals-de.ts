/**
 * Refusals and warnings of the server in German. The API words them in English, for programs as well, so they
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
  'specification record': 'Merkmal',
  'specification records': 'Merkmale',
};

/** `$k1` is the kind that the first group names, `$a1` are attributes, and `$t1` is another refusal. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^is required$/, 'muss angegeben werden'],
  [/^is required, because/, 'muss angegeben werden, weil die Zeile einen neuen Eintrag anlegt'],
  [/^must not be empty$/, 'darf nicht leer sein'],
  [/^must not be empty or only/, 'darf nicht leer sein oder nur aus Leerraum bestehen'],
  [/^must not begin or end with/, 'darf nicht mit Leerraum beginnen oder enden'],
  [/^must be at most (\d+) (?:c|UTF)/, 'darf höchstens $1 Zeichen lang sein'],
  [/^must have at least (\d+) c/, 'muss mindestens $1 Zeichen haben'],
  [/^must have at most (\d+) bytes$/, 'darf höchstens $1 Byte lang sein'],
  [
    /^must be 1 to 64 letters, digits or any of . _ @ /,
    'muss aus 1 bis 64 Buchstaben, Ziffern oder den Zeichen . _ @ + - bestehen, darf nicht mit - beginnen und nicht . oder .. sein',
  ],
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
  [/^must have at most three levels$/, 'darf höchstens drei Ebenen haben'],
  [
    /^must be like Colour=Silver; Storage=128 GB$/,
    'muss die Form Farbe=Silber; Speicher=128 GB haben',
  ],
  [/^has more than (\d+) specifications$/, 'hat mehr als $1 Merkmale'],
  [/^has more than (\d+) cells$/, 'hat mehr als $1 Zellen'],
  [/^ends with a single /, 'endet mit einem einzelnen \\'],
  [/^has an empty name$/, 'hat einen leeren Namen'],
  [/^has a name that is too long$/, 'hat einen Namen, der zu lang ist'],
  [
    /^must be an integer, not a fraction: prices are integers of the smallest currency unit, such as (\d+) cents for (.+)$/,
    'muss eine ganze Zahl der kleinsten Währungseinheit sein, etwa $1 Cent für $2',
  ],
  [/^must be an integer, not /, 'muss eine ganze Zahl sein'],
  [/^must be a string(?:, not .+)?$/, 'muss ein Text sein'],
  [/^must be an object$/, 'muss ein Objekt sein'],
  [/^is not an attribute$/, 'ist kein Attribut'],
  [
    /^the file is empty; the first row names the columns$/,
    'Die Datei ist leer; die erste Zeile nennt die Spalten',
  ],
  [
    /^the file has no column (\w+), by which/,
    'Die Datei hat keine Spalte $1, über die vorhandene Einträge zu finden sind',
  ],
  [/^column (\d+) has no name; delete it, /, 'Spalte $1 hat keinen Namen'],
  [/^differs from the column (.+)$/s, 'weicht von der Spalte $1 ab'],
  [/^the file is not UTF-8/, 'Die Datei ist nicht UTF-8; speichern Sie sie in UTF-8'],
  [
    /^the file is not CSV: (?:a cell|Invalid Opening)/,
    'Die Datei ist kein CSV: In einer Zelle, die nicht in Anführungszeichen steht, ist ein Anführungszeichen',
  ],
  [
    /^the file is not CSV: Invalid Closing/,
    'Die Datei ist kein CSV: Nach dem Anführungszeichen, das eine Zelle beendet, folgt noch Text',
  ],
  [
    /^the file is not CSV: Quote Not Closed/,
    'Die Datei ist kein CSV: Das Anführungszeichen, das eine Zelle beendet, fehlt',
  ],
  [/^the file is not CSV: Max Record/, 'Die Datei ist kein CSV: Eine Zeile ist zu lang'],
  [/^a line is longer than (\d+) c/, 'Eine Zeile hat mehr als $1 Zeichen'],
  [/^an element is longer than (\d+) c/, 'Ein Eintrag hat mehr als $1 Zeichen'],
  [/^(?:the body )?is nested more than (\d+) l/, 'ist mehr als $1 Ebenen tief verschachtelt'],
  [/^has an array of more than (\d+) e/, 'hat eine Liste von mehr als $1 Einträgen'],
  [/^has an object of more than (\d+) m/, 'hat ein Objekt mit mehr als $1 Attributen'],
  [/^has a text that is written with more than (\d+) c/, 'hat einen Text von mehr als $1 Zeichen'],
  [/^the file is not JSON, an object on each/, 'Die Datei ist kein JSON mit einem Objekt je Zeile'],
  [/^the file is not an array of JSON/, 'Die Datei ist keine Liste von JSON-Objekten'],
  [/^the file is cut off: it ends before/, 'Die Datei ist abgeschnitten: Ihre Liste endet nicht'],
  [/^the file has more than (\d+) rows$/, 'Die Datei hat mehr als $1 Zeilen'],
  [/^the file is larger than (\d+) bytes/, 'Die Datei ist größer als $1 Byte'],
  [
    /^an array of the body has more than (\d+)/,
    'Der Server nimmt höchstens $1 Einträge auf einmal an',
  ],
  [/^the body is larger than (\d+) bytes$/, 'Der Server nimmt höchstens $1 Byte auf einmal an'],
  [
    /^there is no such specification; to create/,
    'Dieses Merkmal gibt es nicht; um es anzulegen, nennen Sie seine SPU in der Spalte spu',
  ],
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
  [/^specification (\d+) does not belong to SPU (\d+)$/, 'Merkmal $1 gehört nicht zur SPU $2'],
  [/^specification (\d+) belongs to SPU (.+)$/s, 'Merkmal $1 gehört zur SPU $2'],
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
  [
    /^(\w+|specification record) (\d+) has changed since audit entry (\d+): (.+)$/,
    '$k1 $2 wurde seit Protokolleintrag $3 geändert: $a4',
  ],
  [
    /^(\w+|specification record) (\d+) was deleted since audit entry (\d+)$/,
    '$k1 $2 wurde seit Protokolleintrag $3 gelöscht',
  ],
  [
    /^(\w+|specification record) (\d+) exists again since audit entry (\d+)$/,
    '$k1 $2 gibt es seit Protokolleintrag $3 wieder',
  ],
  [
    /^(\w+|specification record) (\d+) was added to (\w+) (\d+) since$/,
    '$k1 $2 ist seitdem zu $k3 $4 hinzugekommen',
  ],
  [/^no row is written: (.+)$/s, 'Keine Zeile ist geschrieben: $t1'],
  [
    /^the rows before row (\d+) are written, the others are not: (.+)$/s,
    'Die Zeilen vor Zeile $1 sind geschrieben, die anderen nicht: $t2',
  ],
  [
    /^the first (\d+) rows are written, the others are not: (.+)$/s,
    'Die ersten $1 Zeilen sind geschrieben, die anderen nicht: $t2',
  ],
  [
    /^the import was stopped; import again/,
    'der Import wurde angehalten; importieren Sie die Zeilen noch einmal, die nicht geschrieben sind',
  ],
  [
    /^the import was interrupted; no row/,
    'Der Import wurde unterbrochen; keine Zeile ist geschrieben',
  ],
  [
    /^the import was interrupted while/,
    'Der Import wurde unterbrochen, während er Zeilen schrieb; das Änderungsprotokoll zeigt, welche geschrieben sind; importieren Sie die anderen noch einmal',
  ],
  [/^and (\d+) more$/, '$1 weitere'],
  [/^The disk is nearly full: (\d+) MiB/, 'Die Festplatte ist fast voll: Noch $1 MiB sind frei.'],
  [/^The free disk space cannot/, 'Der freie Platz auf der Festplatte lässt sich nicht bestimmen.'],
  [/^No backup has been made yet/, 'Es wurde noch nie eine Sicherung erstellt.'],
  [/^The last backup was made (\d+) days/, 'Die letzte Sicherung ist $1 Tage alt.'],
  [/^The time of the last backup/, 'Der Zeitpunkt der letzten Sicherung lässt sich nicht lesen.'],
  [
    /^Memory is nearly used up/,
    'Der Arbeitsspeicher ist fast aufgebraucht: Neue Daten werden abgelehnt.',
  ],
  [/^The server is not ready: (.+)\.$/, 'Der Server nimmt zurzeit keine Änderungen an: $t1.'],
  [
    /^1 page of the shop cannot/,
    '1 Seite des Geschäfts lässt sich nicht schreiben; das Protokoll des Servers sagt, warum.',
  ],
  [
    /^(\d+) pages of the shop cannot/,
    '$1 Seiten des Geschäfts lassen sich nicht schreiben; das Protokoll des Servers sagt, warum.',
  ],
  [/^the server is shutting down$/, 'Der Server wird beendet'],
  [/^the disk refused the write \(ENOSPC/, 'Die Festplatte ist voll; es wurde nichts geändert'],
  [
    /^the disk refused the write \(/,
    'Die Festplatte hat die Änderung abgelehnt; es wurde nichts geändert',
  ],
  [/^the disk refused a write$/, 'Die Festplatte hat eine Änderung abgelehnt'],
  [
    /^the server has just started/,
    'Der Server ist gerade erst gestartet und baut seine Verzeichnisse auf',
  ],
  [
    /^this host can no longer follow the log/,
    'Dieser Server kann den anderen nicht mehr folgen; seine Meldungen sagen, warum',
  ],
  [/^the log that the hosts share does not/, 'Das gemeinsame Protokoll der Server antwortet nicht'],
  [/^this host is not in step/, 'Dieser Server ist noch nicht auf dem Stand der anderen'],
  [
    /^the server is short of memory/,
    'Der Server hat zu wenig Arbeitsspeicher und nimmt zurzeit keine neuen Daten an',
  ],
];

const REFERRED = /^\w+ \d+ is referred to (by the .+)$/s;

/** One of the attributes by which rows refer to a row. */
const REFERRERS = /^by the \w+ of (?:[\w ]+ of )?(\w+) (\d+(?:, \d+)*)( and others)?$/;

/**
 * The attribute before a refusal, perhaps after the number of an element; with the row that has it,
 * or with the one that this row belongs to.
 */
const ATTRIBUTE = /^(?:\d+\.)?(\w+)(?: of (?:[\w ]+ of )?(\w+) (\d+))?: (.+)$/s;

/** @param text of the server, for a request or for one attribute. @returns null if it is not known. */
export function refusalDe(text: string): string | null {
  const bare = text.replace(/^database error: (?:element \d+: )?/, '');
  return attributeText(bare) ?? knownText(bare) ?? referredText(bare) ?? severalTexts(bare);
}

function attributeText(text: string): string | null {
  const [, attribute = '', kind = '', id = '', rest = ''] = ATTRIBUTE.exec(text) ?? [];
  const label = labelOf(attribute);
  const refusal = knownText(rest);
  if (label === '' || refusal === null) return null;
  return `${label}${kind === '' ? '' : ` (${KINDS[kind] ?? kind} ${id})`}: ${refusal}`;
}

function knownText(text: string): string | null {
  for (const [pattern, german] of KNOWN) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return german.replace(/\$([kat]?)(\d)/g, (_, form: string, at: string) => {
      const value = found[Number(at)] ?? '';
      if (form === 'k') return KINDS[value] ?? value;
      if (form === 'a') return value.replace(/\w+/g, (name) => labelOf(name) || name);
      return form === 't' ? (refusalDe(value) ?? value) : value;
    });
  }
  return null;
}

/** @returns "" if the console does not know the attribute. */
function labelOf(attribute: string): string {
  const labels: Readonly<Record<string, unknown>> = attributesDe;
  const label = labels[`attribute.${attribute}`];
  return typeof label === 'string' ? label : '';
}

/** What differs in several rows. */
function severalTexts(text: string): string | null {
  const parts = text.split('; ').map(knownText);
  return parts.includes(null) ? null : parts.join('; ');
}

function referredText(text: string): string | null {
  const parts = REFERRED.exec(text)?.[1]?.split('; ') ?? [];
  const named = parts.map((part) => {
    const [, kind = '', ids = '', others = ''] = REFERRERS.exec(part) ?? [];
    return `${KINDS[kind] ?? kind} ${ids}${others === '' ? '' : ' und weitere'}`;
  });
  return named.length === 0 ? null : `Andere Einträge verweisen darauf: ${named.join('; ')}`;
}
