/** The catalog at a glance, with the shop's currency, in which prices are shown and typed. */
import type { components } from '../../../../dist/console/api.d.ts';
import { currency, currencyOf } from '../messages/text.ts';
import { receive } from './client.ts';
import { SUMMARY_PATH } from './paths.ts';

export type Summary = components['schemas']['Summary'];

let reading: Promise<Summary> | null = null;

/** The summary as it is now; calls while it is read share one request. @throws ApiError, TypeError. */
export function readSummary(): Promise<Summary> {
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

async function read(): Promise<Summary> {
  const summary = await receive<Summary>(SUMMARY_PATH);
  currency.value = currencyOf(summary.currency);
  return summary;
}

/** Reads the currency unless it is known. @throws ApiError, TypeError; the next call asks again. */
export async function needCurrency(): Promise<void> {
  if (currency.value.code === '') await readSummary();
}
