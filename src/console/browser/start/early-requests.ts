/**
 * Requests that are sent before the console itself has been loaded, so that the server works
 * meanwhile. `early.ts` sends them, and the console's first request for the same address takes the
 * response.
 */

/** Where the token of the session is in sessionStorage. */
export const SESSION_KEY = 'catalog.session';

interface EarlyRequests {
  /** The token that the requests carry. */
  readonly token: string;
  /** When they were sent, in milliseconds since the navigation. */
  readonly sent: number;
  readonly responses: Map<string, Promise<Response>>;
}

declare global {
  var earlyRequests: EarlyRequests | undefined;
}

/** Older responses are not used, because the catalog may have changed. */
const MAX_AGE_MS = 10_000;

/** Sends GET requests with the token, unless the console is there already. @param urls of this origin. */
export function sendEarly(token: string, urls: readonly string[]): void {
  if (globalThis.earlyRequests !== undefined) return;
  const headers = { Accept: 'application/json', Authorization: `Bearer ${token}` };
  const responses = new Map(urls.map((url) => [url, fetch(url, { headers })]));
  globalThis.earlyRequests = { token, sent: performance.now(), responses };
  // The console reports a failure if it needs the response.
  for (const response of responses.values()) response.catch(() => null);
}

/** The response to an early request, at the first call for it; null if there is none. */
export function takeEarly(url: string, token: string): Promise<Response> | null {
  const early = globalThis.earlyRequests;
  const response = early?.responses.get(url);
  if (early === undefined || response === undefined) return null;
  early.responses.delete(url);
  const fresh = performance.now() - early.sent < MAX_AGE_MS;
  return fresh && early.token === token ? response : null;
}

/** From now on requests are sent by the console itself. */
export function endEarly(): void {
  globalThis.earlyRequests ??= { token: '', sent: 0, responses: new Map() };
}
