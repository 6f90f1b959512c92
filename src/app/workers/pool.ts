/**
 * The workers of one data directory: as many as were configured, each in step with the owner.
 *
 * Invariants:
 * 1. A write is answered when every worker that serves shows it. A worker serves only once writes
 *    wait for it.
 * 2. No write waits for a worker that has ended, and a worker that is stuck is killed, also while
 *    the server stops. So a write waits for workers for a bounded time. Time in which this process
 *    was paused does not count.
 * 3. Another worker takes the place of one that has ended, with growing delays.
 */
import { Backoff } from '../../backoff.ts';
import { messageOf } from '../../errors.ts';
import { type ProcessFigures, withCountsOf } from '../../telemetry/process-metrics.ts';
import { type DurableState, Member, type WorkerPort } from './member.ts';
import { RunningTime } from './running-time.ts';

/** Milliseconds between two checks for workers that are stuck. */
const CHECK_MS = 1000;

/** Milliseconds of service after which the end of a worker counts as the first one again. */
const STABLE_MS = 60_000;

interface Options {
  readonly count: number;
  /** Starts a process that listens on a port. */
  readonly start: (port: number) => WorkerPort;
  /** The last change set that is durable before the pool is opened, and how far back they go. */
  readonly state: () => DurableState;
  readonly log: { warn(message: string): void };
  readonly now?: () => number;
  /** Calls `check` regularly. @returns a function that ends this. */
  readonly regularly?: (check: () => void, milliseconds: number) => () => void;
  readonly backoff?: () => Backoff;
}

function regularly(check: () => void, milliseconds: number): () => void {
  const timer = setInterval(check, milliseconds);
  return () => clearInterval(timer);
}

export class WorkerPool {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #running: RunningTime;
  readonly #members = new Set<Member>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  /** The counts of the workers that have ended. */
  #ended: Promise<ProcessFigures> = Promise.resolve([]);
  #sequence = 0;
  #port = 0;
  #isClosing = false;
  #endChecks: (() => void) | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
    this.#running = new RunningTime(this.#now, 2 * CHECK_MS);
  }

  /**
   * Starts the workers.
   *
   * @param port that all of them listen on.
   * @returns the address, such as `http://127.0.0.1:8000`.
   * @throws CatalogError why a worker cannot serve; Error if the pool is closed first.
   */
  async open(port: number): Promise<string> {
    // As at the end of a start that is stopped: no process would end the workers.
    if (this.#isClosing) throw new Error('the pool is closed');
    this.#port = port;
    this.#sequence = this.#options.state().sequence;
    const members = Array.from({ length: this.#options.count }, () => this.#start());
    const begin = this.#options.regularly ?? regularly;
    this.#endChecks = begin(() => this.#endStuck(), CHECK_MS);
    const urls = await Promise.all(members.map(({ listening }) => listening));
    for (const member of members) this.#replaceAtEnd(member, this.#newBackoff());
    return urls[0] ?? '';
  }

  /** The last change set that was reported as durable. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Workers that take requests. */
  get serving(): number {
    return [...this.#members].filter(({ isServing }) => isServing).length;
  }

  /** Why the server is not ready; null if it is. */
  readonly reason = (): string | null => (this.serving === 0 ? 'no worker is ready' : null);

  /** @returns when every worker that serves shows a change set. Never rejects. */
  readonly reach = async (sequence: number): Promise<void> => {
    this.#sequence = sequence;
    const state = this.#state();
    await Promise.all([...this.#members].map((member) => member.reach(state)));
  };

  /** What the workers measure. No count decreases if a worker is busy or has been replaced. */
  readonly figures = async (): Promise<ProcessFigures[]> => {
    const members = [...this.#members].map((member) => member.figures());
    const all = await Promise.all([...members, this.#ended]);
    return all.filter((figures) => figures !== null);
  };

  /** @param grace milliseconds that the workers have for requests under way. */
  async close(grace: number): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all([...this.#members].map((member) => member.close(grace)));
    this.#endChecks?.();
  }

  #state(): DurableState {
    return { sequence: this.#sequence, oldest: this.#options.state().oldest };
  }

  #newBackoff(): Backoff {
    return this.#options.backoff?.() ?? new Backoff();
  }

  #start(): Member {
    const options = { state: () => this.#state(), now: this.#running.now };
    const member = new Member(this.#options.start(this.#port), options);
    this.#members.add(member);
    void member.ended.then(() => {
      this.#members.delete(member);
      const { lastFigures } = member;
      if (lastFigures === null) return;
      this.#ended = this.#ended.then((counts) => withCountsOf(counts, lastFigures));
    });
    return member;
  }

  /** @param backoff shared by this worker and those that replace it. */
  #replaceAtEnd(member: Member, backoff: Backoff): void {
    const begunAt = this.#now();
    void member.ended.then((how) => {
      if (this.#isClosing) return;
      if (this.#now() - begunAt > STABLE_MS) backoff.reset();
      const delay = backoff.delay();
      this.#options.log.warn(
        `a worker ended (${how}); another one is started in ${Math.round(delay)} ms`,
      );
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#replace(backoff);
      }, delay);
      this.#timers.add(timer);
    });
  }

  #replace(backoff: Backoff): void {
    const member = this.#start();
    this.#replaceAtEnd(member, backoff);
    member.listening.then(
      () => this.#options.log.warn('a new worker has replaced the one that ended'),
      (error: unknown) => {
        if (!this.#isClosing) this.#options.log.warn(`a worker cannot serve: ${messageOf(error)}`);
      },
    );
  }

  #endStuck(): void {
    this.#running.advance();
    for (const member of this.#members) {
      if (member.endIfStuck()) this.#options.log.warn('a worker did not answer and was killed');
    }
  }
}
