/** Where the writes of a follower's clients go (spec 15.11). */
import { CatalogError } from '../../errors.ts';
import type { Forward } from '../../http/application.ts';
import type { Forwarder } from '../forwarding/forwarder.ts';
import { awaitOwnWrite, type CatchingUp } from '../forwarding/own-writes.ts';

interface Options extends CatchingUp {
  /** The address of the primary, for clients. */
  readonly address: string;
  readonly origin: string;
  /** Passes requests on; null if clients have to send them to the primary themselves. */
  readonly forwarder: Pick<Forwarder, 'forward'> | null;
  /** Ends the waits of responses for this host. */
  readonly signal: AbortSignal;
}

/**
 * @returns what answers a request with the response of the primary. It throws CatalogError
 *   `not_primary` if this host passes nothing on, and what {@link Forwarder.forward} throws.
 */
export function primaryForwarding(options: Options): Forward {
  const { address, origin, forwarder, signal } = options;
  return async (request) => {
    if (forwarder === null) {
      throw new CatalogError('not_primary', `this host follows ${address}; send the request there`);
    }
    const response = await forwarder.forward(request, origin);
    await awaitOwnWrite(request, response, options, signal);
    return response;
  };
}
