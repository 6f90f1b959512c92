/** The catalog of a server: it may not be there yet, and it may be replaced. */
import { healthResponse, readinessResponse } from '../../http/endpoints/health.ts';
import { type HttpRequest, type HttpResponse, isRead } from '../../http/message.ts';
import type { Application } from '../../http/application.ts';
import { uncachedJson } from '../../http/rules/uncached-json.ts';
import { type Catalog, openCatalog } from '../catalog.ts';
import type { Context } from '../context.ts';
import type { Membership } from './membership.ts';
import type { Observability } from '../observability.ts';
import type { ServeOptions } from '../server-options.ts';

/** Seconds after which a client may try again. */
const RETRY_AFTER_S = '5';

/**
 * Milliseconds between the opening of a catalog and its long background work: clients that have
 * waited for the catalog are answered first.
 */
const BACKGROUND_DELAY_MS = 50;

export class CurrentCatalog {
  readonly #options: ServeOptions;
  readonly #context: Context;
  readonly #observability: Observability;
  #catalog: Catalog | null = null;
  #background: NodeJS.Timeout | undefined;

  constructor(options: ServeOptions, context: Context, observability: Observability) {
    this.#options = options;
    this.#context = context;
    this.#observability = observability;
  }

  get catalog(): Catalog | null {
    return this.#catalog;
  }

  /** Opens the catalog of the data directory, and serves from it. @throws as `openCatalog`. */
  async open(membership: Membership): Promise<Catalog> {
    const catalog = await openCatalog(
      this.#options,
      this.#context,
      this.#observability,
      membership,
    );
    this.use(catalog);
    return catalog;
  }

  /** Serves from a catalog from now on; from none if it is null. */
  use(catalog: Catalog | null): void {
    this.#catalog = catalog;
    clearTimeout(this.#background);
    if (catalog === null) return;
    const { promise: background, resolve } = Promise.withResolvers<void>();
    this.#background = setTimeout(resolve, BACKGROUND_DELAY_MS);
    void background.then(() => {
      this.#context.disk.prepare();
      catalog.pages.compare();
    });
    const { readiness } = this.#observability;
    readiness.raise('starting');
    // A catalog that was replaced meanwhile must not change the readiness.
    const isServed = () => this.#catalog === catalog;
    const { store } = catalog;
    void Promise.all([store.completeIndexes(background), store.copyBase(background)]).then(
      () => {
        if (isServed()) readiness.clear('starting');
      },
      (error: unknown) => {
        if (isServed()) this.#observability.onFatal(error);
      },
    );
  }

  /** Begins no more background work, and answers the requests that wait for changes. */
  endWaits(): void {
    clearTimeout(this.#background);
    this.#catalog?.changes.endWaits();
  }

  /** Closes the catalog, if there is one. @param grace milliseconds for pages that wait. */
  async close(grace: number): Promise<void> {
    // Work that has not begun would outlive the catalog.
    clearTimeout(this.#background);
    await this.#catalog?.close(grace);
  }

  readonly application: Application = (request) =>
    this.#catalog === null ? this.#withoutCatalog(request) : this.#catalog.application(request);

  #withoutCatalog({ method, path, search, trace }: HttpRequest): HttpResponse {
    const { basePath } = this.#options;
    const { reason } = this.#observability.readiness;
    const reads = isRead(method);
    if (reads && path === `${basePath}/healthz`) return healthResponse();
    if (reads && path === `${basePath}/readyz`)
      return readinessResponse(reason, search, () => ({}));
    const error = reason() ?? 'the server is starting';
    return uncachedJson(503, { error, request_id: trace.id }, { 'Retry-After': RETRY_AFTER_S });
  }
}
