/** Keys that no other request has. */

const BYTES = 16;

/**
 * `crypto.randomUUID` exists only in pages that came over HTTPS or from the same machine, and the
 * server may be reached over plain HTTP.
 *
 * @returns 32 hexadecimal digits.
 */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('');
}
