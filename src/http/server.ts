/**
 * node:http on one side, plain values on the other.
 *
 * Invariant: an answer leaves only when the request's body was read to its end, or with
 * `Connection: close`. Otherwise the rest of the body would be taken for the next request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CatalogError, messageOf } from '../errors.ts';
import type { Answer, Request } from './exchange.ts';
import { refuse, refused } from './refusal.ts';
import { Body, hasBody } from './request-body.ts';
import type { Application } from './router.ts';

export interface Limits {
  /** Bytes of a body. */
  readonly body: number;
  /** Bytes of all headers together. */
  readonly headers: number;
  /** Milliseconds until the headers are there. */
  readonly headersTimeout: number;
  /** Milliseconds until the whole request is there. */
  readonly requestTimeout: number;
  /** Milliseconds that an idle connection stays open. */
  readonly keepAliveTimeout: number;
}

const LIMITS: Limits = {
  body: 1024 * 1024,
  headers: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
};

export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Takes no new connections, and waits for the requests under way, at most `grace` ms. */
  close(grace: number): Promise<void>;
}

/** What an exchange needs of the server that it is part of. */
interface Service {
  readonly application: Application;
  readonly limits: Limits;
  readonly exchanges: Exchanges;
  /** Told of an answer that could not be sent. */
  readonly failed: (error: unknown) => void;
}

/** @throws CatalogError `listen`. */
export async function startServer(
  application: Application,
  host: string,
  port: number,
  failed: (error: unknown) => void,
  some: Partial<Limits> = {},
): Promise<HttpServer> {
  const limits = { ...LIMITS, ...some };
  const exchanges = new Exchanges();
  const service: Service = { application, limits, exchanges, failed };
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    // The refusal is ours to word.
    requireHostHeader: false,
  });
  const serve = (request: IncomingMessage, response: ServerResponse, continues: boolean) =>
    void exchange(service, request, response, continues);
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('checkExpectation', (request, response) => {
    // RFC 9110, section 10.1.1.
    void exchange({ ...service, application: refuseExpectation }, request, response, true);
  });
  server.on('clientError', refuse);
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    close: (grace) => closeServer(server, exchanges, grace),
  };
}

/** The requests under way, and whether there are to be more. */
class Exchanges {
  closing = false;
  #active = 0;
  #idle: (() => void) | null = null;
  /** Pipelined requests by their connection: each waits until the one before it is answered. */
  readonly #turns = new Map<object, (() => void)[] | null>();

  /** @returns what to wait for, where the connection has a request under way already. */
  enter(connection: object): Promise<void> | undefined {
    this.#active += 1;
    const waiting = this.#turns.get(connection);
    if (waiting === undefined) {
      this.#turns.set(connection, null);
      return undefined;
    }
    return new Promise((resolve) => this.#turns.set(connection, [...(waiting ?? []), resolve]));
  }

  leave(connection: object): void {
    this.#active -= 1;
    const next = this.#turns.get(connection)?.shift();
    if (next === undefined) this.#turns.delete(connection);
    else next();
    if (this.#active === 0) this.#idle?.();
  }

  idle(): Promise<void> {
    return this.#active === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#idle = resolve;
        });
  }
}

async function exchange(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  continues: boolean,
): Promise<void> {
  const { application, limits, exchanges, failed } = service;
  const connection = incoming.socket;
  const turn = exchanges.enter(connection);
  // What one request changes, the next on the connection sees (RFC 9112, section 9.3.2).
  if (turn !== undefined) await turn;
  try {
    const body = hasBody(incoming)
      ? new Body(incoming, limits.body, continues ? outgoing : null)
      : null;
    const answering = answerTo(application, incoming, body);
    const answer = answering instanceof Promise ? await answering : answering;
    const whole = body === null || (await body.finish());
    send(outgoing, answer, incoming.method === 'HEAD', whole && !exchanges.closing);
  } catch (error) {
    failed(error);
    incoming.destroy();
  } finally {
    exchanges.leave(connection);
  }
}

function refuseExpectation(): Answer {
  return refused(417, 'only 100-continue can be expected');
}

function answerTo(
  application: Application,
  incoming: IncomingMessage,
  body: Body | null,
): Answer | Promise<Answer> {
  // RFC 9112, section 3.2.
  if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
    return refused(400, 'an HTTP/1.1 request names its host');
  }
  return application(requestOf(incoming, body));
}

function requestOf(incoming: IncomingMessage, body: Body | null): Request {
  const { url = '/' } = incoming;
  // The absolute form names this server, as a proxy would (RFC 9112, section 3.2.2).
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
  const query = target.indexOf('?');
  return {
    method: incoming.method ?? 'GET',
    path: query < 0 ? target : target.slice(0, query),
    search: query < 0 ? '' : target.slice(query + 1),
    headers: incoming.headers,
    address: incoming.socket.remoteAddress ?? '',
    body: () => (body === null ? Promise.resolve(new Uint8Array()) : body.read()),
  };
}

function send(outgoing: ServerResponse, answer: Answer, head: boolean, keep: boolean): void {
  const { status, headers, body } = answer;
  if (body !== null) headers['Content-Length'] = String(Buffer.byteLength(body));
  if (!keep) headers['Connection'] = 'close';
  outgoing.writeHead(status, headers);
  outgoing.end(head || body === null ? undefined : body);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenFailure(error, host, port)),
    );
    server.listen(port, host, resolve);
  });
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): CatalogError {
  const what: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use; stop the program that has it, or name another with --port`,
    EACCES: `port ${port} is for root alone; name one above 1023 with --port`,
    EADDRNOTAVAIL: `${host} is no address of this machine; name another with --host`,
  };
  const message =
    what[error.code ?? ''] ?? `${host}:${port} cannot be listened on: ${messageOf(error)}`;
  return new CatalogError('listen', message, { cause: error });
}

async function closeServer(server: Server, exchanges: Exchanges, grace: number): Promise<void> {
  exchanges.closing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, grace);
  });
  await Promise.race([exchanges.idle(), late]);
  clearTimeout(timer);
  // What is left is idle, or has had its time. The last answers get a turn to leave.
  await new Promise((resolve) => setImmediate(resolve));
  server.closeAllConnections();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
}
