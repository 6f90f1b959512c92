/**
 * Bounds how many responses wait for clients that do not read them.
 *
 * Each keeps up to two pieces of 64 KiB in memory for as long as a client may take for one. Without
 * a bound, every connection that the limits allow could have such a response.
 *
 * Invariant: at most `limit` responses wait. If one more has to, the client with the most loses the
 * connection that has waited longest, so nobody can have the responses of others cut off.
 */
import type { Socket } from 'node:net';
import type { Incoming } from '../client-address.ts';
import type { Cuts } from './cuts.ts';

export class UnreadResponses {
  readonly #limit: number;
  readonly #clientOf: (request: Incoming) => string;
  readonly #cuts: Pick<Cuts, 'cut'>;
  /** By client; the connection that has waited longest is the first of each. No set is empty. */
  readonly #waiting = new Map<string, Set<Socket>>();
  #count = 0;

  constructor(limit: number, clientOf: (request: Incoming) => string, cuts: Pick<Cuts, 'cut'>) {
    this.#limit = limit;
    this.#clientOf = clientOf;
    this.#cuts = cuts;
  }

  /**
   * Records that the response to a request waits, and cuts off another one if there are too many.
   *
   * @returns a function to call when it does not wait any more.
   */
  add(request: Incoming): () => void {
    const client = this.#clientOf(request);
    const connections = this.#waiting.get(client) ?? new Set();
    this.#waiting.set(client, connections.add(request.socket));
    this.#count += 1;
    if (this.#count > this.#limit) this.#cutOne();
    return () => this.#remove(client, request.socket);
  }

  #cutOne(): void {
    let most = { client: '', size: 0 };
    for (const [client, { size }] of this.#waiting) if (size > most.size) most = { client, size };
    const [longest] = this.#waiting.get(most.client) ?? [];
    if (longest === undefined) return;
    this.#remove(most.client, longest);
    this.#cuts.cut(longest);
  }

  #remove(client: string, connection: Socket): void {
    const connections = this.#waiting.get(client);
    if (connections?.delete(connection) !== true) return;
    this.#count -= 1;
    if (connections.size === 0) this.#waiting.delete(client);
  }
}
