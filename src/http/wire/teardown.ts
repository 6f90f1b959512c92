/**
 * The tear-down of connections (RFC 9112, section 9.6): who sends the last response of a connection,
 * and when the connection closes.
 *
 * Contract:
 * 1. A connection has one last response: a response with `Connection: close` (request-handler.ts),
 *    an error in its bytes (client-errors.ts), or its refusal (server.ts). Whoever has one calls
 *    {@link Teardown.begin} or sends it here, and does so only while {@link Teardown.isOpen}.
 * 2. After that no request of the connection begins, and errors in its bytes are ignored.
 * 3. A response that is sent here closes the connection in stages: the server closes its side, and
 *    the other side when the client does or its time is over. To close both at once may destroy the
 *    response in transit, if bytes of the client are unread. To wait for the client would let it
 *    keep the connection, and what its request holds.
 */
import type { Socket } from 'node:net';
import { type Delay, delayed } from '../../delay.ts';
import { type ErrorResponse, serialize } from './error-responses.ts';

/** Milliseconds that a client has to read the last response of its connection and to close it. */
const LINGER_MS = 1000;

/** Refused connections that wait for their clients. The limits do not count their descriptors. */
const MAX_REFUSED = 100;

export class Teardown {
  readonly #delay: Delay;
  readonly #begun = new WeakSet<Socket>();
  #refused = 0;

  constructor(delay: Delay = delayed) {
    this.#delay = delay;
  }

  /** Whether requests of the connection may begin, and its last response was not sent yet. */
  isOpen(socket: Socket): boolean {
    return !socket.destroyed && !this.#begun.has(socket);
  }

  /** Call it before the last response is sent, by node:http or by {@link end}. */
  begin(socket: Socket): void {
    this.#begun.add(socket);
  }

  /**
   * Sends the last response, and closes the connection in stages.
   *
   * @param lingerMs milliseconds that the client has to close the connection.
   * @param head whether the body is left out, as in the response to HEAD.
   * @returns whether the client can still receive it.
   */
  end(response: ErrorResponse, socket: Socket, lingerMs = LINGER_MS, head = false): boolean {
    this.#begun.add(socket);
    if (!socket.writable) {
      socket.destroy();
      return false;
    }
    socket.end(serialize(response, head));
    socket.once(
      'close',
      this.#delay(() => socket.destroy(), lingerMs),
    );
    return true;
  }

  /** Sends the response to a connection that is refused, of which only some may wait. */
  refuse(response: ErrorResponse, socket: Socket): void {
    this.end(response, socket);
    if (this.#refused >= MAX_REFUSED) {
      socket.destroy();
      return;
    }
    this.#refused += 1;
    socket.once('close', () => {
      this.#refused -= 1;
    });
  }
}
