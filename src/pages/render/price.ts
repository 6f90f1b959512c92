/** Formats amounts in the smallest unit of a currency, for people and for machines, and counts. */
import { Money } from '../../model/money.ts';

/** Amounts whose text is cached: shops have many SKUs at few prices. */
const MAX_CACHED_PRICES = 4096;

/** Writes amounts of one currency in one language. */
export class PriceFormat {
  readonly #format: Intl.NumberFormat;
  readonly #counts: Intl.NumberFormat;
  readonly #shown = new Map<number, string>();
  readonly #money: Money;

  /**
   * @param currency ISO 4217.
   * @param locale BCP 47.
   * @throws RangeError if either is malformed.
   */
  constructor(currency: string, locale: string) {
    this.#format = new Intl.NumberFormat(locale, { style: 'currency', currency });
    this.#counts = new Intl.NumberFormat(locale);
    this.#money = new Money(currency);
  }

  /** A count for people: `1,234`. */
  count(count: number): string {
    return this.#counts.format(count);
  }

  /** For people: `$1,234.50`. @param amount a whole number of the smallest unit, 0 or more. */
  shown(amount: number): string {
    const known = this.#shown.get(amount);
    if (known !== undefined) return known;
    const text = this.#format.format(this.exact(amount) as Intl.StringNumericLiteral);
    if (this.#shown.size >= MAX_CACHED_PRICES) this.#shown.clear();
    this.#shown.set(amount, text);
    return text;
  }

  /** For machines: `1234.50`. @param amount a whole number of the smallest unit, 0 or more. */
  exact(amount: number): string {
    return this.#money.decimal(amount);
  }
}
