/**
 * Numbers of JSON without the rounding that turns a fraction into an integer: `1e-400` is not 0,
 * and `4503599627370497.7` is not an integer (spec 2.1).
 */

const DOT = 0x2e;
const ZERO = 0x30;

/**
 * A number with a fraction or a negative exponent, or a piece of a string that looks like one. A
 * text without any can be parsed natively.
 */
const FRACTION = /(?:^|[\s:,[])-?\d+(?:\.\d|[eE]-)/;

/** Whether a number of a JSON text may be a fraction; a string that looks like one counts too. */
export function hasFraction(text: string): boolean {
  // Most texts have neither, and a search for a constant is much faster than the expression.
  const mayHave = text.includes('.') || text.includes('e-') || text.includes('E-');
  return mayHave && FRACTION.test(text);
}

/**
 * @param token a number as RFC 8259 defines it.
 * @returns its value, or NaN if it is a fraction whose nearest value is an integer.
 */
export function numberOf(token: string): number {
  const value = Number(token);
  return Number.isInteger(value) && isFraction(token) ? Number.NaN : value;
}

/** Whether a digit other than 0 follows the point, wherever the exponent moves it. */
function isFraction(token: string): boolean {
  const [digits = '', exponent = '0'] = token.toLowerCase().split('e');
  const point = digits.indexOf('.');
  let decimals = (point === -1 ? 0 : digits.length - point - 1) - Number(exponent);
  for (let at = digits.length - 1; decimals > 0 && at >= 0; at -= 1) {
    const code = digits.charCodeAt(at);
    if (code === DOT) continue;
    // A sign is below 0.
    if (code > ZERO) return true;
    decimals -= 1;
  }
  return false;
}
