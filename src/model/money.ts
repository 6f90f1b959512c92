/** Amounts of one currency: whole numbers of its smallest unit, and as decimals. */

/** Digits of the largest amount that is exact, and more than any amount needs. */
const MAX_DIGITS = 24;

export class Money {
  /** ISO 4217. */
  readonly currency: string;
  /** Digits after the decimal point: 2 for most currencies, 0 for the yen (ISO 4217). */
  readonly digits: number;

  /**
   * @param currency ISO 4217.
   * @throws RangeError if it is malformed.
   */
  constructor(currency: string) {
    this.currency = currency;
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    this.digits = format.resolvedOptions().maximumFractionDigits ?? 0;
  }

  /**
   * `1234.50`. Digits are moved as text, so that no amount is rounded.
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
   * large to be exact. Null if the text is no such decimal, or has more digits than the currency.
   */
  parse(text: string): number | null {
    const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
    if (whole === '' || text.length > MAX_DIGITS || fraction.length > this.digits) return null;
    return Number(whole + fraction.padEnd(this.digits, '0'));
  }
}
