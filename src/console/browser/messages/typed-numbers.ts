/**
 * Numbers and prices as people type them. A mark between digits is read as the language of the user
 * writes it, and as another language does only if it cannot mean anything else: `1.234` is 1234 in
 * German and refused in English, while `12.50` is the same price in both.
 */

/** The currency of the shop, and how many digits it has after the decimal mark. */
export interface Currency {
  /** ISO 4217; "" until the server has said it. */
  readonly code: string;
  readonly digits: number;
}

/** No language writes a decimal fraction after one of these. */
const NEUTRAL_MARKS: readonly string[] = [' ', "'"];

/** Digits of the largest whole number that is exact, 2^53 - 1. */
const MAX_DIGITS = 16;

/** @returns null if the text is not a whole number, or not an exact one. */
export function wholeOf(text: string, locale: string): number | null {
  const digits = digitsOf(text.trim(), locale, NEUTRAL_MARKS);
  return digits === null ? null : exact(digits);
}

/** @returns a whole number of the smallest unit; null if the text is not a price. */
export function amountOf(text: string, locale: string, currency: Currency): number | null {
  const bare = withoutSign(text.trim(), locale, currency.code);
  const own = decimalMark(locale);
  const other = own === ',' ? '.' : ',';
  const digits =
    priceDigits(bare.split(own), locale, NEUTRAL_MARKS, currency.digits) ??
    // Three digits may be a group, and none the beginning of one.
    (/\D\d{1,2}$/.test(bare)
      ? priceDigits(bare.split(other), locale, [...NEUTRAL_MARKS, own], currency.digits)
      : null);
  return digits === null ? null : exact(digits);
}

/** A price that {@link amountOf} reads, for messages. */
export function examplePrice(locale: string, { digits }: Currency): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, options).format(digits === 0 ? 1234 : 1234.5);
}

/** @param locale BCP 47. */
export function decimalMark(locale: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

function exact(digits: string): number | null {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : null;
}

function priceDigits(
  [whole = '', fraction = '', ...rest]: readonly string[],
  locale: string,
  marks: readonly string[],
  length: number,
): string | null {
  if (rest.length > 0 || !/^\d*$/.test(fraction) || fraction.length > length) return null;
  // `.99` has no digit before the mark.
  const units = whole === '' && fraction !== '' ? '0' : digitsOf(whole, locale, marks);
  return units === null ? null : units + fraction.padEnd(length, '0');
}

/** @param marks that may stand between groups, besides those of the language. */
function digitsOf(text: string, locale: string, marks: readonly string[]): string | null {
  const typed = text.replace(/\s/g, ' ').replaceAll('’', "'");
  if (/^\d+$/.test(typed)) return typed;
  const digits = typed.replace(/\D/g, '');
  if (digits === '' || digits.length > MAX_DIGITS) return null;
  const english = new Intl.NumberFormat('en').format(Number(digits));
  const forms = [
    ...formsOf(Number(digits), locale),
    ...marks.map((mark) => english.replaceAll(',', mark)),
  ];
  return forms.includes(typed) ? digits : null;
}

/** As the language groups numbers and prices, which differ in Austria, for example. */
function formsOf(value: number, locale: string): string[] {
  const price = { style: 'currency', currency: 'EUR' } as const;
  return [{}, price].map((options) =>
    new Intl.NumberFormat(locale, options)
      .formatToParts(value)
      .filter(({ type }) => type === 'integer' || type === 'group')
      .map((part) => part.value)
      .join('')
      .replace(/\s/g, ' ')
      .replaceAll('’', "'"),
  );
}

/** The text without the currency before or after the number. */
function withoutSign(text: string, locale: string, code: string): string {
  if (code === '') return text;
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency: code }).formatToParts(
    0,
  );
  const symbol = parts.find(({ type }) => type === 'currency')?.value ?? code;
  const sign = [code, symbol].find((each) => text.startsWith(each) || text.endsWith(each));
  if (sign === undefined) return text;
  return (text.startsWith(sign) ? text.slice(sign.length) : text.slice(0, -sign.length)).trim();
}
