/** Amounts of one currency, as integers of its smallest unit and as decimals. */

/** Characters of a decimal, at most: more than any exact amount needs. */
const MAX_DECIMAL_LENGTH = 24;

export class Money {
  /** ISO 4217. */
  readonly currency: string;
  #digits: number | null = null;

  /** @param currency ISO 4217. */
  constructor(currency: string) {
    this.currency = currency;
  }

  /**
   * Digits after the decimal point: 2 for most currencies, 0 for the yen (ISO 4217).
   *
   * @throws RangeError if the currency is malformed.
   */
  get digits(): number {
    // On first use: the first Intl format of a process would delay its start by milliseconds.
    this.#digits ??= digitsOf(this.currency);
    return this.#digits;
  }

  /**
   * An amount as a decimal such as `1234.50`, made from its digits, so that no amount is rounded.
   *
   * @param amount a whole number of the smallest unit, 0 or more.
   */
  decimal(amount: number): string {
    if (this.digits === 0) return String(amount);
    const digits = String(amount).padStart(this.digits + 1, '0');
    return `${digits.slice(0, -this.digits)}.${digits.slice(-this.digits)}`;
  }

  /**
   * The amount of a decimal such as `19.99`, `19.9` or `19`, in the smallest unit; it may be too
   * large to be exact. Null if the text is malformed, or has more decimals than the currency.
   */
  parse(text: string): number | null {
    const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
    if (whole === '' || text.length > MAX_DECIMAL_LENGTH || fraction.length > this.digits)
      return null;
    return Number(whole + fraction.padEnd(this.digits, '0'));
  }
}

function digitsOf(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 0;
}
