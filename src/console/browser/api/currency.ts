/** The shop's currency, in which prices are shown and typed. */
import { currency, currencyOf } from '../messages/text.ts';
import { send } from './client.ts';

let asked: Promise<void> | null = null;

/**
 * Reads the currency once; the first line of every export of SKUs names it.
 *
 * @throws ApiError, TypeError; the next call asks again.
 */
export function readCurrency(): Promise<void> {
  asked ??= ask().catch((error: unknown) => {
    asked = null;
    throw error;
  });
  return asked;
}

async function ask(): Promise<void> {
  const response = await send('/admin/skus/export/?format=csv&code=-', {
    headers: { Accept: 'text/csv' },
  });
  const [, code] = /\bprice ([A-Z]{3})\b/.exec(await response.text()) ?? [];
  if (code !== undefined) currency.value = currencyOf(code);
}
