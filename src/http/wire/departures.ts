/**
 * When responses to reads leave: those of one turn of the event loop together, at its end.
 *
 * A client that has taken its response sleeps until the next one is made, and to wake it costs the
 * server some microseconds: the system interrupts the processor of the client. Several responses in
 * a row wake it once, and its next requests come together as well.
 */

/** Responses that wait for each other, at most. */
const MAX_WAITING = 32;

/** Milliseconds that a response waits at most for requests that are carried out after it. */
const MAX_WAIT_MS = 1;

export class Departures {
  readonly #now: () => number;
  #waiting: (() => void)[] = [];
  /** When the first of them came. */
  #since = 0;
  #isScheduled = false;

  /** @param now milliseconds on a clock that does not go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param depart sends the response. It must not throw. */
  add(depart: () => void): void {
    const now = this.#now();
    if (this.#waiting.length === 0) this.#since = now;
    this.#waiting.push(depart);
    const isFull = this.#waiting.length >= MAX_WAITING || now - this.#since > MAX_WAIT_MS;
    if (isFull) return this.leave();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.leave();
    });
  }

  /** Sends what waits. */
  leave(): void {
    const departing = this.#waiting;
    this.#waiting = [];
    for (const depart of departing) depart();
  }
}
