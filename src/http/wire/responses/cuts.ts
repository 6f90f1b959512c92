/**
 * Cuts connections on which a response is being sent.
 *
 * Invariant: a body that was not sent completely never looks complete. A client of HTTP/1.0 takes
 * the end of its connection for the end of a stream (RFC 9112, section 6.3), so that connection is
 * reset instead of closed. The other bodies have a length or chunks.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class Cuts {
  /** Connections with a stream whose end is theirs. */
  readonly #streaming = new Set<Socket>();

  /** Call it before a stream is sent. */
  expectStream(httpVersion: string, outgoing: ServerResponse, connection: Socket): void {
    if (httpVersion === '1.1') return;
    this.#streaming.add(connection);
    const forget = () => this.#streaming.delete(connection);
    outgoing.once('finish', forget);
    connection.once('close', forget);
  }

  cut(connection: Socket): void {
    if (this.#streaming.has(connection)) connection.resetAndDestroy();
    else connection.destroy();
  }

  /** Cuts the connections with streams that would look complete if they were closed. */
  cutStreams(): void {
    for (const connection of this.#streaming) connection.resetAndDestroy();
  }
}
