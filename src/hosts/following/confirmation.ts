/** How long ago another side has confirmed something, such as accounts and keys (spec 15.12). */
import type { Credentials, CredentialSource } from '../../auth/credentials.ts';
import { CatalogError } from '../../errors.ts';

/** An instant on two clocks. */
export interface Instant {
  /** Of a clock that never goes back, and that may stand still while the machine sleeps. */
  readonly monotonic: number;
  /** Of the clock on the wall, which may be set back. */
  readonly wall: number;
}

export type Clocks = () => Instant;

const machineClocks: Clocks = () => ({ monotonic: performance.now(), wall: Date.now() });

/**
 * The age of what the primary has said. It counts from the sending of a request that was answered,
 * so that an answer that was long on its way is not taken for a fresh one.
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

  /** To be called before a request is sent. */
  now(): Instant {
    return this.#clocks();
  }

  /** The request that was sent then was answered. */
  confirm(sent: Instant): void {
    if (this.#latest === null || sent.monotonic > this.#latest.monotonic) this.#latest = sent;
  }

  /** Milliseconds; infinity if nothing was confirmed. The clock that has gone further counts. */
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
export class ConfirmedCredentials implements CredentialSource {
  readonly #source: CredentialSource;
  readonly #confirmation: Pick<Confirmation, 'isCurrent'>;

  constructor(source: CredentialSource, confirmation: Pick<Confirmation, 'isCurrent'>) {
    this.#source = source;
    this.#confirmation = confirmation;
  }

  /** @throws also CatalogError `cut_off`. */
  current(): Credentials {
    this.#require();
    return this.#source.current();
  }

  async settled<T>(use: (credentials: Credentials) => T): Promise<T> {
    this.#require();
    return this.#source.settled(use);
  }

  #require(): void {
    if (this.#confirmation.isCurrent) return;
    throw new CatalogError(
      'cut_off',
      'this host is cut off from its primary and cannot know which tokens have ended; try again',
    );
  }
}
