/**
 * Lets pages of the configured origins read responses (CORS: Fetch standard, section 3.3).
 * Credentials are not allowed: a page sends its token in a header itself.
 */
import { type HttpResponse, header, type HttpRequest } from '../message.ts';

/** Any origin. */
export const ANY_ORIGIN = '*';

/** Request headers that a page may send: those that the service reads, except dates. */
const REQUEST_HEADERS = [
  'Accept',
  'Authorization',
  'Catalog-Min-Sequence',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
].join(', ');

/** Response headers that a page may read, in addition to the safelisted ones. */
const RESPONSE_HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Accept-Patch',
  'Allow',
  'Catalog-Sequence',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total-Count',
].join(', ');

/** Seconds for which a browser may cache the response to a preflight; the maximum of Chromium. */
const PREFLIGHT_MAX_AGE_S = '7200';

/** @param origins such as `https://shop.example`, or {@link ANY_ORIGIN}. */
export function crossOrigin(
  origins: readonly string[],
): (request: HttpRequest, response: HttpResponse) => HttpResponse {
  const any = origins.includes(ANY_ORIGIN);
  const named = new Set(origins);
  return (request, response) => {
    const { headers } = response;
    // Otherwise a cache could serve the response for one origin to another.
    if (!any) headers['Vary'] = `${headers['Vary']}, Origin`;
    const origin = header(request, 'origin');
    if (origin === undefined || !(any || named.has(origin))) return response;
    headers['Access-Control-Allow-Origin'] = any ? ANY_ORIGIN : origin;
    const asked = header(request, 'access-control-request-method');
    if (request.method === 'OPTIONS' && asked !== undefined) {
      headers['Access-Control-Allow-Methods'] = headers['Allow'] ?? '';
      headers['Access-Control-Allow-Headers'] = REQUEST_HEADERS;
      headers['Access-Control-Max-Age'] = PREFLIGHT_MAX_AGE_S;
    } else {
      headers['Access-Control-Expose-Headers'] = RESPONSE_HEADERS;
    }
    return response;
  };
}
