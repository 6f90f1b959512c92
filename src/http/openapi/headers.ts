/** The response headers of the description. */
import { KINDS } from '../../model/kinds.ts';
import type { Examples } from '../../resources/examples.ts';
import { count, positive, text } from '../operations/common-schemas.ts';
import type { JsonObject } from '../operations/content.ts';
import { type Named, ref } from './refs.ts';
import { FAULT_EXAMPLE } from './schemas.ts';

/** Headers that every response of a path has. */
const ALWAYS = [
  'Link',
  'Vary',
  'Cache-Control',
  'Catalog-Sequence',
  'X-Content-Type-Options',
  'X-Request-Id?',
];

const required = true;

/**
 * The headers of a response by the names that are sent.
 *
 * @param own those beyond {@link ALWAYS}; `?`, as in `ETag?`, marks one that may be missing.
 */
export function headersOf(own: readonly string[]): { readonly headers: JsonObject } {
  const named = [...own, ...ALWAYS].map((name) => {
    const component = name.replace('?', 'Perhaps');
    return [name.replace('?', ''), ref('headers', component)] as const;
  });
  return { headers: Object.fromEntries(named) };
}

/** The components of the headers that every response of a path has. */
const EVERY: Named = {
  Link: {
    description:
      'Links (RFC 8288). Every response has `service-desc` (this description) and `service-doc` (the documentation page). A collection also has `up` and, if such pages exist, `first`, `prev`, `next` and `last`. An item also has `collection` and `up`. The index also has an `item` for each collection.',
    required,
    schema: text,
    example:
      '</admin/skus/?page=1&per_page=20>; rel="first", </admin/skus/?page=2&per_page=20>; rel="next", </admin/skus/?page=2&per_page=20>; rel="last", </>; rel="up", </openapi.json>; rel="service-desc"; type="application/json", </docs/>; rel="service-doc"; type="text/html"',
  },
  Vary: {
    description: 'The request headers that the response depends on.',
    required,
    schema: text,
    example: 'Accept',
  },
  'Cache-Control': {
    description:
      '`no-store` if the operation needs a token; otherwise `no-cache`: a cached copy must be revalidated with `If-None-Match` before it is used. A file of the console whose name contains a digest of its content may be cached for a year.',
    required,
    schema: { ...text, enum: ['no-store', 'no-cache', 'public, max-age=31536000, immutable'] },
  },
  'Catalog-Sequence': {
    description:
      'The number of a change set: the response shows this change set and all earlier ones. The response to a write shows at least that write. For `/admin/changes/` it is the last change set.',
    required,
    schema: count,
    example: 1042,
  },
  'X-Content-Type-Options': {
    description: 'Clients must use the declared `Content-Type` and must not guess another one.',
    required,
    schema: { ...text, const: 'nosniff' },
  },
};

const policy = {
  description: 'The sources from which the page may load content.',
  schema: text,
  example: "default-src 'none'; style-src 'self'",
};

/** The components of the headers of some responses; `Perhaps` marks one that may be missing. */
const OWN: Named = {
  'X-Request-IdPerhaps': {
    description:
      'The id of the request in the log of the server. It is sent with every 500 and 503, and if the request had this header. It is the id in the request only if a trusted proxy sent the request.',
    schema: { ...text, pattern: '^[\\w.:-]{1,128}$' },
    example: FAULT_EXAMPLE.request_id,
  },
  'Retry-AfterPerhaps': {
    description: 'Seconds to wait before trying again.',
    schema: positive,
    example: 1,
  },
  'X-Total-Count': {
    description: 'The number of objects on all pages.',
    required,
    schema: count,
    example: 36,
  },
  'Idempotent-ReplayedPerhaps': {
    description:
      'The response repeats that of the first request with the same `Idempotency-Key`. The request was not carried out again.',
    schema: { ...text, const: 'true' },
  },
  'Preference-AppliedPerhaps': {
    description:
      'Sent if the request has `Prefer: handling=strict`: the body was checked for unknown members (RFC 7240).',
    schema: { ...text, const: 'handling=strict' },
  },
  Allow: {
    description: 'Every method of the path.',
    required,
    schema: text,
    example: 'GET, HEAD, POST, PATCH, OPTIONS',
  },
  'Accept-PatchPerhaps': {
    description: 'The media types of the body of PATCH (RFC 5789).',
    schema: text,
    example: 'application/json, application/merge-patch+json',
  },
  AcceptPerhaps: {
    description: 'The media types that the body may have.',
    schema: text,
    example: 'application/json',
  },
  'Accept-EncodingPerhaps': {
    description: 'Sent if the body was compressed, which it must not be.',
    schema: { ...text, const: 'identity' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750, section 3).',
    required,
    schema: { ...text, pattern: '^Bearer ' },
    example: 'Bearer realm="catalog-admin", error="invalid_token"',
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required,
    schema: positive,
    example: 212,
  },
  'Last-ModifiedPerhaps': {
    description:
      'The second after the file of the page was written. The header is missing before it.',
    schema: text,
    example: 'Mon, 02 Nov 2026 08:15:00 GMT',
  },
  'Content-Security-Policy': { ...policy, required },
  'Content-Security-PolicyPerhaps': policy,
  'Referrer-Policy': {
    description: 'The browser sends no `Referer` when it follows a link of the page.',
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
    description: 'The path of the new item, or of the page to which a browser is redirected.',
    required,
    schema: { ...text, pattern: '^/' },
    example: '/admin/skus/37/',
  },
};

/** Every header by the name of its component; those that are never missing are required. */
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
