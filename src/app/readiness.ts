/** Whether a server takes writes, from what the store tells of its groups. */
import type { Group } from '../store/observer.ts';

/**
 * Milliseconds for which a refused write counts, unless one succeeds earlier. A balancer that
 * sends nothing to who is not ready would otherwise never learn that the disk has space again.
 */
const REFUSAL_MEMORY_MS = 30_000;

export class Readiness {
  closing = false;
  readonly #memoryReason: () => string | null;
  readonly #now: () => number;
  #refusedAt: number | null = null;

  /**
   * @param memoryReason why memory allows no writes; null if it does.
   * @param now milliseconds of a clock that never goes back.
   */
  constructor(
    memoryReason: () => string | null = () => null,
    now: () => number = performance.now.bind(performance),
  ) {
    this.#memoryReason = memoryReason;
    this.#now = now;
  }

  readonly committed = ({ refused, changes }: Group): void => {
    if (refused) this.#refusedAt = this.#now();
    else if (changes > 0) this.#refusedAt = null;
  };

  /** @returns why writes cannot be taken, without a word on where; null where they can. */
  readonly reason = (): string | null => {
    if (this.closing) return 'the server is shutting down';
    const refused = this.#refusedAt !== null && this.#now() - this.#refusedAt < REFUSAL_MEMORY_MS;
    return refused ? 'the disk refused a write' : this.#memoryReason();
  };
}
