/**
 * A bound for exchanges over the network that may take any time as long as they move on.
 *
 * The HTTP client may outlive the signal that ends it, so every wait is also raced with the timer.
 */
export class ProgressTimer {
  readonly #ended = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #over = Promise.withResolvers<never>();
  #isStopped = false;

  /**
   * @param milliseconds without progress after which the exchange ends.
   * @param late what the error then says.
   */
  constructor(milliseconds: number, late: string) {
    this.#timer = setTimeout(() => this.fail(new Error(late)), milliseconds);
    // Nobody may be waiting when the time is over.
    this.#over.promise.catch(() => {});
  }

  /** To be given to the HTTP client. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** There was progress: the time begins anew. */
  touch(): void {
    // A timer that was cleared would begin again.
    if (!this.#isStopped) this.#timer.refresh();
  }

  /** @throws the failure that ended the exchange, and what `work` rejects with. */
  async within<T>(work: Promise<T>): Promise<T> {
    const done = await Promise.race([work, this.#over.promise]);
    this.touch();
    return done;
  }

  /** Ends the exchange: whoever waits gets the error. */
  fail(error: unknown): void {
    this.stop();
    this.#over.reject(error);
    this.#ended.abort();
  }

  /** The exchange is over. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
