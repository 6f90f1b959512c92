/** The texts of the console in the language of the user, and numbers, prices and times in it. */
import { computed, signal } from '@preact/signals';
import { en } from './en.ts';
import { loadChunk } from '../load-chunk.ts';
import { keepLanguage, type Language, localeOf, preferredLanguage } from './language.ts';
import type { Message, MessageKey, Messages } from './message.ts';
import { amountOf, type Currency, decimalMark, examplePrice, wholeOf } from './typed-numbers.ts';

/** The texts of the lists; those of the other screens are added when they are loaded. */
const english: Partial<Messages> = { ...en };

const messages = signal<Partial<Messages>>(english);

export const language = signal<Language>('en');

/** BCP 47: that of the language that is shown. */
export const locale = computed(() => localeOf(language.value));

const plurals = computed(() => new Intl.PluralRules(locale.value));

const numbers = computed(() => new Intl.NumberFormat(locale.value));

const times = computed(
  () => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'medium' }),
);

export type Values = Readonly<Record<string, string | number>>;

/** Hebrew, Arabic and others: a name in them would change the order of the text around it. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff]/;

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
    if (typeof value === 'number') return numbers.value.format(value);
    return RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
  });
}

function pluralOf(forms: Exclude<Message, string>, count: string | number | undefined): string {
  return forms[plurals.value.select(Number(count))] ?? forms.other ?? '';
}

/** For the language that is shown, with its groups of digits. */
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
  return exactPrice(amount).replace('.', decimalMark(locale.value));
}

/** `1234.50`. Digits are moved as text, so that no amount is rounded. */
function exactPrice(amount: number): string {
  const { digits } = currency.value;
  if (digits === 0) return String(amount);
  const sign = amount < 0 ? '-' : '';
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** @returns a whole number of the smallest unit; null if the text is not a price. */
export function parsePrice(text: string): number | null {
  return amountOf(text, locale.value, currency.value);
}

/** @returns null if the text is not a whole number of at least 0. */
export function parseWhole(text: string): number | null {
  return wholeOf(text, locale.value);
}

/** What is wrong with a text that is not a number, or not a price. */
export function numberProblem(priced: boolean): string {
  return priced
    ? t('problem.price', { example: priceExample() })
    : t('problem.integer', { example: 1234 });
}

/** @returns a price that {@link parsePrice} reads, for messages. */
export function priceExample(): string {
  return examplePrice(locale.value, currency.value);
}

/** Adds the English texts of a file that is loaded later. German comes as a whole. */
export function addEnglish(texts: Partial<Messages>): void {
  Object.assign(english, texts);
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

let translated: (text: string) => string | null = () => null;

/** @param text of the server. @returns it in the language that is shown, if that has it. */
export function serverText(text: string): string {
  return translated(text) ?? text;
}

async function speak(chosen: Language): Promise<void> {
  const german = chosen === 'de' ? await loadChunk(async () => await import('./de.ts')) : null;
  translated = german?.refusalDe ?? (() => null);
  messages.value = german?.de ?? english;
  language.value = chosen;
  document.documentElement.lang = chosen;
}
