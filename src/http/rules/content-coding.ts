/** Which compressed form of a document an `Accept-Encoding` header allows (RFC 9110, section 12.5.3). */
import { parseWeight } from './weights.ts';

/** Content codings in order of preference among equals. */
const CODINGS = ['br', 'gzip'] as const;

export type ContentCoding = (typeof CODINGS)[number];

/**
 * @param header the value of `Accept-Encoding`; undefined if it was not sent.
 * @param available the codings that the document has.
 * @returns the one with the highest weight; null for the uncompressed document, which every client
 *   accepts.
 */
export function chooseCoding(
  header: string | undefined,
  available: readonly ContentCoding[],
): ContentCoding | null {
  if (header === undefined) return null;
  const weights = new Map(header.split(',').map(parseElement));
  let best: ContentCoding | null = null;
  let most = 0;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight <= most || !available.includes(coding)) continue;
    best = coding;
    most = weight;
  }
  return best;
}

/** A coding and its weight; 0 means that it is not accepted. A malformed weight is 0. */
function parseElement(element: string): [string, number] {
  const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return [name, parseWeight(weight)];
}
