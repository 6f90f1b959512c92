/**
 * Passes requests on to another host, in pieces as they arrive, and answers with its response.
 *
 * Invariants:
 * 1. A request is sent at most once. If the connection breaks after it was sent, this host does not
 *    know whether it was carried out, and the error for the client says so.
 * 2. Only a few pieces of a body are in memory: it is read as fast as the other host takes it.
 * 3. A request that comes back to a host that has passed it on is refused.
 */
import { randomBytes } from 'node:crypto';
import { CatalogError, messageOf } from '../../errors.ts';
import { piecesOf } from '../../streams.ts';
import {
  type BodyStream,
  type HttpRequest,
  type HttpResponse,
  isRead,
  NO_BODY,
} from '../../http/message.ts';
import { networkOf } from '../../network.ts';
import { Places } from '../../places.ts';
import { fetchDirectly } from '../direct-fetch.ts';
import { ProgressTimer } from '../progress-timer.ts';
import { isWithoutAnswer, ProxyRefusals } from '../proxy-refusals.ts';
import { isLoop, requestHeaders, responseHeaders } from './headers.ts';

/** Milliseconds in which the other host takes and sends nothing. Pauses of the client do not count. */
const IDLE_MS = 60_000;

/** Bytes of the largest response that is received whole, so that its connection is free at once. */
const MAX_WHOLE_BYTES = 64 * 1024;

/** Bytes that are handed on at once. */
const PIECE_BYTES = 64 * 1024;

/** Failures before anything was sent, as Bun's HTTP client names them. */
const NOTHING_SENT = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

interface Options {
  /** Milliseconds without progress; {@link IDLE_MS} if left out. */
  readonly idleMs?: number;
  /** Requests at the same time. One client gets half of them: it may send its bodies slowly. */
  readonly maxOpen: number;
  /** The path of the socket on which a process of this host listens; left out for another host. */
  readonly socket?: string;
  /** The name of the other side in messages; `the primary` if left out. */
  readonly to?: string;
  /** Reports what the operator has to correct. */
  readonly warn?: (message: string) => void;
}

export class Forwarder {
  /** The name of this host in `Via`. It is random, so no other host has the same. */
  readonly pseudonym = `catalog-${randomBytes(8).toString('hex')}`;
  readonly #options: Options;
  readonly #to: string;
  readonly #proxies: ProxyRefusals;
  readonly #places: Places;

  constructor(options: Options) {
    this.#options = options;
    this.#to = options.to ?? 'the primary';
    const { maxOpen: total } = options;
    const refusal = (limit: 'own' | 'all') => {
      const whose = limit === 'own' ? ' of your address' : '';
      const message = `too many requests${whose} are waiting for ${this.#to}; try again`;
      return new CatalogError('busy', message);
    };
    this.#places = new Places({ total, share: Math.ceil(total / 2), refusal });
    this.#proxies = new ProxyRefusals(options.warn ?? (() => {}));
  }

  /** Requests that are being passed on. */
  get open(): number {
    return this.#places.taken;
  }

  /**
   * Passes a request on.
   *
   * @param origin of the other host, such as `https://primary.example:8000`.
   * @returns its response, whatever its status.
   * @throws CatalogError `primary_unreachable` if nothing was sent, or only a read, or if a proxy
   *   refused the request; `write_unknown` if a write was sent and no response came, also to a proxy;
   *   `busy`; `malformed_request`; and the failures of the client's body.
   */
  async forward(request: HttpRequest, origin: string): Promise<HttpResponse> {
    if (isLoop(request.headers, this.pseudonym)) {
      throw unreachable('the hosts forward requests to each other in a loop; check their --follow');
    }
    const url = urlOf(request, origin, this.#to);
    const release = this.#places.take(networkOf(request.address));
    const timer = new ProgressTimer(this.#options.idleMs ?? IDLE_MS, `${this.#to} is silent`);
    const upload = new Upload(request, timer);
    // A stream may end twice: the client may disconnect while the next piece is on its way.
    const done = () => {
      release();
      // A connection on which only a part of the body was sent cannot be used again.
      if (upload.isSent) timer.stop();
      else timer.fail(new Error('the request is over'));
    };
    try {
      const response = await this.#send(request, url, timer, upload);
      this.#proxies.check(response, origin, this.#to);
      if (isWithoutAnswer(response)) {
        throw broken(request.method, `status ${response.status} of a proxy`, this.#to);
      }
      return await this.#passedBack(request, response, timer, done);
    } catch (error) {
      timer.fail(error);
      done();
      throw error;
    }
  }

  async #send(
    request: HttpRequest,
    url: URL,
    timer: ProgressTimer,
    upload: Upload,
  ): Promise<Response> {
    try {
      return await timer.within(
        fetchDirectly(url, {
          method: request.method,
          headers: requestHeaders(request, this.pseudonym),
          ...(upload.body !== null && { body: upload.body }),
          signal: timer.signal,
          decompress: false,
          // If a connection that was used before breaks, Bun sends a PUT or DELETE once more, unless
          // its body is a stream. It does not do so on a connection of its own.
          keepalive: isRead(request.method) || upload.body !== null,
          ...(this.#options.socket !== undefined && { unix: this.#options.socket }),
        }),
      );
    } catch (error) {
      throw upload.failure ?? failureOf(request, error, this.#to);
    } finally {
      upload.end();
    }
  }

  /** @param done called when the connection is not needed any more. */
  async #passedBack(
    { method }: HttpRequest,
    response: Response,
    timer: ProgressTimer,
    done: () => void,
  ): Promise<HttpResponse> {
    const { status } = response;
    // Others are not final, and the client cannot get them (RFC 9110, section 15).
    if (status < 200 || status > 599) throw broken(method, `status ${status}`, this.#to);
    const headers = responseHeaders(response.headers.entries());
    const length = response.headers.get('content-length');
    if (response.body === null || method === 'HEAD') {
      done();
      if (method === 'HEAD' && length !== null) headers['Content-Length'] = length;
      return { status, headers, body: null };
    }
    if (length !== null && Number(length) <= MAX_WHOLE_BYTES) {
      const body = await timer.within(response.bytes()).catch((error: unknown) => {
        throw broken(method, error, this.#to);
      });
      done();
      return { status, headers, body };
    }
    if (length !== null) headers['Content-Length'] = length;
    return { status, headers, body: streamOf(response.body, timer, done) };
  }
}

/** The body of a request on its way to the other host. */
class Upload {
  /** Null if the request has none. */
  readonly body: AsyncGenerator<Uint8Array, void, void> | null;
  /** Whether all of it was handed to the HTTP client. */
  isSent: boolean;
  /** Why the client's body could not be read to its end. */
  failure: unknown = null;

  constructor({ method, body }: HttpRequest, timer: ProgressTimer) {
    // No operation takes a body with these methods. The other side would carry out a DELETE without
    // waiting for its body, and its response would be lost if the body turned out to be malformed.
    const isSent = body !== NO_BODY && !isRead(method) && method !== 'DELETE';
    this.isSent = !isSent;
    // The other side limits the body, after the checks that come before (spec 3.11).
    this.body = isSent ? this.#pieces(body.stream(Number.POSITIVE_INFINITY), timer) : null;
  }

  /** Stops reading the body, because there is a response or a failure. */
  end(): void {
    void this.body?.return().catch(() => {});
  }

  async *#pieces(
    stream: AsyncIterable<Uint8Array>,
    timer: ProgressTimer,
  ): AsyncGenerator<Uint8Array, void, void> {
    try {
      timer.hold();
      for await (const piece of stream) {
        timer.touch();
        // The HTTP client may keep the piece while the next one is read into the same memory.
        yield piece.slice();
        timer.hold();
      }
      timer.touch();
      this.isSent = true;
    } catch (error) {
      this.failure = error;
      timer.fail(error);
      throw error;
    }
  }
}

/** @throws CatalogError `malformed_request` if the address would lead elsewhere on the other host. */
function urlOf({ path, search }: HttpRequest, origin: string, to: string): URL {
  const url = URL.parse(`${origin}${path}${search === '' ? '' : `?${search}`}`);
  if (url !== null && url.pathname === path && url.hash === '') return url;
  throw new CatalogError('malformed_request', `the address cannot be passed on to ${to}`);
}

/** A body in pieces, to be read once. It need not be read. */
function streamOf(
  body: ReadableStream<Uint8Array>,
  timer: ProgressTimer,
  done: () => void,
): BodyStream {
  const reader = body.getReader();
  const pieces = (async function* () {
    for (;;) {
      const { done: ended, value } = await timer.within(reader.read());
      if (ended) return;
      for (const piece of piecesOf(value, PIECE_BYTES)) {
        timer.hold();
        yield piece;
        timer.touch();
      }
    }
  })();
  const end = () => {
    // A connection whose response was not read to its end cannot be used again.
    void reader.cancel().catch(() => {});
    done();
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const next = await pieces.next();
          if (next.done === true) end();
          return next;
        } catch (error) {
          end();
          throw error;
        }
      },
      async return() {
        end();
        return { done: true, value: undefined };
      },
    }),
  };
}

function failureOf({ method }: HttpRequest, error: unknown, to: string): CatalogError {
  if (NOTHING_SENT.has(String((error as { readonly code?: unknown }).code))) {
    return unreachable(`${to} cannot be reached; nothing was changed, try again`, error);
  }
  return broken(method, error, to);
}

/** The error for a connection that broke after the request was sent. */
function broken(method: string, cause: unknown, to: string): CatalogError {
  if (isRead(method)) return unreachable(`${to} did not answer; try again`, cause);
  return new CatalogError(
    'write_unknown',
    `${to} did not answer, and may have carried out the request; check before you repeat it, or repeat it with the same Idempotency-Key`,
    { cause: new Error(messageOf(cause), { cause }) },
  );
}

function unreachable(message: string, cause?: unknown): CatalogError {
  return new CatalogError('primary_unreachable', message, { cause });
}
