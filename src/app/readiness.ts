/** Whether a server is ready for writes, and if not, why. */
import type { Group } from '../store/observer.ts';

/** The causes in the words of `/readyz`. If there are several, the first one is given. */
const CAUSES = [
  ['closing', 'the server is shutting down'],
  ['disk', 'the disk refused a write'],
] as const;

export type Cause = (typeof CAUSES)[number][0];

/**
 * Milliseconds for which a refused write counts, unless one succeeds earlier. A load balancer sends
 * no requests to a server that is not ready, so no write would show that the disk has space again.
 */
const REFUSAL_MEMORY_MS = 30_000;

export class Readiness {
  readonly #reasons: (() => string | null)[];
  readonly #now: () => number;
  /** When each cause ends, by the clock. */
  readonly #until = new Map<Cause, number>();

  /**
   * @param others what else may speak against it, such as memory: the reason, or null for none.
   * @param now milliseconds of a clock that never goes back.
   */
  constructor(
    others: readonly (() => string | null)[] = [],
    now: () => number = performance.now.bind(performance),
  ) {
    this.#reasons = [...others];
    this.#now = now;
  }

  /** @param reason tells at any time why writes are not taken; null if they are. */
  also(reason: () => string | null): void {
    this.#reasons.push(reason);
  }

  /** @param milliseconds after which the cause ends by itself; never, if left out. */
  raise(cause: Cause, milliseconds = Number.POSITIVE_INFINITY): void {
    this.#until.set(cause, this.#now() + milliseconds);
  }

  clear(cause: Cause): void {
    this.#until.delete(cause);
  }

  /** Takes note of what the disk did with a group of transactions. */
  readonly committed = ({ refused, changes }: Group): void => {
    if (refused) this.raise('disk', REFUSAL_MEMORY_MS);
    else if (changes > 0) this.clear('disk');
  };

  /** @returns why the server is not ready, without naming a place; null if it is. */
  readonly reason = (): string | null => {
    const now = this.#now();
    for (const [cause, words] of CAUSES) {
      const until = this.#until.get(cause);
      if (until !== undefined && now < until) return words;
    }
    for (const reason of this.#reasons) {
      const words = reason();
      if (words !== null) return words;
    }
    return null;
  };
}
