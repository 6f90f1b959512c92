/**
 * node:http on one side, plain values on the other.
 *
 * Invariant: an answer leaves only when the request's body was read to its end, or with
 * `Connection: close`. Otherwise the rest of the body would be taken for the next request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CatalogError, messageOf } from '../../errors.ts';
import type { AccessRecord } from '../../telemetry/requests.ts';
import { accessRecord, refusalRecord } from './access-record.ts';
import { clientAddress, peerAddress, type Trust, TRUST_NOBODY } from './client-address.ts';
import { Connections } from './connections.ts';
import { type HttpResponse, type HttpRequest, NO_BODY } from '../message.ts';
import { Pipeline } from './pipeline.ts';
import { LIMITS, type Limits } from './limits.ts';
import { faultOf, targetOf } from './malformed.ts';
import { type Refusal, refused } from './refusals.ts';
import { hasBody, IncomingBody } from './request-body.ts';
import { sendResponse, waitFor } from './response-body.ts';
import type { Application } from '../router.ts';
import { givenId, REQUEST_ID, Trace } from './trace.ts';
import { Unreadable } from './unreadable.ts';

/** Milliseconds between two looks at which connections have been slow for too long. */
const CONNECTION_CHECK_MS = 1000;

export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Takes no new connections, and waits for the requests under way, at most `grace` ms. */
  close(grace: number): Promise<void>;
}

/** Who is told of answers. */
export interface Watcher {
  /** Whether answers of the status are of interest: what there is to tell is gathered then. */
  wants(status: number): boolean;
  answered(answered: AccessRecord): void;
}

interface Flags {
  readonly host: string;
  readonly port: string;
}

export interface ServerOptions {
  readonly application: Application;
  readonly host: string;
  readonly port: number;
  /** Told of an answer that could not be sent. */
  readonly onError: (error: unknown) => void;
  readonly watcher?: Watcher;
  /** The flags that a refused address is told by. */
  readonly flags?: Flags;
  /** Whose word on addresses and request ids is taken. */
  readonly trusts?: Trust;
  readonly limits?: Partial<Limits>;
}

/** What an exchange needs of the server that it is part of. */
interface Service {
  readonly application: Application;
  readonly onError: (error: unknown) => void;
  readonly watcher: Watcher | undefined;
  readonly trusts: Trust;
  readonly limits: Limits;
  readonly exchanges: Pipeline;
  readonly connections: Connections;
  readonly unreadable: Unreadable;
}

/** @throws CatalogError `listen`. */
export async function startServer(options: ServerOptions): Promise<HttpServer> {
  const { application, onError, watcher, trusts = TRUST_NOBODY } = options;
  const limits = { ...LIMITS, ...options.limits };
  const exchanges = new Pipeline(limits.pipelined);
  const connections = new Connections(limits, trusts);
  const tell = (refusal: Refusal | null, socket: Socket) => {
    if (refusal === null || watcher?.wants(refusal.status) !== true) return;
    watcher.answered(refusalRecord(refusal, peerAddress({ socket })));
  };
  const unreadable = new Unreadable(exchanges, tell);
  const own = { limits, exchanges, connections, unreadable };
  const service = { application, onError, watcher, trusts, ...own };
  const server = createServer({
    maxHeaderSize: limits.headers,
    // node:http wants the time for a part to be within the time for the whole.
    headersTimeout: Math.min(limits.headersTimeout, limits.requestTimeout),
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // The refusal is ours to word.
    requireHostHeader: false,
  });
  const serve = (request: IncomingMessage, response: ServerResponse, continues: boolean) =>
    void handleRequest(service, request, response, continues);
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('checkExpectation', (request, response) => {
    // RFC 9110, section 10.1.1.
    void handleRequest({ ...service, application: refuseExpectation }, request, response, true);
  });
  server.on('connection', (socket) => tell(connections.admit(socket), socket));
  server.on('clientError', (error, socket) => void unreadable.refuse(error, socket as Socket));
  server.on('connect', (_, socket) => void unreadable.refuseTunnel(socket as Socket));
  await listen(server, options);
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    get connections() {
      return connections.open;
    },
    close: (grace) => closeServer(server, exchanges, grace),
  };
}

async function handleRequest(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  continues: boolean,
): Promise<void> {
  const { limits, exchanges, connections, onError: failed, watcher, unreadable } = service;
  const connection = incoming.socket;
  if (connections.refused(connection)) return;
  const begun = performance.now();
  const body = hasBody(incoming)
    ? new IncomingBody(incoming, limits.body, continues ? outgoing : null)
    : null;
  if (body !== null) unreadable.expect(connection, body);
  const turn = exchanges.enter(connection);
  if (turn === 'end') connection.destroy();
  if (turn === 'end' || turn === 'ignore') return;
  // What one request changes, the next on the connection sees (RFC 9112, section 9.3.2).
  const admitted = turn === undefined || (await turn);
  // Of a client that has gone, what waited for its turn is not carried out.
  const gone = turn !== undefined && connection.destroyed;
  if (gone || connections.refused(connection) || body?.begin() === false) {
    exchanges.leave(connection);
    return;
  }
  if (!admitted) connections.giveUp(connection);
  try {
    const fault = faultOf(incoming);
    // Where it ends is a guess: nothing behind it is taken for a request.
    if (fault !== null) connections.giveUp(connection);
    const request = requestOf(service, incoming, body);
    const answering = !admitted
      ? refused(503, `more than ${limits.pipelined} requests wait on this connection`)
      : fault === null
        ? answerTo(service, incoming, request)
        : refused(400, fault);
    const answer = answering instanceof Promise ? await answering : answering;
    const whole = body === null || (await body.finish());
    const keep = whole && !exchanges.closing;
    if (request.headers[REQUEST_ID] !== undefined || answer.status >= 500) {
      answer.headers['X-Request-Id'] = request.trace.id;
    }
    if (!keep) answer.headers['Connection'] = 'close';
    const milliseconds = performance.now() - begun;
    const delivery = { outgoing, connection, timeout: limits.sendTimeout, onError: failed };
    const sending = sendResponse(delivery, answer, request.method === 'HEAD');
    const bytes = sending instanceof Promise ? await sending : sending;
    if (watcher?.wants(answer.status) === true) {
      watcher.answered(accessRecord(request, answer, bytes, milliseconds, connection.destroyed));
    }
    // Until the client has taken the response, no other request of its connection is carried out:
    // the responses to a client that does not read would be kept here.
    if (!outgoing.writableFinished) await waitFor(delivery, 'finish');
  } catch (error) {
    failed(error);
    incoming.destroy();
  } finally {
    exchanges.leave(connection);
  }
}

function refuseExpectation(): HttpResponse {
  return refused(417, 'only 100-continue can be expected');
}

function answerTo(
  { application, limits }: Service,
  incoming: IncomingMessage,
  request: HttpRequest,
): HttpResponse | Promise<HttpResponse> {
  if ((incoming.url?.length ?? 0) > limits.url) {
    return refused(414, `the target of a request has at most ${limits.url} bytes`);
  }
  return application(request);
}

function requestOf(
  { trusts }: Service,
  incoming: IncomingMessage,
  body: IncomingBody | null,
): HttpRequest {
  const target = targetOf(incoming);
  const query = target.indexOf('?');
  const proxied = trusts !== TRUST_NOBODY && trusts(peerAddress(incoming));
  return {
    method: incoming.method ?? 'GET',
    path: query < 0 ? target : target.slice(0, query),
    search: query < 0 ? '' : target.slice(query + 1),
    headers: incoming.headers,
    get address() {
      return clientAddress(incoming, trusts);
    },
    trace: new Trace(proxied ? givenId(incoming.headers) : null),
    body: body ?? NO_BODY,
  };
}

function listen(server: Server, options: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, options)));
    server.listen(options.port, options.host, resolve);
  });
}

const FLAGS: Flags = { host: '--host', port: '--port' };

function listenFailure(error: NodeJS.ErrnoException, options: ServerOptions): CatalogError {
  const { host, port, flags = FLAGS } = options;
  const what: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use; stop the program that has it, or name another with ${flags.port}`,
    EACCES: `port ${port} is for root alone; name one above 1023 with ${flags.port}`,
    EADDRNOTAVAIL: `${host} is no address of this machine; name another with ${flags.host}`,
  };
  const message =
    what[error.code ?? ''] ?? `${host}:${port} cannot be listened on: ${messageOf(error)}`;
  return new CatalogError('listen', message, { cause: error });
}

async function closeServer(server: Server, exchanges: Pipeline, grace: number): Promise<void> {
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
