/** Keeps the state of a worker in step with that of the owner of the directory. */
import type { ReadOnlyLog } from '../../store/files/read-only-log.ts';
import type { Store } from '../../store/store.ts';
import type { FromWorker, ToWorker } from './messages.ts';

interface Options {
  readonly store: Pick<Store, 'sequence' | 'receive'>;
  readonly log: Pick<ReadOnlyLog, 'read' | 'setOldest'>;
  readonly send: (message: FromWorker) => void;
  /** Called if the state cannot be brought in step; the process has to end. */
  readonly onFatal: (error: unknown) => void;
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
    const { store, log, send, onFatal } = this.#options;
    this.#isRunning = true;
    try {
      do {
        const target = this.#target;
        for await (const encoded of log.read(store.sequence, target)) await store.receive(encoded);
        send({ kind: 'applied', sequence: store.sequence });
        if (this.#isMember && store.sequence >= this.#target) this.#joined.resolve();
      } while (store.sequence < this.#target);
    } catch (error) {
      onFatal(error);
    }
    this.#isRunning = false;
  }
}
