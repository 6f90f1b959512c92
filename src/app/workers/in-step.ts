/** Keeps the state of a worker in step with that of the owner of the directory. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffDelay } from '../../backoff.ts';
import { hasCode } from '../../errors.ts';
import type { ReadOnlyLog } from '../../store/files/read-only-log.ts';
import type { Store } from '../../store/store.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** Milliseconds for which a change set that cannot be read is tried again. Writes wait meanwhile. */
const MAX_RETRYING_MS = 5000;

/** Milliseconds between two attempts. */
const RETRY_MS = { first: 20, longest: 500 };

interface Options {
  readonly store: Pick<Store, 'sequence' | 'receive'>;
  readonly log: Pick<ReadOnlyLog, 'read' | 'setOldest'>;
  readonly send: (message: FromWorker) => void;
  /** Called with the first of several failures in a row; the process continues. */
  readonly onError: (error: unknown) => void;
  /** Called if the state cannot be brought in step; the process has to end. */
  readonly onFatal: (error: unknown) => void;
  /** {@link MAX_RETRYING_MS} if left out. */
  readonly maxRetryingMs?: number;
}

/** Invariant: a change set is reported to the owner only after requests here can see it. */
export class InStep {
  readonly #options: Options;
  readonly #joined = Promise.withResolvers<void>();
  #target = 0;
  #isMember = false;
  #isRunning = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when this process has all change sets, and writes wait for it. */
  get joined(): Promise<void> {
    return this.#joined.promise;
  }

  /** Reports to the owner what this process has read. */
  begin(): void {
    const { store, send } = this.#options;
    send({ kind: 'applied', sequence: store.sequence });
  }

  /** Takes the durable state that the owner reports. */
  take({ sequence, oldest, isMember }: Extract<ToWorker, { readonly kind: 'state' }>): void {
    this.#options.log.setOldest(oldest);
    this.#target = Math.max(this.#target, sequence);
    this.#isMember ||= isMember;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { store, send, onFatal } = this.#options;
    this.#isRunning = true;
    try {
      do {
        await this.#apply(this.#target);
        send({ kind: 'applied', sequence: store.sequence });
        if (this.#isMember && store.sequence >= this.#target) this.#joined.resolve();
      } while (store.sequence < this.#target);
    } catch (error) {
      onFatal(error);
    }
    this.#isRunning = false;
  }

  /**
   * All workers would end at once, with all connections, if for a moment no descriptor is free on
   * the machine. So a file that cannot be read is tried again.
   */
  async #apply(target: number): Promise<void> {
    const { store, log, onError, maxRetryingMs = MAX_RETRYING_MS } = this.#options;
    const deadline = performance.now() + maxRetryingMs;
    for (let failures = 1; ; failures += 1) {
      try {
        for await (const encoded of log.read(store.sequence, target)) await store.receive(encoded);
        return;
      } catch (error) {
        if (!hasCode(error, 'store_unreadable') || performance.now() >= deadline) throw error;
        if (failures === 1) onError(error);
        await pause(backoffDelay(failures, RETRY_MS));
      }
    }
  }
}
