/**
 * Passes one request from node:http to the application, and its response back.
 *
 * Invariant: a response is sent only after the body of its request was received to its end, or with
 * `Connection: close`. Otherwise the rest of the body would be read as the next request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpRequest, type HttpResponse, NO_BODY } from '../message.ts';
import type { Application } from '../application.ts';
import { type AccessListener, accessRecord } from './access-record.ts';
import {
  clientAddress,
  type Incoming,
  peerAddress,
  TRUST_NOBODY,
  type Trust,
} from './client-address.ts';
import type { ClientErrors } from './client-errors.ts';
import type { Connections } from './connections.ts';
import type { ResponseBatch } from './responses/response-batch.ts';
import { type ErrorResponse, HEADERS_TOO_LARGE, rejection } from './error-responses.ts';
import type { Limits } from './limits.ts';
import type { Handling, Pipeline } from './pipeline.ts';
import { type BodySettings, hasBody, IncomingBody } from './request-body.ts';
import { headerBytes, syntaxError, targetOf } from './request-syntax.ts';
import { type ResponseSink, sendResponse, waitFor } from './responses/response-body.ts';
import { givenId, REQUEST_ID, Trace } from './trace.ts';
import type { Cuts } from './responses/cuts.ts';
import type { UnreadResponses } from './responses/unread-responses.ts';
import type { Teardown } from './teardown.ts';

/** The parts of a server that all its requests share. */
export interface ServerContext {
  readonly application: Application;
  /** Called if a response could not be made or sent. */
  readonly onError: (error: unknown) => void;
  readonly listener: AccessListener | undefined;
  readonly trusts: Trust;
  readonly limits: Limits;
  readonly bodies: BodySettings;
  readonly pipeline: Pipeline<Incoming>;
  readonly responseBatch: ResponseBatch;
  readonly unread: UnreadResponses;
  readonly cuts: Cuts;
  readonly connections: Connections;
  readonly teardown: Teardown;
  readonly clientErrors: ClientErrors;
}

/** A request and its response, from the admission to the last byte. */
interface Exchange extends ResponseSink {
  readonly body: IncomingBody | null;
  /** When its headers were read, on the clock of `performance.now`. */
  readonly started: number;
}

const WAIT_FOR_RESPONSES =
  'too many requests are waiting on this connection; wait for responses before you send more';

/** @param awaitsContinue whether the client sends the body after `100 Continue` only. */
export function handleRequest(
  context: ServerContext,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  awaitsContinue: boolean,
): void {
  const { pipeline, teardown, clientErrors, bodies, limits, unread, cuts, onError } = context;
  const connection = incoming.socket;
  if (!teardown.isOpen(connection)) return;
  const started = performance.now();
  const waiting = awaitsContinue ? outgoing : null;
  const body = hasBody(incoming) ? new IncomingBody(incoming, bodies, waiting) : null;
  if (body !== null) clientErrors.expectBody(connection, body);
  const timeout = limits.sendTimeout;
  const shared = { timeout, unread, cuts, onError };
  const exchange = { ...shared, incoming, outgoing, connection, body, started };
  const admission = pipeline.admit(connection, incoming, started);
  switch (admission.kind) {
    case 'start':
      body?.begin();
      void serve(context, exchange, 'serve', (send) => context.responseBatch.add(send));
      return;
    case 'wait': {
      const schedule = admission.isDeferred
        ? (send: () => void) => context.responseBatch.add(send)
        : (send: () => void) => send();
      // A client may have closed its side after its last request, so responses must not be held.
      if (!admission.isDeferred) context.responseBatch.flush();
      void admission.handling.then((how) =>
        canBegin(context, exchange)
          ? serve(context, exchange, how, schedule)
          : abandon(context, exchange),
      );
      return;
    }
    case 'ignore':
      return;
    case 'disconnect':
      connection.destroy();
  }
}

/**
 * Handles a request once it may begin, and completes it. Awaits only values that are not ready yet.
 *
 * @param schedule sends the response to a read, at once or together with others.
 */
async function serve(
  context: ServerContext,
  exchange: Exchange,
  handling: Handling,
  schedule: (send: () => void) => void,
): Promise<void> {
  try {
    const request = toHttpRequest(context, exchange);
    const responding = respond(context, exchange, request, handling);
    const response = responding instanceof Promise ? await responding : responding;
    const send = () => void complete(context, exchange, request, response);
    // Responses to writes come together anyway: a group of writes waits for one commit.
    if (request.method === 'GET') schedule(send);
    else send();
  } catch (error) {
    context.onError(error);
    // If only the request were destroyed, the engine would send an empty 200.
    exchange.connection.destroy();
    abandon(context, exchange);
  }
}

function abandon({ pipeline }: ServerContext, { body, connection }: Exchange): void {
  body?.release();
  pipeline.complete(connection);
}

/** Sends the response, and waits until the client has taken it. Never rejects. */
async function complete(
  context: ServerContext,
  exchange: Exchange,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const { pipeline, teardown, listener, onError } = context;
  const { outgoing, connection, body, started } = exchange;
  try {
    const finishing = body === null || body.finish();
    const received = finishing instanceof Promise ? await finishing : finishing;
    body?.release();
    if (!received || pipeline.closing) response.headers['Connection'] = 'close';
    // What the client has sent after this request counts as not carried out, and it may send it
    // again elsewhere (RFC 9112, section 9.6).
    if (response.headers['Connection'] === 'close') teardown.begin(connection);
    addRequestId(request, response);
    const milliseconds = performance.now() - started;
    const answer = body?.answer ?? null;
    const sending =
      answer === null ? transmit(context, exchange, response, received) : bytesOf(answer);
    const bytes = sending instanceof Promise ? await sending : sending;
    const { status } = answer ?? response;
    if (!request.trace.isLoggedElsewhere && listener?.wants(status) === true) {
      const gone = answer === null && connection.destroyed;
      listener.onResponse(accessRecord(request, status, bytes, milliseconds, gone));
    }
    // No other request of the connection is carried out until the client has taken the response.
    // Otherwise the responses to a client that does not read would pile up in memory.
    if (!outgoing.writableFinished && connection.writable) await waitFor(exchange, 'finish');
  } catch (error) {
    onError(error);
    // If only the request were destroyed, the engine would send an empty 200.
    connection.destroy();
  } finally {
    abandon(context, exchange);
  }
}

/** Milliseconds that a client has to send the rest of a long body and to read the response to it. */
const BODY_LINGER_MS = 5000;

/**
 * Sends the response. If the body of the request was not received to its end, the engine would close
 * the connection at once, and the system would then answer the rest of the body with a reset, at
 * which many clients report a broken connection instead of the response. So after an error the
 * connection is closed in stages.
 */
function transmit(
  { teardown }: ServerContext,
  exchange: Exchange,
  response: HttpResponse,
  isReceived: boolean,
): number | Promise<number> {
  const { incoming, outgoing, connection, body } = exchange;
  const { status, headers, body: content } = response;
  const head = incoming.method === 'HEAD';
  if (isReceived) return sendResponse(exchange, response, head);
  // The error of another host, or of the owner of a worker, is bytes.
  const isWhole = typeof content === 'string' || content instanceof Uint8Array;
  if (status >= 400 && isWhole) {
    const last = { status, headers, body: content };
    if (teardown.end(last, connection, BODY_LINGER_MS, head)) body?.drop();
    return head ? 0 : bytesOf(last);
  }
  const sending = sendResponse(exchange, response, head);
  // The engine would receive and drop the rest of the body for as long as the response takes,
  // however small its chunks are.
  if (!outgoing.writableFinished) incoming.pause();
  return sending;
}

function bytesOf({ body }: ErrorResponse): number {
  return Buffer.byteLength(body);
}

/** Adds the id if the client sent one. Every fault has one, so that the log can be searched. */
function addRequestId({ headers, trace }: HttpRequest, response: HttpResponse): void {
  if (headers[REQUEST_ID] === undefined && response.status < 500) return;
  response.headers['X-Request-Id'] = trace.id;
}

/** Whether a request that has waited may still begin, and its body can still arrive. */
function canBegin({ teardown }: ServerContext, { connection, body }: Exchange): boolean {
  return teardown.isOpen(connection) && body?.begin() !== false;
}

function respond(
  context: ServerContext,
  { incoming }: Exchange,
  request: HttpRequest,
  handling: Handling,
): HttpResponse | Promise<HttpResponse> {
  const { application, limits } = context;
  const error = syntaxError(incoming);
  if (handling === 'reject') return rejection(503, WAIT_FOR_RESPONSES);
  // The end of a malformed request is uncertain, so nothing after it is read as a request.
  if (error !== null) return rejection(400, error);
  if ((incoming.url?.length ?? 0) > limits.url) {
    return rejection(414, `the request target is longer than ${limits.url} bytes`);
  }
  if (headerBytes(incoming) > limits.headers) return rejection(431, HEADERS_TOO_LARGE);
  return application(request);
}

function toHttpRequest(
  { trusts }: ServerContext,
  { incoming, body, connection }: Exchange,
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
    whenGone(listener) {
      // The checks before a wait may have taken so long that the event has passed.
      if (connection.destroyed) listener();
      else connection.once('close', listener);
      return () => void connection.off('close', listener);
    },
  };
}
