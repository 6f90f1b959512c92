/** Limits the number of connections, in total and from one address. */
import type { Socket } from 'node:net';
import { networkOf } from '../../network.ts';
import { Tally } from '../../places.ts';
import type { Trust } from './client-address.ts';
import { ERROR_RESPONSES, type ErrorResponse } from './error-responses.ts';

export interface ConnectionLimits {
  readonly connections: number;
  /**
   * IPv6 addresses with the same first 64 bits count as one address. 0 for no limit. Trusted
   * proxies are exempt.
   */
  readonly connectionsPerAddress: number;
}

/** Connections that are accepted even if memory is scarce, so that an operator can delete data. */
const SPARE_CONNECTIONS = 100;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusts: Trust;
  readonly #isMemoryScarce: () => boolean;
  /** By network; null stands for the trusted proxies. */
  readonly #open = new Tally<string | null>();

  constructor(limits: ConnectionLimits, trusts: Trust, isMemoryScarce: () => boolean) {
    this.#isMemoryScarce = isMemoryScarce;
    this.#limits = limits;
    this.#trusts = trusts;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open.total;
  }

  /**
   * Counts a new connection, unless it is refused.
   *
   * @returns the response to a connection that is refused; null otherwise.
   */
  admit(socket: Socket): ErrorResponse | null {
    const address = socket.remoteAddress ?? '';
    // Connections from a proxy do not count for other hosts of its network.
    const network = this.#trusts(address) ? null : networkOf(address);
    const refusal = this.#refusal(network);
    if (refusal !== null) return refusal;
    this.#open.add(network, 1);
    socket.once('close', () => this.#open.add(network, -1));
    return null;
  }

  /** @param network of the client; null for a trusted proxy. */
  #refusal(network: string | null): ErrorResponse | null {
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#open.total >= connections) return ERROR_RESPONSES.connections;
    if (this.#open.total >= SPARE_CONNECTIONS && this.#isMemoryScarce()) {
      return ERROR_RESPONSES.memory;
    }
    if (network === null || connectionsPerAddress === 0) return null;
    return this.#open.of(network) >= connectionsPerAddress
      ? ERROR_RESPONSES.connectionsOfAddress
      : null;
  }
}
