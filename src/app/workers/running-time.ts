/**
 * The time in which this process ran. A monotonic clock also counts the time in which the process
 * was paused: by a signal, a frozen container, or a virtual machine that is moved. After a pause,
 * timers run before the messages that other processes have sent meanwhile are read, so by that clock
 * every other process would have been silent.
 */
export class RunningTime {
  readonly #clock: () => number;
  readonly #longestStep: number;
  #sum = 0;
  #advancedAt: number;

  /**
   * @param clock milliseconds of a clock that never goes back.
   * @param longestStep milliseconds between two calls of {@link RunningTime.advance} beyond which
   *   the process counts as paused.
   */
  constructor(clock: () => number, longestStep: number) {
    this.#clock = clock;
    this.#longestStep = longestStep;
    this.#advancedAt = clock();
  }

  /** Milliseconds. */
  readonly now = (): number =>
    this.#sum + Math.min(this.#clock() - this.#advancedAt, this.#longestStep);

  /** Has to be called more often than the longest step while the process runs. */
  advance(): void {
    this.#sum = this.now();
    this.#advancedAt = this.#clock();
  }
}
