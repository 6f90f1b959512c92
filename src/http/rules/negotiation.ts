/** Which representation an `Accept` header asks for (RFC 9110, section 12.5.1; spec 5.2). */
import { splitOutsideQuotes } from './quoted-lists.ts';
import { parseWeight } from './weights.ts';
import { CatalogError } from '../../errors.ts';

export const VERSION = '1.0';
export const JSON_TYPE = 'application/json';
export const VENDOR_TYPE = `application/vnd.catalog+json; version=${VERSION}`;

/** A media type that an operation can respond with. */
export interface Offer {
  /** As it is sent in `Content-Type`. */
  readonly contentType: string;
  /** Without parameters, for the comparison with `Accept`. */
  readonly type: string;
}

/** JSON, with and without the version. */
export const JSON_OFFERS: readonly Offer[] = [
  { contentType: JSON_TYPE, type: 'application/json' },
  { contentType: VENDOR_TYPE, type: 'application/vnd.catalog+json' },
];

interface Range {
  readonly type: string;
  /** The `version` parameter; undefined if there is none. */
  readonly version: string | undefined;
  /** 0 to 1. */
  readonly quality: number;
}

/** The exactness of a range that does not match an offer. The most exact range decides. */
const MISMATCH = -1;

/**
 * @param offers in order of preference among equals.
 * @returns the `Content-Type` to respond with.
 * @throws CatalogError `not_acceptable`.
 */
export function negotiate(accept: string | undefined, offers: readonly Offer[]): string {
  const first = offers[0]?.contentType ?? JSON_TYPE;
  if (accept === undefined || accept === '*/*' || accept === first || accept.trim() === '') {
    return first;
  }
  const ranges = parseAccept(accept);
  let best: { contentType: string; quality: number; exactness: number } | null = null;
  for (const { contentType, type } of offers) {
    const { quality, exactness } = preference(ranges, type);
    if (quality <= 0) continue;
    const better =
      best === null ||
      quality > best.quality ||
      (quality === best.quality && exactness > best.exactness);
    if (better) best = { contentType, quality, exactness };
  }
  if (best !== null) return best.contentType;
  const known = offers.map((offer) => offer.contentType).join(' or ');
  throw new CatalogError('not_acceptable', `no accepted media type is available; accept ${known}`);
}

function preference(
  ranges: readonly Range[],
  type: string,
): { readonly quality: number; readonly exactness: number } {
  let found = { quality: 0, exactness: MISMATCH };
  for (const range of ranges) {
    const exactness = exactnessOf(range, type);
    if (exactness > found.exactness) found = { quality: range.quality, exactness };
  }
  return found;
}

function exactnessOf({ type, version }: Range, offered: string): number {
  if (version !== undefined && version !== VERSION) return MISMATCH;
  const versioned = version === undefined ? 0 : 1;
  if (type === offered) return 4 + versioned;
  if (type === `${offered.split('/', 1)[0]}/*`) return 2 + versioned;
  return type === '*/*' ? versioned : MISMATCH;
}

/** The media ranges of an `Accept` header. The type of a malformed one is equal to no other. */
export function parseAccept(accept: string): Range[] {
  const ranges: Range[] = [];
  for (const element of splitOutsideQuotes(accept, ',')) {
    const [type = '', ...parameters] = splitOutsideQuotes(element, ';').map((part) => part.trim());
    let version: string | undefined;
    let quality = 1;
    for (const parameter of parameters) {
      const equals = parameter.indexOf('=');
      if (equals < 0) continue;
      const name = parameter.slice(0, equals).trim().toLowerCase();
      const value = parameter.slice(equals + 1).trim();
      if (name === 'q') quality = parseWeight(value);
      else if (name === 'version') version = value.replace(/^"(.*)"$/, '$1');
    }
    ranges.push({ type: type.toLowerCase(), version, quality });
  }
  return ranges;
}
