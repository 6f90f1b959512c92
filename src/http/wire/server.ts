/** The HTTP server: it connects node:http to an application that works with plain values. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createProbe, isIP, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withTimeout } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { networkOf } from '../../network.ts';
import type { HttpResponse } from '../message.ts';
import type { Application } from '../application.ts';
import { type AccessListener, errorRecord } from './access-record.ts';
import { BodyBudget } from './body-memory/body-budget.ts';
import {
  clientAddress,
  type Incoming,
  peerAddress,
  rememberPeer,
  type Trust,
  TRUST_NOBODY,
} from './client-address.ts';
import { ClientErrors } from './client-errors.ts';
import { Connections } from './connections.ts';
import { rejection } from './error-responses.ts';
import { LIMITS, type Limits } from './limits.ts';
import { Pipeline } from './pipeline.ts';
import { ResponseBatch } from './responses/response-batch.ts';
import { handleRequest, type ServerContext } from './request-handler.ts';
import { Cuts } from './responses/cuts.ts';
import { UnreadResponses } from './responses/unread-responses.ts';
import { Teardown } from './teardown.ts';

/** Milliseconds between two checks for connections that are too slow. */
const CONNECTION_CHECK_MS = 1000;

/**
 * Headers of one request. The engine puts their names into a hash table, whose hash function has no
 * secret, so a client can choose names that make it slow: 190 of them took 18 ms.
 */
const MAX_HEADERS = 100;

/**
 * Turns of the event loop that a shutdown waits before it closes idle connections. The first wait
 * ends with the current turn. The next two turns accept the connections that clients have opened,
 * and read the requests that have arrived: until then such a connection looks idle, and to close it
 * would reset it.
 */
const LAST_TURNS = 3;

/** Milliseconds that the remaining connections have to close. */
const CLOSE_MS = 1000;

export interface HttpServer {
  /** The address that it listens on, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Requests that are in progress or wait. */
  readonly requests: number;
  /** Bytes of request bodies in memory. */
  readonly bodyMemory: number;
  /**
   * Accepts no new connections, and waits at most `grace` milliseconds for active requests.
   *
   * @returns whether all of them were answered.
   */
  close(grace: number): Promise<boolean>;
}

/** The names of the flags for the address, for error messages. */
interface AddressFlags {
  readonly host: string;
  readonly port: string;
}

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** `--host` and `--port` if left out. */
  readonly flags?: AddressFlags;
}

export interface ServerOptions extends ListenAddress {
  readonly application: Application;
  /** The path of a socket to listen on instead of host and port. */
  readonly socket?: string;
  /** Called if a response could not be made or sent. */
  readonly onError: (error: unknown) => void;
  readonly listener?: AccessListener;
  /** The proxies that are trusted to name the addresses of clients and the ids of requests. */
  readonly trusts?: Trust;
  readonly limits?: Partial<Limits>;
  /** Whether large bodies and new connections are refused because memory is scarce. */
  readonly isMemoryScarce?: () => boolean;
}

/** @throws CatalogError `listen`. */
export async function startServer(options: ServerOptions): Promise<HttpServer> {
  const context = createContext(options);
  const { pipeline, connections, bodies } = context;
  const server = createHttpServer(context);
  // A worker has checked the requests that it passes on over the socket, and adds headers.
  if (options.socket === undefined) server.maxHeadersCount = MAX_HEADERS;
  await listen(server, options);
  return {
    url: options.socket === undefined ? urlOf(server) : `unix:${options.socket}`,
    get connections() {
      return connections.open;
    },
    get requests() {
      return pipeline.active;
    },
    get bodyMemory() {
      return bodies.budget.held;
    },
    close: (grace) => closeServer(server, context, grace),
  };
}

function urlOf(server: Server): string {
  const { family, address, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function createContext(options: ServerOptions): ServerContext {
  const { application, onError, listener, trusts = TRUST_NOBODY } = options;
  const { isMemoryScarce = () => false } = options;
  const limits = { ...LIMITS, ...options.limits };
  const responseBatch = new ResponseBatch();
  const cuts = new Cuts();
  const clientOf = (request: Incoming) => networkOf(clientAddress(request, trusts));
  const pipeline = new Pipeline({
    limit: limits.pipelined,
    clientOf,
    onDeferredBegun: () => responseBatch.flush(),
  });
  const teardown = new Teardown();
  const clientErrors = new ClientErrors(application, pipeline, teardown, (response, socket) => {
    if (listener?.wants(response.status) !== true) return;
    listener.onResponse(errorRecord(response, peerAddress({ socket })));
  });
  return {
    application,
    onError,
    listener,
    trusts,
    limits,
    bodies: {
      limit: limits.body,
      timeout: limits.requestTimeout,
      budget: new BodyBudget({ limit: limits.bodyMemory, largest: limits.body, isMemoryScarce }),
      onTimeout: (body, connection) => clientErrors.timeOut(body, connection),
    },
    pipeline,
    responseBatch,
    unread: new UnreadResponses(limits.unread, clientOf, cuts),
    cuts,
    connections: new Connections(limits, trusts, isMemoryScarce),
    teardown,
    clientErrors,
  };
}

function createHttpServer(context: ServerContext): Server {
  const { limits, connections, clientErrors } = context;
  const server = createServer({
    // The engine counts the target too, and refuses a sum that reaches this. `handleRequest` judges
    // the target and the headers on their own.
    maxHeaderSize: limits.url + limits.headers + 1,
    headersTimeout: Math.min(limits.headersTimeout, limits.requestTimeout),
    // Bodies have their own timers: the time for a stream depends on its size.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // A missing Host is answered like any other malformed request.
    requireHostHeader: false,
    // Otherwise node:http drops a second Host, Content-Length or Authorization, and only the list of
    // raw headers shows that it came; to make that list takes longer than to route a request.
    joinDuplicateHeaders: true,
    // To read the end of a body that is not there takes as long as to route a request.
    optimizeEmptyRequests: true,
  });
  server.on('request', (request, response) => handleRequest(context, request, response, false));
  const unexpected = { ...context, application: rejectExpectation };
  server.on('checkContinue', (request, response) => {
    // The engine finds the word among other expectations, too.
    handleRequest(isMet(request) ? context : unexpected, request, response, true);
  });
  server.on('checkExpectation', (request, response) => {
    const isEmpty = isMet(request);
    handleRequest(isEmpty ? context : unexpected, request, response, !isEmpty);
  });
  server.on('connection', (socket) => {
    rememberPeer(socket);
    const refusal = connections.admit(socket);
    if (refusal !== null) clientErrors.refuse(refusal, socket);
  });
  server.on('clientError', (error, socket) => clientErrors.handle(error, socket as Socket));
  server.on('connect', (_, socket) => clientErrors.rejectTunnel(socket as Socket));
  return server;
}

/** Whether the list in Expect has no other member than 100-continue. It may be empty. */
function isMet({ headers: { expect = '' } }: IncomingMessage): boolean {
  return expect.split(',').every((each) => /^(?:100-continue)?$/i.test(each.trim()));
}

/** RFC 9110, section 10.1.1. */
function rejectExpectation(): HttpResponse {
  return rejection(417, 'the only supported value of Expect is 100-continue');
}

function listen(server: Server, options: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, options)));
    if (options.socket !== undefined) server.listen(options.socket, resolve);
    else server.listen(options.port, options.host, resolve);
  });
}

const FLAGS: AddressFlags = { host: '--host', port: '--port' };

/** @returns the error for an address that cannot be listened on; its message says what to do. */
function listenFailure(
  error: NodeJS.ErrnoException,
  { host, port, flags = FLAGS }: ListenAddress,
): CatalogError {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use; stop the program that uses it, or choose another with ${flags.port}`,
    EACCES: `port ${port} requires root; choose one above 1023 with ${flags.port}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; choose another with ${flags.host}`,
  };
  // For a name without an address the engine reports the last system error, even an unrelated one.
  const reason = isIP(host) === 0 ? '' : ` (${messageOf(error)})`;
  const message =
    messages[error.code ?? ''] ??
    `cannot listen on ${host}${reason}; choose an address of this machine with ${flags.host}, such as 127.0.0.1 or 0.0.0.0`;
  return new CatalogError('listen', message, { cause: error });
}

/**
 * Finds out whether a server could listen on addresses, and leaves them free again.
 *
 * @returns their ports; a free one for each 0.
 * @throws CatalogError `listen` if one is in use or is none of this machine, or two are the same.
 */
export async function freePorts(addresses: readonly ListenAddress[]): Promise<number[]> {
  const probes: Probe[] = [];
  try {
    for (const address of addresses) probes.push(await probe(address));
    return probes.map(({ port }) => port);
  } finally {
    await Promise.all(probes.map(({ close }) => close()));
  }
}

interface Probe {
  readonly port: number;
  readonly close: () => Promise<void>;
}

function probe(address: ListenAddress): Promise<Probe> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    // An open connection would keep the port.
    const server = createProbe((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, address)));
    server.listen({ host, port, exclusive: true }, () => {
      const { port: found } = server.address() as AddressInfo;
      resolve({ port: found, close: () => new Promise((closed) => server.close(() => closed())) });
    });
  });
}

async function closeServer(
  server: Server,
  { pipeline, cuts }: Pick<ServerContext, 'pipeline' | 'cuts'>,
  grace: number,
): Promise<boolean> {
  pipeline.closing = true;
  for (let turn = 0; turn < LAST_TURNS; turn += 1) await nextTurn();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const answered = pipeline.idle().then(() => true);
  const areAnswered = await withTimeout(answered, grace, () => false);
  // The remaining connections are idle or out of time. The last responses get one turn to be sent.
  await nextTurn();
  cuts.cutStreams();
  server.closeAllConnections();
  await withTimeout(closed, CLOSE_MS, () => {});
  return areAnswered;
}
