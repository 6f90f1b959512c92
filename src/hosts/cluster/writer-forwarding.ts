/** Passes the writes of this host's clients on to the host that is the writer. */
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogError } from '../../errors.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { CATALOG_SEQUENCE, parseSequence } from '../../http/rules/catalog-sequence.ts';
import type { Forwarder } from '../forwarding/forwarder.ts';

/** Milliseconds for which nothing is passed to a writer that could not be reached. */
const AVOIDED_MS = 5000;

/** Milliseconds that an answer waits for this host to apply the write. */
const CATCH_UP_MS = 1000;

/** Paths of requests that change accounts and tokens, which change sets do not contain. */
const ACCOUNTS = /\/admin\/(users|tokens)\//;

interface Options {
  readonly forwarder: Pick<Forwarder, 'forward'>;
  readonly cluster: { readonly writerOrigin: string | null };
  /** Applies the log up to a change set. */
  readonly catchUp: (sequence: number) => Promise<void>;
  /** Updates the accounts and keys of this host. */
  readonly pullAccounts: () => Promise<void>;
  readonly now?: () => number;
}

export class Passing {
  readonly #options: Options;
  readonly #now: () => number;
  #avoided: { readonly origin: string; readonly until: number } | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
  }

  /** @returns what passes a request on; null while this host makes its writes itself. */
  forwarding(): ((request: HttpRequest) => Promise<HttpResponse>) | null {
    const origin = this.#options.cluster.writerOrigin;
    if (origin === null) return null;
    const avoided = this.#avoided;
    if (avoided?.origin === origin && this.#now() < avoided.until) return null;
    return (request) => this.#pass(request, origin);
  }

  async #pass(request: HttpRequest, origin: string): Promise<HttpResponse> {
    let response: HttpResponse;
    try {
      response = await this.#options.forwarder.forward(request, origin);
    } catch (error) {
      const isAway = error instanceof CatalogError && AWAY.has(error.code);
      if (isAway) this.#avoided = { origin, until: this.#now() + AVOIDED_MS };
      throw error;
    }
    if (response.status < 400) await this.#keepUp(request, response);
    return response;
  }

  /** Lets a client of this host read its own writes. */
  async #keepUp({ path }: HttpRequest, { headers }: HttpResponse): Promise<void> {
    const sequence = parseSequence(headers[CATALOG_SEQUENCE] ?? '') ?? 0;
    const kept = [this.#options.catchUp(sequence)];
    if (ACCOUNTS.test(path)) kept.push(this.#options.pullAccounts());
    // The write is done, whether or not this host can show it yet.
    await Promise.race([Promise.allSettled(kept), pause(CATCH_UP_MS)]);
  }
}

const AWAY: ReadonlySet<string> = new Set(['primary_unreachable', 'write_unknown']);
