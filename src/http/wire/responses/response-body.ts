/**
 * Sends response bodies to the client.
 *
 * Invariant: one response keeps at most two pieces in memory, however slow its client is. A body
 * that was not sent completely never looks complete: its connection is cut (cuts.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutBetweenCharacters } from '../../../model/characters.ts';
import { PooledBuffer } from '../../../resources/text/pooled-buffer.ts';
import { piecesOf } from '../../../streams.ts';
import type { BodyStream, HttpResponse } from '../../message.ts';
import type { Cuts } from './cuts.ts';
import type { UnreadResponses } from './unread-responses.ts';

/** Most bytes that are written to the socket at once; larger bodies are split. */
const PIECE_BYTES = 64 * 1024;

/** Where a response is sent: the message of node:http, and its connection. */
export interface ResponseSink {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly connection: Socket;
  /** Milliseconds for the client to take one piece. */
  readonly timeout: number;
  /** The responses of all connections that wait for their clients. */
  readonly unread: UnreadResponses;
  readonly cuts: Cuts;
  /** Called if making or closing a stream fails. */
  readonly onError: (error: unknown) => void;
}

/**
 * Sends headers and body. Returns at once if the body is small, which is the common case.
 *
 * @param head whether the body is left out, as in the response to HEAD.
 * @returns bytes of the body that were written; the client may not have taken the last of them.
 * @throws what node:http throws if it refuses a header; then the connection has to be cut.
 */
export function sendResponse(
  sink: ResponseSink,
  response: HttpResponse,
  head: boolean,
): number | Promise<number> {
  const { incoming, outgoing } = sink;
  const { headers, body } = response;
  if (body instanceof PooledBuffer) return sendPooled(sink, response, body, head);
  if (body === null) {
    writeHead(sink, response);
    outgoing.end();
    return 0;
  }
  if (isStream(body)) {
    writeHead(sink, response);
    if (!head) return sendStream(sink, body);
    closeStream(sink, body);
    outgoing.end();
    return 0;
  }
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const isLong = bytes > PIECE_BYTES;
  // The engine adds the length of a body that is sent at once, except to HTTP/1.0.
  if (head || isLong || incoming.httpVersion !== '1.1') headers['Content-Length'] = String(bytes);
  writeHead(sink, response);
  if (!head && isLong) return sendPieces(sink, body);
  outgoing.end(head ? undefined : body);
  return head ? 0 : bytes;
}

function isStream(body: HttpResponse['body']): body is BodyStream {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** @throws what node:http throws if it refuses a header, such as one from another host. */
function writeHead(sink: ResponseSink, { status, headers, body }: HttpResponse): void {
  const { outgoing } = sink;
  try {
    // `outgoing.writeHead` would take longer, and send a body of unknown length in chunks.
    outgoing.statusCode = status;
    for (const name in headers) outgoing.setHeader(name, headers[name] ?? '');
  } catch (error) {
    if (isStream(body)) closeStream(sink, body);
    throw error;
  }
}

/** A stream that will not be read may hold a place or a connection. */
function closeStream({ onError }: ResponseSink, body: BodyStream): void {
  closeIterator(body[Symbol.asyncIterator](), onError);
}

/** Sends a pooled buffer. It is released only if the system has already taken all of its bytes. */
function sendPooled(
  sink: ResponseSink,
  response: HttpResponse,
  pooled: PooledBuffer,
  head: boolean,
): number | Promise<number> {
  const sent = sendResponse(sink, { ...response, body: pooled.bytes }, head);
  if (sink.outgoing.writableFinished) pooled.release();
  return sent;
}

/** Sends a large body piece by piece, so that only the unsent text itself stays in memory. */
async function sendPieces(sink: ResponseSink, body: string | Uint8Array): Promise<number> {
  let bytes = 0;
  for (const piece of typeof body === 'string' ? encoded(body) : piecesOf(body, PIECE_BYTES)) {
    bytes += piece.length;
    if (!(await sendPiece(sink, piece))) return bytes;
  }
  sink.outgoing.end();
  return bytes;
}

/** A text in pieces of UTF-8, each made when the one before it was sent. */
function* encoded(body: string): Generator<Uint8Array> {
  // A UTF-16 unit takes at most three bytes of UTF-8.
  const units = Math.floor(PIECE_BYTES / 3);
  for (let at = 0; at < body.length; ) {
    const end = cutBetweenCharacters(body, at + units);
    yield Buffer.from(body.slice(at, end));
    at = end;
  }
}

async function sendStream(sink: ResponseSink, body: BodyStream): Promise<number> {
  const { incoming, outgoing, connection, cuts, onError } = sink;
  let bytes = 0;
  cuts.expectStream(incoming.httpVersion, outgoing, connection);
  const iterator = body[Symbol.asyncIterator]();
  try {
    // So the client has the status while it waits for the first event of a stream.
    outgoing.flushHeaders();
    for (;;) {
      const next = await nextPiece(iterator, connection);
      if (next === null) break;
      if (next.done === true) {
        outgoing.end();
        return bytes;
      }
      const piece = typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
      bytes += piece.length;
      if (!(await sendPiece(sink, piece))) break;
    }
  } catch (error) {
    onError(error);
    cuts.cut(connection);
  }
  closeIterator(iterator, onError);
  return bytes;
}

/** @returns the next piece; null as soon as the client has disconnected. */
function nextPiece<T>(
  iterator: AsyncIterator<T>,
  connection: Socket,
): Promise<IteratorResult<T> | null> {
  if (connection.destroyed) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const onClose = () => resolve(null);
    connection.once('close', onClose);
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => connection.off('close', onClose));
  });
}

/** Does not wait: a generator that is making a piece is closed when the piece is complete. */
function closeIterator(iterator: AsyncIterator<unknown>, onError: (error: unknown) => void): void {
  iterator.return?.().then(undefined, onError);
}

/** @returns whether the client is still connected and has taken enough for the next piece. */
async function sendPiece(sink: ResponseSink, piece: Uint8Array): Promise<boolean> {
  if (sink.connection.destroyed) return false;
  return sink.outgoing.write(piece) || (await waitFor(sink, 'drain'));
}

/**
 * Waits until the client has taken what was written (`drain`) or the whole response (`finish`).
 * Cuts the connection after the timeout.
 *
 * @returns whether the client took it.
 */
export function waitFor(
  { incoming, outgoing, connection, timeout, unread, cuts }: ResponseSink,
  event: 'drain' | 'finish',
): Promise<boolean> {
  if (connection.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => cuts.cut(connection), timeout);
    const stopWaiting = unread.add(incoming);
    const settle = (taken: boolean) => {
      clearTimeout(timer);
      stopWaiting();
      outgoing.off(event, onTaken);
      connection.off('close', onClose);
      resolve(taken);
    };
    const onTaken = () => settle(true);
    const onClose = () => settle(false);
    outgoing.once(event, onTaken);
    connection.once('close', onClose);
  });
}
