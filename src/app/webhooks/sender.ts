/**
 * Deliveries over HTTP: one POST, without redirects, within bounds of time and bytes. Only the
 * status of the response is kept, so that a webhook cannot be used to read what an address serves.
 */
import { messageOf } from '../../errors.ts';
import type { OutgoingRequest, Send } from '../../resources/webhooks/ports.ts';

/** Milliseconds for the status of the response. */
const TIMEOUT_MS = 15_000;

/** Milliseconds and bytes for the rest of the response. Within them, its connection is kept. */
const REST_MS = 1000;
const MAX_REST_BYTES = 64 * 1024;

/** @param version of the program, for `User-Agent`. @param timeout milliseconds. */
export function httpSender(version: string, timeout = TIMEOUT_MS): Send {
  return async (request) => {
    const ended = new AbortController();
    try {
      const status = within(timeout, request.signal, `no answer within ${timeout / 1000} seconds`);
      const response = await status(post(request, version, ended.signal));
      const rest = within(REST_MS, request.signal, 'the rest of the answer is late');
      // Only the status counts, even if the rest fails.
      await rest(readToEnd(response)).catch(() => ended.abort());
      return response.status;
    } catch (error) {
      ended.abort();
      throw error;
    }
  };
}

/** Waits for work at most this long, since fetch may outlive its signal. */
function within(milliseconds: number, signal: AbortSignal, late: string) {
  return async <T>(work: Promise<T>): Promise<T> => {
    const { promise: over, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(late)), milliseconds);
    const onAbort = () => reject(new Error('the server is shutting down'));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };
}

async function post(
  { url, headers, body }: OutgoingRequest,
  version: string,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': `catalog-server/${version}`,
      },
      body,
      redirect: 'manual',
      signal,
      // A compressed response is not unpacked.
      decompress: false,
    });
  } catch (cause) {
    throw new Error(`the request failed: ${messageOf(cause)}`, { cause });
  }
}

/** @throws Error if it is longer than {@link MAX_REST_BYTES}, or is cut off. */
async function readToEnd({ body }: Response): Promise<void> {
  if (body === null) return;
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_REST_BYTES) throw new Error('the answer is too long');
  }
}
