/** What a host asks its primary for: state, accounts and keys, a base, change sets (spec 15.10). */
import * as v from 'valibot';
import { type CredentialFiles, credentialFilesShape } from '../../auth/sharing/credential-files.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { HostState, KnownEpoch } from '../../http/services.ts';
import { shapes } from '../../store/files/change-set.ts';
import { lineageShape, predecessorsShape } from '../../store/hosts/host-record.ts';
import { bounded, wholeOf } from '../../streams.ts';
import { type HostAddress, formatHostAddress } from '../address.ts';
import { fetchDirectly } from '../direct-fetch.ts';
import { ProgressTimer } from '../progress-timer.ts';
import { isProxyRefusal, proxyRefusal } from '../proxy-refusals.ts';

/** Milliseconds without a byte after which a request fails, if its response is received whole. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** Milliseconds for the whole of such a response: one that drips is never silent. */
const MAX_RESPONSE_MS = 60_000;

/** Milliseconds without a byte after which a stream is given up: it has an empty line every 2 s. */
const SILENCE_MS = 10_000;

/** Bytes of the longest response: 100,000 accounts and revocations take some 20 MB. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

const stateShape = v.object({
  ...lineageShape.entries,
  role: v.picklist(['primary', 'follower', 'succeeded']),
  primary: v.nullable(v.string()),
  /** Earlier versions do not send it. */
  predecessors: v.optional(predecessorsShape, []),
  schema: shapes.count,
  sequence: shapes.count,
  digest: shapes.digest,
  base_bytes: shapes.count,
  credentials: shapes.digest,
  secret: v.nullable(shapes.digest),
});

const credentialsShape = v.object({ digest: shapes.digest, files: credentialFilesShape });

/** The requested change sets cannot be had from the primary, so a base has to be fetched. */
export class HistoryGone extends Error {}

/** The caller has ended the stream, or all of its requests. */
export class StreamEnded extends Error {}

/** A host that others follow, as they reach it. */
export interface Primary {
  /** For messages. */
  readonly address: string;
  /**
   * @param known the latest epoch that this host knows.
   * @throws StreamEnded once the host ends its requests.
   */
  state(known: KnownEpoch | null): Promise<HostState>;
  credentials(): Promise<{ readonly digest: string; readonly files: CredentialFiles }>;
  /** The bytes of a base. @param signal ends the transfer. @throws StreamEnded once it has. */
  base(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * The lines of a stream of change sets, in pieces, and empty lines.
   *
   * @param signal ends the stream.
   * @throws HistoryGone; StreamEnded once the signal has ended it.
   */
  changes(since: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Messages about a host that refuses the token; each is put after the address of the host. */
export interface Refusals {
  readonly unauthorized: string;
  readonly forbidden: string;
}

/** The messages for a host that follows. */
const FOLLOWING: Refusals = {
  unauthorized: 'does not accept the token of --token-file',
  forbidden:
    'does not let this host follow it: it has to run with --followers, and the token of --token-file needs the role admin',
};

interface Options {
  readonly address: HostAddress;
  /** A token of the role admin there; read for each request. May throw. */
  readonly token: () => string | Promise<string>;
  readonly version: string;
  /** What a refusal of the token means; {@link FOLLOWING} if left out. */
  readonly refusals?: Refusals | undefined;
  /** Ends every request. */
  readonly signal?: AbortSignal | undefined;
  /** {@link MAX_RESPONSE_MS} if left out. */
  readonly maxResponseMs?: number | undefined;
}

export class HttpPrimary implements Primary {
  readonly #options: Options;
  readonly address: string;

  constructor(options: Options) {
    this.#options = options;
    this.address = formatHostAddress(options.address);
  }

  async state(known: KnownEpoch | null): Promise<HostState> {
    const headers: Record<string, string> = {};
    if (known !== null) headers['catalog-epoch'] = `${known.history} ${known.number}`;
    return this.#parse(stateShape, await this.#json('state/', headers));
  }

  async credentials(): Promise<{ readonly digest: string; readonly files: CredentialFiles }> {
    return this.#parse(credentialsShape, await this.#json('credentials/', {}));
  }

  base(signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#stream('base/', signal);
  }

  changes(since: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#stream(`changes/?since=${since}`, signal);
  }

  async #json(path: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
    const { signal, maxResponseMs = MAX_RESPONSE_MS } = this.#options;
    const timer = new ProgressTimer(RESPONSE_TIMEOUT_MS, `${this.address} does not answer`);
    const release = endedBy(timer, signal);
    const late = setTimeout(() => {
      timer.fail(new Error(`the answer of ${this.address} takes longer than ${maxResponseMs} ms`));
    }, maxResponseMs);
    try {
      const response = await this.#request(path, headers, timer);
      const tooLong = () => new Error(`the answer of ${this.address} is too long`);
      const pieces = bounded(this.#pieces(response, timer), MAX_RESPONSE_BYTES, tooLong);
      return this.#parsed(String(await wholeOf(pieces)));
    } catch (error) {
      timer.fail(error);
      throw error;
    } finally {
      clearTimeout(late);
      release();
      timer.stop();
    }
  }

  async *#stream(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const timer = new ProgressTimer(SILENCE_MS, `${this.address} has gone silent`);
    const releases = [endedBy(timer, signal), endedBy(timer, this.#options.signal)];
    try {
      yield* this.#pieces(await this.#request(path, {}, timer), timer);
    } finally {
      for (const release of releases) release();
      timer.fail(new Error('the stream is over'));
    }
  }

  /**
   * @throws HistoryGone; StreamEnded; CatalogError `unauthorized`, `forbidden`; Error for every other
   *   failure.
   */
  async #request(
    path: string,
    headers: Readonly<Record<string, string>>,
    timer: ProgressTimer,
  ): Promise<Response> {
    const token = await this.#options.token();
    let response: Response;
    try {
      response = await timer.within(
        fetchDirectly(`${this.address}/admin/hosts/${path}`, {
          headers: {
            ...headers,
            authorization: `Bearer ${token}`,
            'accept-encoding': 'identity',
            'user-agent': `catalog-server/${this.#options.version}`,
          },
          signal: timer.signal,
        }),
      );
    } catch (cause) {
      if (cause instanceof StreamEnded) throw cause;
      throw new Error(`${this.address} cannot be reached: ${messageOf(cause)}`, { cause });
    }
    if (response.status === 200) return response;
    throw this.#failure(response);
  }

  #failure(response: Response): Error {
    const { status } = response;
    if (status === 410) return new HistoryGone(`${this.address} does not keep the next change set`);
    const { refusals = FOLLOWING } = this.#options;
    if (status === 401) {
      return new CatalogError('unauthorized', `${this.address} ${refusals.unauthorized}`);
    }
    if (isProxyRefusal(response)) return new CatalogError('forbidden', proxyRefusal(this.address));
    if (status === 403) {
      return new CatalogError('forbidden', `${this.address} ${refusals.forbidden}`);
    }
    return new Error(`${this.address} answered ${status}`);
  }

  async *#pieces({ body }: Response, timer: ProgressTimer): AsyncGenerator<Uint8Array, void, void> {
    if (body === null) return;
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await timer.within(reader.read());
        if (done) return;
        yield value;
        timer.touch();
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
  }

  #parse<const S extends v.GenericSchema>(shape: S, value: unknown): v.InferOutput<S> {
    const parsed = v.safeParse(shape, value, FIRST_FAULT);
    if (parsed.success) return parsed.output;
    throw this.#strange();
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw this.#strange();
    }
  }

  #strange(): Error {
    return new Error(`the answer of ${this.address} is not that of a catalog-server`);
  }
}

/** Ends a request once the signal aborts. @returns a function to call when the request is over. */
function endedBy(timer: ProgressTimer, signal: AbortSignal | undefined): () => void {
  const end = () => timer.fail(new StreamEnded('the connection was ended'));
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted === true) end();
  return () => signal?.removeEventListener('abort', end);
}
