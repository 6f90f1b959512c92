/**
 * Limits the memory of all request bodies that were not handled yet.
 *
 * Without it, every connection that the limits allow could hold a body that never ends.
 */

/** Bodies up to this size are always accepted: they take no more memory than request headers. */
const SMALL_BODY_BYTES = 16 * 1024;

export class BodyBudget {
  readonly #limit: number;
  readonly #isMemoryScarce: () => boolean;
  #held = 0;

  /**
   * @param limit bytes.
   * @param isMemoryScarce whether only small bodies are accepted.
   */
  constructor(limit: number, isMemoryScarce: () => boolean) {
    this.#limit = limit;
    this.#isMemoryScarce = isMemoryScarce;
  }

  /** Bytes of all bodies in memory now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Lets a body grow from `before` to `after` bytes.
   *
   * @returns false if there is no room for it; nothing changed then.
   */
  grow(before: number, after: number): boolean {
    const total = this.#held - before + after;
    if (after > SMALL_BODY_BYTES && (total > this.#limit || this.#isMemoryScarce())) return false;
    this.#held = total;
    return true;
  }

  /** @param bytes that a body held. */
  release(bytes: number): void {
    this.#held -= bytes;
  }
}
