/** Forwards the writes of this host's clients to the host that is the writer. */
import { CatalogError } from '../../errors.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import type { Forwarder } from '../forwarding/forwarder.ts';
import { awaitOwnWrite, type CatchingUp } from '../forwarding/own-writes.ts';

/** Milliseconds for which nothing is forwarded to a writer that could not be reached. */
const AVOIDED_MS = 5000;

interface Options extends CatchingUp {
  readonly forwarder: Pick<Forwarder, 'forward'>;
  readonly cluster: { readonly writerOrigin: string | null };
  readonly now?: () => number;
}

export class WriterForwarding {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #stopped = new AbortController();
  #avoided: { readonly origin: string; readonly until: number } | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
  }

  /** @returns what forwards a request; null while this host makes its writes itself. */
  forwarding(): ((request: HttpRequest) => Promise<HttpResponse>) | null {
    const origin = this.#options.cluster.writerOrigin;
    if (origin === null) return null;
    const avoided = this.#avoided;
    if (avoided?.origin === origin && this.#now() < avoided.until) return null;
    return (request) => this.#forward(request, origin);
  }

  /** Ends the waits of responses for this host. */
  stop(): void {
    this.#stopped.abort();
  }

  async #forward(request: HttpRequest, origin: string): Promise<HttpResponse> {
    let response: HttpResponse;
    try {
      response = await this.#options.forwarder.forward(request, origin);
    } catch (error) {
      const isAway = error instanceof CatalogError && AWAY.has(error.code);
      if (isAway) this.#avoided = { origin, until: this.#now() + AVOIDED_MS };
      throw error;
    }
    await awaitOwnWrite(request, response, this.#options, this.#stopped.signal);
    return response;
  }
}

const AWAY: ReadonlySet<string> = new Set(['primary_unreachable', 'write_unknown']);
