/**
 * The catch-ups with the shared log that wait for their turn. They are one: it applies all that the
 * log has. A host whose disk is full forwards writes for hours, and each of them asks for one.
 */
import type { Foreign } from './queue.ts';

interface Waiting {
  target: number;
  readonly done: Promise<void>;
}

export class CatchUps {
  readonly #enqueue: (job: Foreign) => void;
  readonly #run: (target: number) => Promise<void>;
  #waiting: Waiting | null = null;

  /**
   * @param enqueue lets a job wait for its turn, or rejects it.
   * @param run catches up if this host lacks the target.
   */
  constructor(enqueue: (job: Foreign) => void, run: (target: number) => Promise<void>) {
    this.#enqueue = enqueue;
    this.#run = run;
  }

  /**
   * Joins the catch-up that waits, or begins to wait for one.
   *
   * @param target a sequence that the log is known to have.
   * @throws what `run` throws, and why it was rejected before its turn.
   */
  join(target: number): Promise<void> {
    if (this.#waiting === null) return this.#wait(target);
    this.#waiting.target = Math.max(this.#waiting.target, target);
    return this.#waiting.done;
  }

  #wait(target: number): Promise<void> {
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { target, done };
    this.#waiting = waiting;
    this.#enqueue({
      take: () => {
        this.#waiting = null;
        return this.#run(waiting.target).then(resolve);
      },
      reject: (error) => {
        if (this.#waiting === waiting) this.#waiting = null;
        reject(error);
      },
    });
    return done;
  }
}
