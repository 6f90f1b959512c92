/** Cells as a spreadsheet in German saves them, which the server does not read (spec 12.4). */
import { amountOf, type Currency } from '../messages/typed-numbers.ts';

const FLAGS: Readonly<Record<string, string>> = { WAHR: 'true', FALSCH: 'false' };

/** A comma before one or two digits, and no digit after them: it cannot separate groups. */
const DECIMAL_COMMA = /,\d{1,2}\D*$/;

/**
 * The cell as the server reads it: `12.50` for `12,50`, `true` for `WAHR`.
 *
 * @param column of the catalog.
 * @returns the cell itself unless it can mean nothing else.
 */
export function serverCell(column: string, cell: string, currency: Currency): string {
  if (column === 'is_launched') return FLAGS[cell.trim()] ?? cell;
  if (!column.endsWith(`price ${currency.code}`) || !DECIMAL_COMMA.test(cell)) return cell;
  const amount = amountOf(cell, 'de', currency);
  if (amount === null) return cell;
  const digits = String(amount).padStart(currency.digits + 1, '0');
  return `${digits.slice(0, -currency.digits)}.${digits.slice(-currency.digits)}`;
}
