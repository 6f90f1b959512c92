/** JSON responses that no cache may store: of probes, and of requests that reach no path. */
import type { HttpResponse } from '../message.ts';
import { JSON_TYPE } from './negotiation.ts';

export const UNCACHED = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

/** @param headers of the response besides those of every such response. */
export function uncachedJson(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse & { readonly body: string } {
  return {
    status,
    headers: { 'Content-Type': JSON_TYPE, ...UNCACHED, ...headers },
    body: JSON.stringify(body),
  };
}
