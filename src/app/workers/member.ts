/** One worker as the owner of the directory sees it. */
import { withTimeout } from '../../delay.ts';
import { CatalogError } from '../../errors.ts';
import type { ProcessFigures } from '../../telemetry/process-metrics.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** A process that serves requests, and the way to it. */
export interface WorkerPort {
  send(message: ToWorker): void;
  /** Ends the process at once. */
  kill(): void;
  /** @param listener called with what the process sends. */
  onMessage(listener: (message: FromWorker) => void): void;
  /** @param listener called once, with how the process ended, in words. */
  onExit(listener: (how: string) => void): void;
}

/** The last change set that is durable, and how far back change sets are kept. */
export interface DurableState {
  readonly sequence: number;
  readonly oldest: number;
}

/** Milliseconds without a message after which a worker that writes wait for counts as stuck. */
const SILENCE_MS = 5000;

/** Milliseconds that a write waits for a worker: the largest change sets take seconds. */
const REACH_MS = 30_000;

/** Milliseconds that a worker has to read the state: its event loop does not turn meanwhile. */
const START_MS = 300_000;

/** Milliseconds for the figures of a worker; a busy one is represented by its last ones. */
const FIGURES_MS = 1000;

/** Change sets that a worker may still lack when it becomes a member, for which writes wait. */
const CLOSE_ENOUGH = 64;

/** A write that waits for the worker. */
interface Waiting {
  readonly sequence: number;
  readonly since: number;
  readonly settle: () => void;
}

interface Options {
  readonly state: () => DurableState;
  /** Milliseconds in which this process ran. */
  readonly now: () => number;
}

export class Member {
  readonly #port: WorkerPort;
  readonly #options: Options;
  readonly #listening = Promise.withResolvers<string>();
  readonly #ended = Promise.withResolvers<string>();
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #figures: ((figures: ProcessFigures) => void)[] = [];
  #lastFigures: ProcessFigures | null = null;
  #heardAt: number;
  #applied = -1;
  #isMember = false;
  #isServing = false;
  #hasEnded = false;
  #failure: CatalogError | null = null;

  constructor(port: WorkerPort, options: Options) {
    this.#port = port;
    this.#options = options;
    this.#heardAt = options.now();
    port.onMessage((message) => this.#hear(message));
    port.onExit((how) => this.#end(how));
  }

  /** Where the worker listens. @throws CatalogError why it cannot; Error if it ends before. */
  get listening(): Promise<string> {
    return this.#listening.promise;
  }

  /** How the process ended, in words. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Whether it takes requests. */
  get isServing(): boolean {
    return this.#isServing && !this.#hasEnded;
  }

  /** Announces a change set to the worker. @returns when the worker shows it, or has ended. */
  reach(state: DurableState): Promise<void> {
    if (!this.#isMember || this.#hasEnded || this.#applied >= state.sequence) {
      return Promise.resolve();
    }
    this.#port.send({ kind: 'state', ...state, isMember: true });
    return new Promise((resolve) => {
      const since = this.#options.now();
      this.#waiting.add({ sequence: state.sequence, since, settle: resolve });
    });
  }

  /** Kills a worker that is silent or holds up a write for too long. @returns whether it did so. */
  endIfStuck(): boolean {
    if (this.#hasEnded) return false;
    const now = this.#options.now();
    const [oldest] = this.#waiting;
    const isSilent = now - this.#heardAt > (this.#isMember ? SILENCE_MS : START_MS);
    if (!isSilent && now - (oldest?.since ?? now) <= REACH_MS) return false;
    this.#port.kill();
    return true;
  }

  /** What the worker measured when it last answered; null if it never did. */
  get lastFigures(): ProcessFigures | null {
    return this.#lastFigures;
  }

  /** @returns what the worker measures; {@link lastFigures} if it does not answer in time. */
  async figures(): Promise<ProcessFigures | null> {
    if (!this.isServing) return null;
    const { promise, resolve } = Promise.withResolvers<ProcessFigures>();
    this.#figures.push(resolve);
    this.#port.send({ kind: 'figures' });
    return withTimeout(promise, FIGURES_MS, () => this.#lastFigures);
  }

  /** @param grace milliseconds after which the process is ended. @returns when it has ended. */
  async close(grace: number): Promise<void> {
    if (this.#hasEnded) return;
    // One that is no member has no client, and would see the message only after reading the state.
    if (this.#isMember) this.#port.send({ kind: 'close' });
    else this.#port.kill();
    const timer = setTimeout(() => this.#port.kill(), grace);
    await this.ended;
    clearTimeout(timer);
  }

  #hear(message: FromWorker): void {
    this.#heardAt = this.#options.now();
    switch (message.kind) {
      case 'applied':
        this.#apply(message.sequence);
        return;
      case 'listening':
        this.#isServing = true;
        this.#listening.resolve(message.url);
        return;
      case 'figures':
        this.#lastFigures = message.figures;
        for (const settle of this.#figures.splice(0)) settle(message.figures);
        return;
      case 'failed':
        this.#failure = new CatalogError(message.code, message.message);
        return;
      case 'alive':
    }
  }

  #apply(sequence: number): void {
    this.#applied = sequence;
    for (const waiting of this.#waiting) {
      if (waiting.sequence > sequence) continue;
      this.#waiting.delete(waiting);
      waiting.settle();
    }
    if (this.#isMember) return;
    const state = this.#options.state();
    this.#isMember = sequence >= state.sequence - CLOSE_ENOUGH;
    this.#port.send({ kind: 'state', ...state, isMember: this.#isMember });
  }

  #end(how: string): void {
    this.#hasEnded = true;
    for (const { settle } of this.#waiting) settle();
    this.#waiting.clear();
    this.#listening.reject(this.#failure ?? new Error(`a worker ended before it served: ${how}`));
    this.#ended.resolve(this.#failure?.message ?? how);
  }
}
