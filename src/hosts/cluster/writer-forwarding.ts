/**
 * Forwards the writes of this host's clients to the host that is the writer.
 *
 * A writer may take long for a request. If it is frozen or cut off, it answers nothing else either:
 * so a request that waits makes this host ask whether the writer is there. To avoid a writer that is
 * only busy would make it lose its large writes to those of this host, again and again.
 *
 * A writer that has failed is asked as well, until it answers. So one request fails on this host,
 * and not one every few seconds until another host is the writer.
 */
import { type Delay, delayed, pause } from '../../delay.ts';
import { CatalogError } from '../../errors.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { CATALOG_SEQUENCE } from '../../http/rules/catalog-sequence.ts';
import type { Forwarder } from '../forwarding/forwarder.ts';
import { isLoop } from '../forwarding/headers.ts';
import { awaitOwnWrite, type CatchingUp } from '../forwarding/own-writes.ts';

/** Milliseconds for which nothing is forwarded to a writer that could not be reached. */
const AVOIDED_MS = 5000;

/** Milliseconds that a request has waited when the writer is asked whether it is there. */
const SILENCE_MS = 1000;

/** Milliseconds between two such questions, while it does not answer them. */
const PROBE_PAUSE_MS = 1000;

interface Options extends CatchingUp {
  readonly forwarder: Pick<Forwarder, 'forward' | 'pseudonym'>;
  readonly cluster: { readonly writerOrigin: string | null };
  /** Whether the host at an origin answers; see `responds`. Never rejects. */
  readonly isThere: (origin: string) => Promise<boolean>;
  readonly now?: () => number;
  readonly delay?: Delay;
}

export class WriterForwarding {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #stopped = new AbortController();
  #avoided: { readonly origin: string; readonly until: number } | null = null;
  /** The writer that is being asked whether it is there. */
  #asked: string | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
  }

  /** @returns what forwards a request; null if this host carries it out itself. */
  forwarding({ headers }: HttpRequest): ((request: HttpRequest) => Promise<HttpResponse>) | null {
    const { cluster, forwarder } = this.#options;
    const origin = cluster.writerOrigin;
    if (origin === null) return null;
    // Hosts learn of a new writer one after the other. Until then two of them may each take the
    // other one for the writer.
    if (isLoop(headers, forwarder.pseudonym)) return null;
    const avoided = this.#avoided;
    if (avoided?.origin === origin && this.#now() < avoided.until) return null;
    return (request) => this.#forward(request, origin);
  }

  /** Ends the waits of responses for this host. */
  stop(): void {
    this.#stopped.abort();
  }

  async #forward(request: HttpRequest, origin: string): Promise<HttpResponse> {
    const { forwarder, delay = delayed } = this.#options;
    const answered = delay(() => void this.#watch(origin), SILENCE_MS);
    let response: HttpResponse;
    try {
      response = await forwarder.forward(request, origin);
    } catch (error) {
      if (error instanceof CatalogError && AWAY.has(error.code)) {
        this.#avoid(origin);
        void this.#watch(origin);
      }
      throw error;
    } finally {
      answered();
    }
    // Some proxies answer 503 if the writer is away, as does a writer with too many connections.
    const isOwn = CATALOG_SEQUENCE in response.headers;
    if (response.status === 503 && !isOwn) void this.#watch(origin);
    await awaitOwnWrite(request, response, this.#options, this.#stopped.signal);
    return response;
  }

  /** Avoids the writer for as long as it does not answer. */
  async #watch(origin: string): Promise<void> {
    if (this.#asked === origin) return;
    this.#asked = origin;
    const { isThere, cluster } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted && cluster.writerOrigin === origin && !(await isThere(origin))) {
      this.#avoid(origin);
      await pause(PROBE_PAUSE_MS, signal);
    }
    if (this.#asked === origin) this.#asked = null;
  }

  #avoid(origin: string): void {
    this.#avoided = { origin, until: this.#now() + AVOIDED_MS };
  }
}

const AWAY: ReadonlySet<string> = new Set(['primary_unreachable', 'write_unknown']);
