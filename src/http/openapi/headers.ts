/** The response headers of the description. */
import { KINDS } from '../../model/kinds.ts';
import type { Examples } from '../../resources/examples.ts';
import type { JsonObject } from '../operations/content.ts';
import { type Named, ref } from './refs.ts';
import { FAULT_EXAMPLE } from './schemas.ts';

/** Headers that every answer of a path has. */
const ALWAYS = [
  'Link',
  'Vary',
  'Cache-Control',
  'Catalog-Sequence',
  'X-Content-Type-Options',
  'X-Request-Id?',
];

const text = { type: 'string' };
const required = true;

/**
 * The headers of a response by their names on the wire.
 *
 * @param own those that it has beyond {@link ALWAYS}; `ETag?` is one that it may have.
 */
export function headersOf(own: readonly string[]): { readonly headers: JsonObject } {
  const named = [...own, ...ALWAYS].map((name) => {
    const component = name.replace('?', 'Perhaps');
    return [name.replace('?', ''), ref('headers', component)] as const;
  });
  return { headers: Object.fromEntries(named) };
}

/** Headers that no answer of a path lacks. */
const EVERY: Named = {
  Link: {
    description:
      'Links (RFC 8288). Always `service-desc` and `service-doc`: this description, and its page for people. Of a collection: `first`, `prev`, `next` and `last`, as far as there are such pages, and `up`. Of an item: `collection` and `up`. Of the index: an `item` for each collection.',
    required,
    schema: text,
    example:
      '</admin/skus/?page=1&per_page=20>; rel="first", </admin/skus/?page=2&per_page=20>; rel="next", </admin/skus/?page=2&per_page=20>; rel="last", </>; rel="up", </openapi.json>; rel="service-desc"; type="application/json", </docs/>; rel="service-doc"; type="text/html"',
  },
  Vary: {
    description: 'The request headers that the answer depends on.',
    required,
    schema: text,
    example: 'Accept',
  },
  'Cache-Control': {
    description:
      '`no-store` where a token is asked for; else `no-cache`: use it again only after a request with `If-None-Match`. A file of the console whose name has a digest of its content may be kept for a year.',
    required,
    schema: { ...text, enum: ['no-store', 'no-cache', 'public, max-age=31536000, immutable'] },
  },
  'Catalog-Sequence': {
    description:
      'The number of the change set that the answer shows at least; after a write, that of the write at least. Of `/admin/changes/`: the last one there is.',
    required,
    schema: { type: 'integer', minimum: 0 },
    example: 1042,
  },
  'X-Content-Type-Options': {
    description: 'The type is the one named, and not to be guessed.',
    required,
    schema: { ...text, const: 'nosniff' },
  },
};

const policy = {
  description: 'What the page may load: nothing of another host.',
  schema: text,
  example: "default-src 'none'; style-src 'self'",
};

/** Headers of some answers; `Perhaps` marks those that may be missing. */
const OWN: Named = {
  'X-Request-IdPerhaps': {
    description:
      'The id of the request in the log of the server: with every 5xx, and if the request had such a header. It is the id that was sent only if a trusted proxy sent it.',
    schema: { ...text, pattern: '^[\\w.:-]{1,128}$' },
    example: FAULT_EXAMPLE.request_id,
  },
  'Retry-AfterPerhaps': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'X-Total-Count': {
    description: 'How many objects all pages have together.',
    required,
    schema: { type: 'integer', minimum: 0 },
    example: 36,
  },
  'Idempotent-ReplayedPerhaps': {
    description:
      'This is the answer that the first request with the same `Idempotency-Key` got; nothing was done again.',
    schema: { ...text, const: 'true' },
  },
  'Preference-AppliedPerhaps': {
    description: 'With `Prefer: handling=strict`: unknown members were looked for (RFC 7240).',
    schema: { ...text, const: 'handling=strict' },
  },
  Allow: {
    description: 'Every method of the path.',
    required,
    schema: text,
    example: 'GET, HEAD, POST, PATCH, OPTIONS',
  },
  'WWW-Authenticate': {
    description: 'What to send (RFC 6750, section 3).',
    required,
    schema: { ...text, pattern: '^Bearer ' },
    example: 'Bearer realm="catalog-admin", error="invalid_token"',
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required,
    schema: { type: 'integer', minimum: 1 },
    example: 212,
  },
  'Last-ModifiedPerhaps': {
    description: 'When the page was written. A page whose file is still to follow has none.',
    schema: text,
    example: 'Mon, 02 Nov 2026 08:15:00 GMT',
  },
  'Content-Security-Policy': { ...policy, required },
  'Content-Security-PolicyPerhaps': policy,
  'Referrer-Policy': {
    description: 'Links of the page do not say where they are followed from.',
    required,
    schema: { ...text, const: 'no-referrer' },
  },
  'Content-EncodingPerhaps': {
    description: 'How the body is compressed, if `Accept-Encoding` allows it.',
    schema: { ...text, enum: ['br', 'gzip'] },
  },
  'Content-Disposition': {
    description: 'The name of the file (RFC 6266).',
    required,
    schema: text,
    example: 'attachment; filename="skus-2026-11-21.csv"',
  },
  Location: {
    description: 'The path of the new item, or of the page that is meant.',
    required,
    schema: { ...text, pattern: '^/' },
    example: '/admin/skus/37/',
  },
};

/** Every header by its name; those that an answer never lacks are required. */
export function headers(examples: Examples): Named {
  return {
    ...EVERY,
    ...OWN,
    ETag: {
      description:
        'Strong entity tag of the representation (RFC 9110, section 8.8.3), for `If-Match` and `If-None-Match`.',
      required,
      schema: { ...text, pattern: '^"[^"]*"$' },
      example: examples.etag(KINDS.skus),
    },
  };
}
