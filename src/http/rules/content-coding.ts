/** Which compressed form of a document an `Accept-Encoding` header allows (RFC 9110, section 12.5.3). */
import { parseWeight } from './weights.ts';

/** Content codings in order of preference. */
const CODINGS = ['br', 'gzip'] as const;

export type ContentCoding = (typeof CODINGS)[number];

/**
 * @param header the value of `Accept-Encoding`; undefined if it was not sent.
 * @param available the codings that the document has.
 * @returns null for the uncompressed document, which every client accepts.
 */
export function chooseCoding(
  header: string | undefined,
  available: readonly ContentCoding[],
): ContentCoding | null {
  if (header === undefined) return null;
  const accepted = new Map(header.split(',').map(parseElement));
  const isAccepted = (coding: ContentCoding) => accepted.get(coding) ?? accepted.get('*') ?? false;
  return CODINGS.find((coding) => available.includes(coding) && isAccepted(coding)) ?? null;
}

/** A coding and whether it is accepted, that is, its weight is not 0. A malformed weight is 0. */
function parseElement(element: string): [string, boolean] {
  const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return [name, parseWeight(weight) > 0];
}
