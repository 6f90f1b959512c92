/** Whether another host is there, for requests that wait for it. */
import { fetchDirectly } from '../direct-fetch.ts';
import { ProgressTimer } from '../progress-timer.ts';

/** Milliseconds for a response. The event loop of a busy host turns every few milliseconds. */
const RESPONSE_MS = 2000;

/**
 * @param milliseconds {@link RESPONSE_MS} if left out.
 * @returns whether the host at an origin responds; an error of the proxy before it does not count.
 */
export async function responds(origin: string, milliseconds = RESPONSE_MS): Promise<boolean> {
  const timer = new ProgressTimer(milliseconds, `${origin} does not respond`);
  try {
    // Below another base path the response is 404, which is one as well.
    const asked = fetchDirectly(`${origin}/healthz`, {
      method: 'HEAD',
      signal: timer.signal,
    });
    const { status } = await timer.within(asked);
    timer.stop();
    return status < 500;
  } catch (error) {
    timer.fail(error);
    return false;
  }
}
