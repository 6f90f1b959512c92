/** The connection of a worker to the owner of the data directory. */
import type { FromWorker, ToWorker } from './messages.ts';

/** Milliseconds between two signs of life. */
const ALIVE_MS = 1000;

export class OwnerLink {
  readonly #listeners: ((message: ToWorker) => void)[] = [];

  /**
   * If the owner ends in any way, node:cluster ends this process too: it would no longer learn of
   * writes.
   */
  constructor() {
    process.on('message', (message) => {
      for (const listener of this.#listeners) listener(message as ToWorker);
    });
    setInterval(() => this.send({ kind: 'alive' }), ALIVE_MS).unref();
  }

  onMessage(listener: (message: ToWorker) => void): void {
    this.#listeners.push(listener);
  }

  send(message: FromWorker): void {
    void this.sent(message);
  }

  /** @returns when the owner can read the message, or has ended. */
  sent(message: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      // Without a callback a closed channel would be a fault of this process, which ends soon.
      process.send?.(message, undefined, undefined, () => resolve());
    });
  }
}
