/**
 * Work on an archive that takes longer than change sets may wait: bases, and the removal of old
 * objects. It runs beside the uploads of change sets, and is tried again after a failure.
 */

export interface BackgroundOptions {
  /** Milliseconds to the next attempt, by the number of failures in a row and the last of them. */
  readonly retryDelay: (failures: number, error: unknown) => number;
  readonly onError: (error: unknown) => void;
}

export class BackgroundWork {
  readonly #options: BackgroundOptions;
  #isRunning = false;
  /** Whether it was asked for while it was under way. */
  #isWanted = false;
  #failures = 0;
  /** When it may begin again, by `performance.now`. */
  #after = 0;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Whether it is neither under way nor to wait. */
  get mayBegin(): boolean {
    return !this.#isRunning && performance.now() >= this.#after;
  }

  /** @param pauseMs milliseconds between a success and the next time. */
  begin(work: () => Promise<unknown>, pauseMs: number): void {
    this.#isRunning = true;
    this.#isWanted = false;
    work()
      .then(
        () => {
          this.#failures = 0;
          this.#after = this.#isWanted ? 0 : performance.now() + pauseMs;
        },
        (error: unknown) => {
          this.#failures += 1;
          this.#after = performance.now() + this.#options.retryDelay(this.#failures, error);
          this.#options.onError(error);
        },
      )
      .finally(() => {
        this.#isRunning = false;
      });
  }

  /** Lets it begin without the pause after a success. */
  endPause(): void {
    this.#isWanted = true;
    if (!this.isFailing) this.#after = 0;
  }
}
