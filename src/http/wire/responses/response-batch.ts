/**
 * Sends the responses to the reads of one turn of the event loop together, at the end of the turn.
 *
 * A client that has read its response sleeps until the next one, and waking it costs the server
 * some microseconds: the system interrupts the processor of the client. Several responses in a row
 * wake it once, and its next requests arrive together as well.
 */

/** Most responses of one batch. */
const MAX_WAITING = 32;

/** Most milliseconds that a response waits while later requests are carried out. */
const MAX_WAIT_MS = 1;

export class ResponseBatch {
  readonly #now: () => number;
  #waiting: (() => void)[] = [];
  /** When the first of them was added. */
  #since = 0;
  #isScheduled = false;

  /** @param now milliseconds on a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param send what sends the response. It must not throw. */
  add(send: () => void): void {
    const now = this.#now();
    if (this.#waiting.length === 0) this.#since = now;
    this.#waiting.push(send);
    const isFull = this.#waiting.length >= MAX_WAITING || now - this.#since > MAX_WAIT_MS;
    if (isFull) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Sends the responses that wait. */
  flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const send of batch) send();
  }
}
