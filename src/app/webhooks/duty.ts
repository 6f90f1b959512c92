/**
 * Of the hosts that share a log, the writer delivers to webhooks (spec 15.28). This checks
 * regularly whether this host is the writer, and starts and stops its deliveries.
 *
 * Invariant: this host delivers only while {@link DeliveryDuty.isOn}, which every attempt checks.
 * So by its own clock it has stopped before its lease can end and another host starts.
 */
import { repeat } from '../../delay.ts';
import { CatalogError } from '../../errors.ts';
import type { Arrivals } from '../../resources/changes/arrivals.ts';
import type { ReadOlder } from '../../resources/changes/older-changes.ts';
import type { DeliveryStorage } from '../../resources/webhooks/ports.ts';
import type { Webhooks } from '../../resources/webhooks/webhooks.ts';

/** Milliseconds between two checks. */
const INTERVAL_MS = 500;

/** Milliseconds to wait, before the first delivery, for the change sets of the log. */
const CATCH_UP_MS = 5000;

/** What the hosts that share a log know of deliveries. */
export interface SharedDeliveries {
  /** A new value whenever this host becomes the writer; null while it is not. */
  readonly term: () => string | null;
  /** The last change set of the log. @throws CatalogError `log_unavailable`. */
  readonly lastSequence: () => Promise<number>;
  /** Reads change sets of the log that this host does not keep. */
  readonly readOlder: ReadOlder;
  readonly storage: SharedStorage;
}

interface SharedStorage extends DeliveryStorage {
  /** Shares `own` states if no host has shared any. @throws CatalogError `log_unavailable`. */
  offer(own: Pick<DeliveryStorage, 'ids' | 'load'>): Promise<void>;
  /** Reads the states. @throws CatalogError `log_unavailable`, `store_damaged`. */
  open(term: string): Promise<void>;
  /** Writes them a last time, for a bounded time. */
  close(): Promise<void>;
}

interface Options {
  readonly shared: Pick<SharedDeliveries, 'term' | 'lastSequence'> & {
    readonly storage: Pick<SharedStorage, 'open' | 'close'>;
  };
  readonly webhooks: Pick<Webhooks, 'start' | 'stop'>;
  readonly arrivals: Pick<Arrivals, 'past'>;
  /** Called with an error that keeps this host from delivering; it tries again. */
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number | undefined;
}

export class DeliveryDuty {
  readonly #options: Options;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** The term in which this host delivers. */
  #term: string | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether this host may deliver at this instant. */
  readonly isOn = (): boolean => this.#term !== null && this.#options.shared.term() === this.#term;

  start(): void {
    const { onError, intervalMs = INTERVAL_MS } = this.#options;
    const { signal } = this.#closing;
    this.#running = repeat(
      () => this.#check(),
      intervalMs,
      signal,
      (error) => {
        if (!signal.aborted) onError(error);
      },
    );
  }

  /** Ends the deliveries of this host. @param grace milliseconds for requests in progress. */
  async close(grace: number): Promise<void> {
    this.#closing.abort();
    await this.#running;
    if (this.#term !== null) await this.#end(grace);
  }

  async #check(): Promise<void> {
    const term = this.#options.shared.term();
    if (term === this.#term) return;
    // The lease may end soon, so requests in progress get no grace.
    if (this.#term !== null) await this.#end(0);
    if (term !== null) await this.#begin(term);
  }

  async #begin(term: string): Promise<void> {
    const { shared, webhooks, arrivals } = this.#options;
    // Changes already delivered and new webhooks may be in change sets that this host still lacks.
    const last = await shared.lastSequence();
    if (!(await arrivals.past(last - 1, CATCH_UP_MS, this.#closing.signal))) {
      throw new CatalogError('log_unavailable', `this host lacks change set ${last} of the log`);
    }
    await shared.storage.open(term);
    this.#term = term;
    try {
      await webhooks.start();
    } catch (error) {
      await this.#end(0);
      throw error;
    }
  }

  async #end(grace: number): Promise<void> {
    await this.#options.webhooks.stop(grace);
    this.#term = null;
    await this.#options.shared.storage.close();
  }
}
