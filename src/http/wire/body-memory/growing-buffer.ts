/** A request body in memory while it arrives. */
import type { BodyBudget } from './body-budget.ts';

/** Bytes of the first buffer of a body that arrives in several chunks. */
const FIRST_BYTES = 4096;

/**
 * One buffer that doubles as bytes arrive. Nothing is kept for each chunk, however small, and the
 * buffer has at most twice the bytes that have arrived, or {@link FIRST_BYTES} if that is more.
 */
export class GrowingBuffer {
  readonly #declared: number;
  readonly #limit: number;
  readonly #budget: BodyBudget;
  readonly #subject: string | null;
  #buffer: Uint8Array = NOTHING;
  #size = 0;

  /**
   * @param declared bytes that are expected; 0 if that is unknown.
   * @param limit most bytes of the body.
   * @param budget that all bodies share.
   * @param subject for which the budget counts the body.
   */
  constructor(declared: number, limit: number, budget: BodyBudget, subject: string | null) {
    this.#declared = declared;
    this.#limit = limit;
    this.#budget = budget;
    this.#subject = subject;
  }

  /** Adds a chunk. If there is no room for it, what arrived before is dropped. */
  add(chunk: Uint8Array): 'added' | 'too large' | 'over budget' {
    const size = this.#size + chunk.length;
    const outcome = size > this.#limit ? 'too large' : this.#reserve(size, chunk);
    if (outcome === 'added') this.#size = size;
    else this.release();
    return outcome;
  }

  /** The bytes that have arrived. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Frees the memory and returns it to the budget. */
  release(): void {
    this.#budget.release(this.#subject, this.#buffer.length);
    this.#buffer = NOTHING;
    this.#size = 0;
  }

  #reserve(size: number, chunk: Uint8Array): 'added' | 'over budget' {
    const capacity = this.#buffer.length;
    if (size > capacity) {
      const larger = this.#capacityFor(size);
      if (!this.#budget.grow(this.#subject, capacity, larger)) return 'over budget';
      if (chunk.length === larger) {
        // The common case: the whole body arrived in one chunk, so nothing is copied.
        this.#buffer = chunk;
        return 'added';
      }
      const buffer = new Uint8Array(larger);
      buffer.set(this.bytes());
      this.#buffer = buffer;
    }
    this.#buffer.set(chunk, this.#size);
    return 'added';
  }

  #capacityFor(size: number): number {
    const most = this.#declared === 0 ? this.#limit : this.#declared;
    return Math.max(size, Math.min(2 * this.#buffer.length, most), Math.min(FIRST_BYTES, most));
  }
}

const NOTHING = new Uint8Array();
