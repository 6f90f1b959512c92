/**
 * A timeout for network requests that may take any time as long as they make progress.
 *
 * The HTTP client may outlive the signal that ends it, so every wait is also raced with the timer.
 */
export class ProgressTimer {
  readonly #ended = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #over = Promise.withResolvers<never>();
  #isStopped = false;
  #isHeld = false;

  /**
   * @param milliseconds without progress after which the request ends.
   * @param late the message of the error for that.
   */
  constructor(milliseconds: number, late: string) {
    this.#timer = setTimeout(() => {
      if (!this.#isHeld) this.fail(new Error(late));
    }, milliseconds);
    // There may be no caller that waits when the time is over.
    this.#over.promise.catch(() => {});
  }

  /** The signal for the HTTP client. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Does not count the time until {@link touch}: the request waits for someone else. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Restarts the time, because there was progress. */
  touch(): void {
    this.#isHeld = false;
    // This would start a cleared timer again.
    if (!this.#isStopped) this.#timer.refresh();
  }

  /** @throws the failure that ended the request, and what `work` rejects with. */
  async within<T>(work: Promise<T>): Promise<T> {
    // In this order, because the HTTP client rejects too once the request has ended.
    const done = await Promise.race([this.#over.promise, work]);
    this.touch();
    return done;
  }

  /** Ends the request: callers that wait get the error. */
  fail(error: unknown): void {
    this.stop();
    this.#over.reject(error);
    this.#ended.abort();
  }

  /** Stops the timer, because the request is over. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
