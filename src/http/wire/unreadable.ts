/**
 * What is no request, on a connection that may have requests under way.
 *
 * Invariant: a refusal leaves behind the answers to the requests before it. A client would take it
 * for the answer to the first of them, and believe that what was carried out was not.
 */
import type { Socket } from 'node:net';
import type { Pipeline } from './pipeline.ts';
import { type Refusal, refuse, REFUSALS, refuseWith } from './refusals.ts';
import type { IncomingBody } from './request-body.ts';

/** Told of a refusal that was sent. */
export type Tell = (refusal: Refusal | null, socket: Socket) => void;

export class Unreadable {
  readonly #exchanges: Pipeline;
  readonly #tell: Tell;
  /** The latest body of a connection: what cannot be read may be the rest of it. */
  readonly #bodies = new WeakMap<object, IncomingBody>();

  constructor(exchanges: Pipeline, tell: Tell) {
    this.#exchanges = exchanges;
    this.#tell = tell;
  }

  /** A request with a body has begun. */
  expect(connection: object, body: IncomingBody): void {
    this.#bodies.set(connection, body);
  }

  /** Answers what node:http could not read, in its turn, and ends the connection. */
  async refuse(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    const body = this.#bodies.get(socket);
    // Its own exchange waits for the rest, which does not come: the refusal is the answer.
    const now = body?.breakOff() === true || error.code === 'ECONNRESET';
    if (now) this.#tell(refuse(error, socket), socket);
    else await this.#inTurn(socket, () => refuse(error, socket));
  }

  /** CONNECT (RFC 9110, section 9.3.6) hands its connection over: there is no way to answer it. */
  async refuseTunnel(socket: Socket): Promise<void> {
    await this.#inTurn(socket, () => refuseWith(REFUSALS.tunnel, socket));
  }

  async #inTurn(socket: Socket, answer: () => Refusal | null): Promise<void> {
    await this.#exchanges.enter(socket);
    this.#tell(answer(), socket);
    this.#exchanges.leave(socket);
  }
}
