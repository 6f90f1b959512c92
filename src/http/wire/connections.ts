/** How many connections there may be, in all and from one address. */
import type { Socket } from 'node:net';
import type { Trust } from './client-address.ts';
import { type Refusal, REFUSALS, refusalText } from './refusals.ts';

export interface ConnectionLimits {
  readonly connections: number;
  /** 0 for any number. Proxies that are trusted have no limit of their own. */
  readonly connectionsPerAddress: number;
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusts: Trust;
  readonly #byAddress = new Map<string, number>();
  readonly #refused = new WeakSet<object>();
  #open = 0;

  constructor(limits: ConnectionLimits, trusts: Trust) {
    this.#limits = limits;
    this.#trusts = trusts;
  }

  /** Those that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Whether the connection had a refusal as its last answer: what follows is not to be read. */
  refused(socket: object): boolean {
    return this.#refused.has(socket);
  }

  /** Takes nothing more from a connection; what is under way is answered. */
  giveUp(socket: object): void {
    this.#refused.add(socket);
  }

  /**
   * Counts a new connection, or refuses it and closes it.
   *
   * @returns the refusal; null where there is none.
   */
  admit(socket: Socket): Refusal | null {
    const address = socket.remoteAddress ?? '';
    const fromAddress = this.#byAddress.get(address) ?? 0;
    const refusal = this.#judge(address, fromAddress);
    if (refusal !== null) {
      this.#refused.add(socket);
      socket.end(refusalText(refusal));
      return refusal;
    }
    this.#open += 1;
    this.#byAddress.set(address, fromAddress + 1);
    socket.once('close', () => this.#left(address));
    return null;
  }

  #judge(address: string, fromAddress: number): Refusal | null {
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#open >= connections) return REFUSALS.connections;
    const many = connectionsPerAddress !== 0 && fromAddress >= connectionsPerAddress;
    return many && !this.#trusts(address) ? REFUSALS.connectionsOfAddress : null;
  }

  #left(address: string): void {
    this.#open -= 1;
    const others = (this.#byAddress.get(address) ?? 1) - 1;
    if (others === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, others);
  }
}
