/**
 * Deliveries over HTTP: one POST, without redirects, within bounds of time and bytes. Only the
 * status of the response is kept, so that a webhook cannot be used to read what an address serves.
 */
import { withTimeout } from '../../delay.ts';
import { messageOf } from '../../errors.ts';
import type { OutgoingRequest, Send } from '../../resources/webhooks/ports.ts';
import { bounded, wholeOf } from '../../streams.ts';

/** Milliseconds for the status of the response. */
const TIMEOUT_MS = 15_000;

/** Milliseconds and bytes for the rest of the response. Within them, its connection is kept. */
const REST_MS = 1000;
const MAX_REST_BYTES = 64 * 1024;

/** @param version of the program, for `User-Agent`. @param timeout milliseconds. */
export function httpSender(version: string, timeout = TIMEOUT_MS): Send {
  return async (request) => {
    const { signal } = request;
    const ended = new AbortController();
    try {
      const late = `no answer within ${timeout / 1000} seconds`;
      const response = await within(timeout, signal, late, post(request, version, ended.signal));
      const rest = within(REST_MS, signal, 'the rest of the answer is late', readToEnd(response));
      // Only the status counts, even if the rest fails.
      await rest.catch(() => ended.abort());
      return response.status;
    } catch (error) {
      ended.abort();
      throw error;
    }
  };
}

/** Waits for work at most this long, since fetch may outlive its signal. */
function within<T>(
  milliseconds: number,
  signal: AbortSignal,
  late: string,
  work: Promise<T>,
): Promise<T> {
  const refuse = () => {
    throw new Error(signal.aborted ? 'the server is shutting down' : late);
  };
  return withTimeout(work, milliseconds, refuse, signal);
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
  await wholeOf(bounded(body, MAX_REST_BYTES, () => new Error('the answer is too long')));
}
