/** The texts of the console in the language of the user, and numbers, prices and times in it. */
import { computed, signal } from '@preact/signals';
import { en } from './en.ts';
import { keepLanguage, type Language, localeOf, preferredLanguage } from './language.ts';
import type { Message, MessageKey, Messages } from './message.ts';

const messages = signal<Messages>(en);

export const language = signal<Language>('en');

const locale = computed(() => localeOf(language.value));

const plurals = computed(() => new Intl.PluralRules(locale.value));

const numbers = computed(() => new Intl.NumberFormat(locale.value));

const times = computed(
  () => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'medium' }),
);

export type Values = Readonly<Record<string, string | number>>;

/**
 * A text of the catalog.
 *
 * @param values for what stands in braces; numbers are written as the language writes them, and
 *   `count` chooses the plural form.
 */
export function t(key: MessageKey, values: Values = {}): string {
  // Names that come from the server may have no text: `attribute.…`, `collection.…`.
  const message: Message | undefined = messages.value[key];
  if (message === undefined) return '';
  const text = typeof message === 'string' ? message : pluralOf(message, values['count']);
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'number' ? numbers.value.format(value) : value;
  });
}

function pluralOf(forms: Exclude<Message, string>, count: string | number | undefined): string {
  return forms[plurals.value.select(Number(count))] ?? forms.other ?? '';
}

export function formatNumber(value: number): string {
  return numbers.value.format(value);
}

/** A quantity with its unit, such as `4.2 MB`. @param unit of Intl.NumberFormat. */
export function formatUnit(value: number, unit: string): string {
  const options = { style: 'unit', unit, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(locale.value, options).format(value);
}

/** @param time ISO 8601. */
export function formatTime(time: string): string {
  return times.value.format(new Date(time));
}

/** The currency of the shop, and how many digits it has after the decimal mark. */
export interface Currency {
  readonly code: string;
  readonly digits: number;
}

/** Its code is "" until the server has said it. */
export const currency = signal<Currency>({ code: '', digits: 2 });

/** @param code ISO 4217. */
export function currencyOf(code: string): Currency {
  const options = new Intl.NumberFormat('en', { style: 'currency', currency: code });
  return { code, digits: options.resolvedOptions().maximumFractionDigits ?? 2 };
}

const prices = computed(
  () => new Intl.NumberFormat(locale.value, { style: 'currency', currency: currency.value.code }),
);

/** @param amount a whole number of the smallest unit. */
export function formatPrice(amount: number): string {
  if (currency.value.code === '') return '…';
  return prices.value.format(exactPrice(amount) as Intl.StringNumericLiteral);
}

/** A price as a person types it: `1234.50`, or `1234,50` in German. */
export function priceInput(amount: number): string {
  return exactPrice(amount).replace('.', decimalMark());
}

/** `1234.50`. Digits are moved as text, so that no amount is rounded. */
function exactPrice(amount: number): string {
  const { digits } = currency.value;
  if (digits === 0) return String(amount);
  const sign = amount < 0 ? '-' : '';
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * The amount of what a person typed: `649`, `649.5`, `649,50`, `1,234.50`, `1.234,50 €`.
 *
 * @returns a whole number of the smallest unit; null if the text is no price.
 */
export function parsePrice(text: string): number | null {
  const { digits, code } = currency.value;
  const parts = code === '' ? [] : prices.value.formatToParts(0);
  const symbol = parts.find(({ type }) => type === 'currency')?.value ?? '';
  const bare = text
    .replace(code, '')
    .replace(symbol, '')
    .replace(/[\s\u00a0\u202f'’]/g, '');
  const at = decimalAt(bare, digits);
  const [whole, fraction] = at === -1 ? [bare, ''] : [bare.slice(0, at), bare.slice(at + 1)];
  const groups = /^(?:\d+|\d{1,3}(?:[.,]\d{3})+)$/;
  // `.99` has no digit before the mark.
  if (!groups.test(whole) && (whole !== '' || fraction === '')) return null;
  if (!/^\d*$/.test(fraction)) return null;
  if (fraction.length > digits) return null;
  const amount = Number(whole.replace(/[.,]/g, '') + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(amount) ? amount : null;
}

/** Where the decimal mark of a price is; -1 if it has none. */
function decimalAt(text: string, digits: number): number {
  const at = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','));
  if (at === -1 || digits === 0) return -1;
  const mark = text.charAt(at);
  if (text.indexOf(mark) !== at) return -1;
  const groups = mark !== decimalMark() && text.length - at - 1 === 3;
  return groups ? -1 : at;
}

function decimalMark(): string {
  return numbers.value.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** Shows the console in a language, and keeps the choice for the next visit. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  keepLanguage(chosen);
  await speak(chosen);
}

/** Speaks the language that the user prefers. */
export async function startLanguage(): Promise<void> {
  await speak(preferredLanguage());
}

async function speak(chosen: Language): Promise<void> {
  messages.value = chosen === 'de' ? (await import('./de.ts')).de : en;
  language.value = chosen;
  document.documentElement.lang = chosen;
}
