/** Reads that wait until the state contains a change set (spec 14.2, 15.2). Their number is bounded. */
import { CatalogError } from '../../errors.ts';
import { changeSetLabel } from '../../store/change-set.ts';
import { Places } from '../../places.ts';
import type { ChangeSource } from './change-source.ts';

/** Milliseconds for which a read waits for a change set that it asks for. */
const WAIT_MS = 1000;

/** Change sets beyond the last one that no process can apply within {@link WAIT_MS}. */
export const MAX_DISTANCE = 100_000;

/** Reads that wait, at most. */
export const MAX_WAITING = 1000;

/** Reads that wait, at most, of one subject, and of all requests without a token together. */
export const MAX_WAITING_OF_SUBJECT = 500;

export class AwaitedSequences {
  readonly #source: ChangeSource;
  readonly #reads = places(MAX_WAITING_OF_SUBJECT);
  /** Reads cannot take these places: clients expect to read what they have written. */
  readonly #writes = places(MAX_WAITING);
  readonly #mayBeBehind: boolean;

  /** @param mayBeBehind whether other processes may show change sets before this one does. */
  constructor(source: ChangeSource, mayBeBehind: boolean) {
    this.#source = source;
    this.#mayBeBehind = mayBeBehind;
  }

  /**
   * Waits for up to a second.
   *
   * @param subject who reads; null without a token.
   * @returns undefined if the state contains the change set already.
   * @throws CatalogError `busy`, as a rejection.
   */
  reach(sequence: number, subject: string | null): Promise<void> | undefined {
    return this.#isReached(sequence) ? undefined : this.#waitFor(sequence, this.#reads, subject);
  }

  /** The same for the change set of a write that another host has carried out. */
  reachWrite(sequence: number): Promise<void> | undefined {
    return this.#isReached(sequence) ? undefined : this.#waitFor(sequence, this.#writes, null);
  }

  /**
   * Waits as long for a change set after which a client reads on: another process may have shown it
   * already. Resolves also if it does not arrive.
   *
   * @param subject who reads.
   * @throws CatalogError `busy`, as a rejection.
   */
  async expect(sequence: number, subject: string | null): Promise<void> {
    if (this.#mayBeBehind && !this.#isReached(sequence)) {
      await this.#arrives(sequence, this.#reads, subject);
    }
  }

  #isReached(sequence: number): boolean {
    return sequence <= this.#source.sequence;
  }

  async #waitFor(sequence: number, from: Places, subject: string | null): Promise<void> {
    if (await this.#arrives(sequence, from, subject)) return;
    const last = this.#source.sequence;
    throw new CatalogError(
      'busy',
      `${changeSetLabel(sequence)} has not arrived yet; the last one is ${last}; try again`,
    );
  }

  async #arrives(sequence: number, from: Places, subject: string | null): Promise<boolean> {
    if (sequence - this.#source.sequence > MAX_DISTANCE) return false;
    const leave = from.take(subject);
    try {
      return await this.#source.arrivals.past(sequence - 1, WAIT_MS);
    } finally {
      leave();
    }
  }
}

function places(share: number): Places {
  return new Places({
    total: MAX_WAITING,
    share,
    refusal: () =>
      new CatalogError('busy', 'too many requests are waiting for changes; try again later'),
  });
}
