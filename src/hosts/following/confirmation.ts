/** How long ago the other side confirmed something, such as accounts and keys (spec 15.12). */
import type { Credentials, CurrentCredentials } from '../../auth/credentials.ts';
import { CatalogError } from '../../errors.ts';

/** An instant on two clocks. */
export interface Instant {
  /** Of a clock that never goes back, and that may stand still while the machine sleeps. */
  readonly monotonic: number;
  /** Of the wall clock, which may be set back. */
  readonly wall: number;
}

export type Clocks = () => Instant;

const machineClocks: Clocks = () => ({ monotonic: performance.now(), wall: Date.now() });

/**
 * The age of the last confirmation. It counts from when the answered request was sent, so that a
 * delayed response does not count as fresh.
 */
export class Confirmation {
  readonly #clocks: Clocks;
  readonly #maxAge: number;
  #latest: Instant | null = null;

  /** @param maxAge milliseconds. */
  constructor(maxAge: number, clocks: Clocks = machineClocks) {
    this.#maxAge = maxAge;
    this.#clocks = clocks;
  }

  /** The present instant, to be taken before a request is sent. */
  now(): Instant {
    return this.#clocks();
  }

  /** Records that the request sent at this instant was answered. */
  confirm(sent: Instant): void {
    if (this.#latest === null || sent.monotonic > this.#latest.monotonic) this.#latest = sent;
  }

  /** Milliseconds, by the clock that advanced further; infinity if nothing was confirmed. */
  get age(): number {
    if (this.#latest === null) return Number.POSITIVE_INFINITY;
    const { monotonic, wall } = this.#clocks();
    return Math.max(monotonic - this.#latest.monotonic, wall - this.#latest.wall);
  }

  get isCurrent(): boolean {
    return this.age <= this.#maxAge;
  }
}

/** Credentials that count only while the primary confirms them. */
export class ConfirmedCredentials implements CurrentCredentials {
  readonly #source: CurrentCredentials;
  readonly #confirmation: Pick<Confirmation, 'isCurrent'>;

  constructor(source: CurrentCredentials, confirmation: Pick<Confirmation, 'isCurrent'>) {
    this.#source = source;
    this.#confirmation = confirmation;
  }

  /** @throws also CatalogError `cut_off`. */
  current(): Credentials {
    if (this.#confirmation.isCurrent) return this.#source.current();
    throw new CatalogError(
      'cut_off',
      'this host is cut off from its primary and cannot know which tokens are still valid; try again',
    );
  }
}
