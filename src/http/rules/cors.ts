/**
 * Pages of other origins (Fetch standard, section 3.3): off unless origins are named. Credentials
 * stay off: a token is sent in a header, which a page does itself.
 */
import { type HttpResponse, header, type HttpRequest } from '../message.ts';

/** Any origin. */
export const ANY_ORIGIN = '*';

/** Request headers that a page may send; all of them have a meaning here. */
const REQUEST_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
].join(', ');

/** Response headers that a page may read, beyond those that it always may. */
const RESPONSE_HEADERS = [
  'Allow',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-Total-Count',
].join(', ');

/** Seconds for which a browser may remember the answer to a preflight; Chromium's longest. */
const PREFLIGHT_MAX_AGE_S = '7200';

/** @param origins such as `https://shop.example`, or {@link ANY_ORIGIN}. */
export function crossOrigin(
  origins: readonly string[],
): (request: HttpRequest, answer: HttpResponse) => HttpResponse {
  const any = origins.includes(ANY_ORIGIN);
  const named = new Set(origins);
  return (request, answer) => {
    const { headers } = answer;
    // Without it a cache would give one origin what was said to another.
    if (!any) headers['Vary'] = `${headers['Vary']}, Origin`;
    const origin = header(request, 'origin');
    if (origin === undefined || !(any || named.has(origin))) return answer;
    headers['Access-Control-Allow-Origin'] = any ? ANY_ORIGIN : origin;
    const asked = header(request, 'access-control-request-method');
    if (request.method === 'OPTIONS' && asked !== undefined) {
      headers['Access-Control-Allow-Methods'] = headers['Allow'] ?? '';
      headers['Access-Control-Allow-Headers'] = REQUEST_HEADERS;
      headers['Access-Control-Max-Age'] = PREFLIGHT_MAX_AGE_S;
    } else {
      headers['Access-Control-Expose-Headers'] = RESPONSE_HEADERS;
    }
    return answer;
  };
}
