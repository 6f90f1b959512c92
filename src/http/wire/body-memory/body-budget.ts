/**
 * Limits the memory of all request bodies that were not handled yet.
 *
 * Without it, every connection that the limits allow could hold a body that never ends.
 *
 * Invariants:
 * 1. A body of up to {@link SMALL_BODY_BYTES} is always accepted, and takes nothing from the limits.
 * 2. Larger bodies together, those of one subject, and those of all requests without a valid token
 *    stay within a limit each. So clients without a token never take the memory that others need.
 */
import { Tally } from '../../../places.ts';

/** Such a body takes no more memory than request headers do, and `--max-connections` limits these. */
const SMALL_BODY_BYTES = 16 * 1024;

/** What one subject may take, so that others get some. */
const SUBJECT_SHARE = 1 / 2;

/** What all requests without a valid token may take together: no body that they need is large. */
const ANONYMOUS_SHARE = 1 / 4;

export interface BodyBudgetOptions {
  /** Bytes of all large bodies together. */
  readonly limit: number;
  /** Bytes of the largest body: one of this size always has room if there are no others. */
  readonly largest: number;
  /** Whether only small bodies are accepted. */
  readonly isMemoryScarce: () => boolean;
}

export class BodyBudget {
  readonly #limit: number;
  readonly #shares: { readonly subject: number; readonly anonymous: number };
  readonly #isMemoryScarce: () => boolean;
  /** Bytes of large bodies by subject; null stands for all requests without a valid token. */
  readonly #large = new Tally<string | null>();
  #held = 0;

  constructor({ limit, largest, isMemoryScarce }: BodyBudgetOptions) {
    const atLeastOne = (bytes: number) => Math.max(bytes, largest);
    this.#limit = atLeastOne(limit);
    this.#shares = {
      subject: atLeastOne(limit * SUBJECT_SHARE),
      anonymous: atLeastOne(limit * ANONYMOUS_SHARE),
    };
    this.#isMemoryScarce = isMemoryScarce;
  }

  /** Bytes of all bodies in memory now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Lets a body grow from `before` to `after` bytes.
   *
   * @param subject of the token of its request; null if it has no valid token.
   * @returns false if there is no room for it; nothing changed then.
   */
  grow(subject: string | null, before: number, after: number): boolean {
    if (after > SMALL_BODY_BYTES && !this.#growLarge(subject, before, after)) return false;
    this.#held += after - before;
    return true;
  }

  /**
   * @param subject as it was passed to {@link grow}.
   * @param bytes that the body held.
   */
  release(subject: string | null, bytes: number): void {
    this.#held -= bytes;
    if (bytes > SMALL_BODY_BYTES) this.#large.add(subject, -bytes);
  }

  #growLarge(subject: string | null, before: number, after: number): boolean {
    const more = before > SMALL_BODY_BYTES ? after - before : after;
    const share = subject === null ? this.#shares.anonymous : this.#shares.subject;
    if (this.#large.total + more > this.#limit) return false;
    if (this.#large.of(subject) + more > share) return false;
    if (this.#isMemoryScarce()) return false;
    this.#large.add(subject, more);
    return true;
  }
}
