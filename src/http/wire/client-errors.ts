/**
 * Responds to bytes that are not a valid request, on a connection that may have other requests in
 * progress.
 *
 * Invariant: the error is sent after the responses to all earlier requests (spec 11.2). Otherwise
 * the client would take it for the response to the first of them.
 */
import type { Socket } from 'node:net';
import { type HttpResponse, whenReady } from '../message.ts';
import type { Application } from '../application.ts';
import { ERROR_RESPONSES, type ErrorResponse, responseToParseError } from './error-responses.ts';
import type { Incoming } from './client-address.ts';
import type { Pipeline } from './pipeline.ts';
import type { IncomingBody } from './request-body.ts';
import type { Teardown } from './teardown.ts';
import { type ParseError, unknownMethod } from './unknown-methods.ts';

/** Called for every error response that was sent but to a request in progress, which has a record. */
type OnErrorResponse = (response: ErrorResponse, socket: Socket) => void;

export class ClientErrors {
  readonly #application: Application;
  readonly #pipeline: Pipeline<Incoming>;
  readonly #teardown: Teardown;
  readonly #onResponse: OnErrorResponse;
  /** The latest body of each connection: bytes that cannot be parsed may belong to it. */
  readonly #bodies = new WeakMap<object, IncomingBody>();

  /** @param application refuses methods that the parser does not know. */
  constructor(
    application: Application,
    pipeline: Pipeline<Incoming>,
    teardown: Teardown,
    onResponse: OnErrorResponse,
  ) {
    this.#application = application;
    this.#pipeline = pipeline;
    this.#teardown = teardown;
    this.#onResponse = onResponse;
  }

  /** Call it for every request with a body. */
  expectBody(connection: object, body: IncomingBody): void {
    this.#bodies.set(connection, body);
  }

  /** Responds to a connection that is refused. */
  refuse(response: ErrorResponse, socket: Socket): void {
    this.#teardown.refuse(response, socket);
    this.#onResponse(response, socket);
  }

  /** Responds to an error of node:http's parser, and ends the connection. */
  handle(error: ParseError, socket: Socket): void {
    const body = this.#bodies.get(socket);
    const broken = body?.breakOff();
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (!this.#teardown.isOpen(socket)) return;
    const response = responseToParseError(error);
    if (body !== undefined && (broken === 'begun' || broken === 'awaited')) {
      // A write that does not wait for its body may have been carried out. Its response ends the
      // connection.
      if (broken === 'awaited' || body.isOfSafeRequest) this.#answer(body, response, socket);
      return;
    }
    const request = unknownMethod(error, socket);
    if (request === null) this.#endInOrder(response, socket);
    else {
      void whenReady(this.#application(request), (refusal) =>
        this.#endInOrder(lastResponse(refusal), socket),
      );
    }
  }

  /** Responds to a request whose body takes too long, and ends its connection. */
  timeOut(body: IncomingBody, socket: Socket): void {
    if (body.breakOff() === 'awaited') this.#answer(body, ERROR_RESPONSES.slow, socket);
  }

  /** CONNECT (RFC 9110, section 9.3.6): node:http hands over the connection, not a request. */
  rejectTunnel(socket: Socket): void {
    this.#endInOrder(ERROR_RESPONSES.tunnel, socket);
  }

  #endInOrder(response: ErrorResponse, socket: Socket): void {
    const admission = this.#pipeline.admit(socket, { socket, headers: {} }, performance.now());
    const end = () => {
      if (this.#teardown.isOpen(socket) && this.#teardown.end(response, socket)) {
        this.#onResponse(response, socket);
      }
      this.#pipeline.complete(socket);
    };
    switch (admission.kind) {
      case 'start':
        end();
        return;
      case 'wait':
        void admission.handling.then(end);
        return;
      case 'ignore':
        // The rejection of a request before this one ends the connection.
        return;
      case 'disconnect':
        socket.destroy();
    }
  }

  /** Responds in place of the request in progress. The record of that request names the response. */
  #answer(body: IncomingBody, response: ErrorResponse, socket: Socket): void {
    if (this.#teardown.end(response, socket)) body.answer = response;
  }
}

/** A refusal of the application, whose body is always text. */
function lastResponse({ status, headers, body }: HttpResponse): ErrorResponse {
  return { status, headers, body: typeof body === 'string' ? body : '' };
}
