/** How many connections there may be, in all and from one address. */
import type { Socket } from 'node:net';
import type { Trust } from './client-address.ts';
import { ERROR_RESPONSES, type ErrorResponse, serialize } from './error-responses.ts';

export interface ConnectionLimits {
  readonly connections: number;
  /** 0 for any number. A trusted proxy has no limit of its own. */
  readonly connectionsPerAddress: number;
}

/** Connections that are accepted even if memory is scarce, so that an operator can delete data. */
const SPARE_CONNECTIONS = 100;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusts: Trust;
  readonly #isMemoryScarce: () => boolean;
  readonly #byAddress = new Map<string, number>();
  readonly #ending = new WeakSet<object>();
  #open = 0;

  constructor(limits: ConnectionLimits, trusts: Trust, isMemoryScarce: () => boolean) {
    this.#isMemoryScarce = isMemoryScarce;
    this.#limits = limits;
    this.#trusts = trusts;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Whether the connection got its last response: no more requests are read from it. */
  isEnding(socket: object): boolean {
    return this.#ending.has(socket);
  }

  /** Reads no more requests from a connection; the ones under way get their responses. */
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
    const fromAddress = this.#byAddress.get(address) ?? 0;
    const response = this.#rejection(address, fromAddress);
    if (response !== null) {
      this.#ending.add(socket);
      socket.end(serialize(response));
      return response;
    }
    this.#open += 1;
    this.#byAddress.set(address, fromAddress + 1);
    socket.once('close', () => this.#removed(address));
    return null;
  }

  #rejection(address: string, fromAddress: number): ErrorResponse | null {
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#open >= connections) return ERROR_RESPONSES.connections;
    if (this.#open >= SPARE_CONNECTIONS && this.#isMemoryScarce()) return ERROR_RESPONSES.memory;
    const many = connectionsPerAddress !== 0 && fromAddress >= connectionsPerAddress;
    return many && !this.#trusts(address) ? ERROR_RESPONSES.connectionsOfAddress : null;
  }

  #removed(address: string): void {
    this.#open -= 1;
    const others = (this.#byAddress.get(address) ?? 1) - 1;
    if (others === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, others);
  }
}
