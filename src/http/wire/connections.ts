/** Limits the number of connections, in total and from one address. */
import type { Socket } from 'node:net';
import { type Delay, delayed } from '../../delay.ts';
import { networkOf } from '../../network.ts';
import { Tally } from '../../places.ts';
import type { Trust } from './client-address.ts';
import { closeSoon, ERROR_RESPONSES, type ErrorResponse, serialize } from './error-responses.ts';

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

/** Rejected connections that wait for their clients. The limits do not count their descriptors. */
const MAX_LINGERING = 100;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusts: Trust;
  readonly #isMemoryScarce: () => boolean;
  readonly #delay: Delay;
  /** By network; null stands for the trusted proxies. */
  readonly #open = new Tally<string | null>();
  readonly #ending = new WeakSet<object>();
  #lingering = 0;

  constructor(
    limits: ConnectionLimits,
    trusts: Trust,
    isMemoryScarce: () => boolean,
    delay: Delay = delayed,
  ) {
    this.#isMemoryScarce = isMemoryScarce;
    this.#limits = limits;
    this.#trusts = trusts;
    this.#delay = delay;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open.total;
  }

  /** Whether the connection was sent its last response: no more requests are read from it. */
  isEnding(socket: object): boolean {
    return this.#ending.has(socket);
  }

  /** Reads no more requests from a connection; those in progress get their responses. */
  stopReading(socket: object): void {
    this.#ending.add(socket);
  }

  /**
   * Counts a new connection, or rejects and closes it.
   *
   * @returns the response to a connection that was rejected; null otherwise.
   */
  admit(socket: Socket): ErrorResponse | null {
    const address = socket.remoteAddress ?? '';
    // Connections from a proxy do not count for other hosts of its network.
    const network = this.#trusts(address) ? null : networkOf(address);
    const response = this.#rejection(network);
    if (response !== null) {
      this.#reject(socket, response);
      return response;
    }
    this.#open.add(network, 1);
    socket.once('close', () => this.#open.add(network, -1));
    return null;
  }

  /** @param network of the client; null for a trusted proxy. */
  #rejection(network: string | null): ErrorResponse | null {
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

  /** Sends the response, and closes the connection soon: the limits do not count its descriptor. */
  #reject(socket: Socket, response: ErrorResponse): void {
    this.#ending.add(socket);
    socket.end(serialize(response));
    if (this.#lingering >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    this.#lingering += 1;
    socket.once('close', () => {
      this.#lingering -= 1;
    });
    closeSoon(socket, this.#delay);
  }
}
