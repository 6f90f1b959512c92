/**
 * node:http on one side, plain values on the other.
 *
 * Invariant: an answer leaves only when the request's body was read to its end, or with
 * `Connection: close`. Otherwise the rest of the body would be taken for the next request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { CatalogError, messageOf } from '../errors.ts';
import type { Answer, Request } from './exchange.ts';
import { JSON_TYPE } from './negotiate.ts';
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

export const LIMITS: Limits = {
  body: 1024 * 1024,
  headers: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
};

/** What of a refused body is read and thrown away, so that its sender comes to read the answer. */
const DRAINED = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Takes no new connections, and waits for the requests under way, at most `grace` ms. */
  close(grace: number): Promise<void>;
}

/** @throws CatalogError `listen`. */
export async function startServer(
  application: Application,
  host: string,
  port: number,
  limits: Limits = LIMITS,
): Promise<HttpServer> {
  const state = new Connections();
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
  });
  const serve = (request: IncomingMessage, response: ServerResponse, continues: boolean) =>
    void exchange(application, request, response, limits.body, state, continues);
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('clientError', refuse);
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    close: (grace) => closeServer(server, state, grace),
  };
}

/** How many requests are under way, and whether there are to be more. */
class Connections {
  closing = false;
  #active = 0;
  #idle: (() => void) | null = null;

  enter(): void {
    this.#active += 1;
  }

  leave(): void {
    this.#active -= 1;
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
  application: Application,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limit: number,
  state: Connections,
  continues: boolean,
): Promise<void> {
  state.enter();
  try {
    const body = hasBody(incoming) ? new Body(incoming, limit, continues ? outgoing : null) : null;
    const answer = await application(requestOf(incoming, body));
    const whole = body === null || (await body.finish());
    send(outgoing, answer, incoming.method === 'HEAD', whole && !state.closing);
  } catch {
    // The application answers every failure itself: what is left is a connection that broke.
    incoming.destroy();
  } finally {
    state.leave();
  }
}

/** RFC 9112, section 6.3: without either header a request has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredLength(headers) > 0;
}

function declaredLength(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0);
}

function requestOf(incoming: IncomingMessage, body: Body | null): Request {
  const { url = '/' } = incoming;
  // The absolute form names this server, as a proxy would (RFC 9112, section 3.2.2).
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  const query = target.indexOf('?');
  return {
    method: incoming.method ?? 'GET',
    path: query < 0 ? target : target.slice(0, query),
    search: query < 0 ? '' : target.slice(query + 1),
    headers: incoming.headers,
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

/** The body of a request: read at most once, and read to its end in any case. */
class Body {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  /** The response to a client that waits for `100 Continue` before it sends the body. */
  readonly #waiting: ServerResponse | null;
  #read = false;

  constructor(incoming: IncomingMessage, limit: number, waiting: ServerResponse | null) {
    this.#incoming = incoming;
    this.#limit = limit;
    this.#waiting = waiting;
  }

  /** @throws CatalogError `body_too_large`, `malformed_request`. */
  read(): Promise<Uint8Array> {
    const declared = declaredLength(this.#incoming.headers);
    if (declared > this.#limit) return Promise.reject(tooLarge(this.#limit));
    this.#read = true;
    this.#waiting?.writeContinue();
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      incoming.on('data', (chunk: Uint8Array) => {
        size += chunk.length;
        // Beyond the limit nothing is kept; `finish` sees the rest go by.
        if (size > this.#limit) reject(tooLarge(this.#limit));
        else chunks.push(chunk);
      });
      incoming.on('end', () => {
        if (incoming.complete) resolve(Buffer.concat(chunks, size));
        else reject(cutOff());
      });
      incoming.on('error', () => reject(cutOff()));
      incoming.on('close', () => reject(cutOff()));
    });
  }

  /** Reads on to the end of the body. @returns whether it came, within bounds. */
  finish(): Promise<boolean> {
    const incoming = this.#incoming;
    if (incoming.complete) return Promise.resolve(true);
    // Who waits for `100 Continue` and does not get it, sends nothing.
    if (this.#waiting !== null && !this.#read) return Promise.resolve(false);
    if (declaredLength(incoming.headers) > DRAINED.bytes) return Promise.resolve(false);
    return new Promise((resolve) => {
      let size = 0;
      const timer = setTimeout(() => resolve(false), DRAINED.milliseconds);
      const settle = (whole: boolean) => {
        clearTimeout(timer);
        resolve(whole);
      };
      incoming.on('data', (chunk: Uint8Array) => {
        size += chunk.length;
        if (size > DRAINED.bytes) settle(false);
      });
      incoming.on('end', () => settle(incoming.complete));
      incoming.on('error', () => settle(false));
      incoming.on('close', () => settle(false));
    });
  }
}

function tooLarge(limit: number): CatalogError {
  return new CatalogError('body_too_large', `the body is larger than ${limit} bytes`);
}

function cutOff(): CatalogError {
  return new CatalogError('malformed_request', 'the body is cut off');
}

/** Answers what node:http could not read as a request, in the shape of every other failure. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = REFUSALS[error.code ?? ''] ?? ['400 Bad Request', 'this is not HTTP'];
  const body = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const REFUSALS: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
};

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

async function closeServer(server: Server, state: Connections, grace: number): Promise<void> {
  state.closing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, grace);
  });
  await Promise.race([state.idle(), late]);
  clearTimeout(timer);
  // What is left is idle, or has had its time. The last answers get a turn to leave.
  await new Promise((resolve) => setImmediate(resolve));
  server.closeAllConnections();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
}
