/** A progress bar on standard error: how much is done, how much a second, and the time left. */
import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';

/** Columns of the bar: with it the longest line fits into the 80 that a terminal usually has. */
const BAR_COLUMNS = 20;

export class ProgressBar {
  readonly #bar: SingleBar;
  #startedAt: number | null = null;

  /**
   * @param terminal that shows the bar.
   * @param unit of what is done, such as `pages`.
   */
  constructor(terminal: Writable, unit: string) {
    this.#bar = new SingleBar({
      format: `{bar} {percentage}% {value}/{total} ${unit}, {rate}/s, {left}`,
      barsize: BAR_COLUMNS,
      stream: terminal,
      // A signal that ends the command would leave the terminal without a cursor or without wrapping.
      hideCursor: false,
      linewrap: true,
    });
  }

  show(done: number, total: number): void {
    if (this.#startedAt === null) {
      this.#startedAt = performance.now();
      this.#bar.start(total, done, { rate: 0, left: timeLeft(0, total, 0) });
    }
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds === 0 ? 0 : Math.round(done / seconds);
    this.#bar.update(done, { rate, left: timeLeft(done, total, seconds) });
  }

  stop(): void {
    this.#bar.stop();
  }
}

/** @returns such as `2 min 5 s left`, or that the time is not known while nothing is done. */
export function timeLeft(done: number, total: number, secondsSoFar: number): string {
  if (done === 0 && total > 0) return 'time left unknown';
  const seconds = done === 0 ? 0 : Math.ceil((secondsSoFar / done) * Math.max(total - done, 0));
  const minutes = Math.floor(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours > 0) return `${hours} h ${rest} min left`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s left` : `${seconds} s left`;
}
