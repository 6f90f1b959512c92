/** Amounts that several owners have of something that is limited. */

/** What each owner has, and all of them together. Owners that have nothing take no memory. */
export class Tally<Owner> {
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(owner: Owner): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /** @param change may be negative. */
  add(owner: Owner, change: number): void {
    this.#total += change;
    const amount = this.of(owner) + change;
    if (amount === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, amount);
  }
}

export interface PlacesOptions {
  /** Places in all. */
  readonly total: number;
  /** Places of one subject, so that others get some. */
  readonly share: number;
  /** Makes the failure if there is no place: `own` if the subject has its share already. */
  readonly refusal: (limit: 'own' | 'all') => Error;
}

/** A limited number of places, of which one subject gets only a share. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #taken = new Tally<string | null>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** The number of places that are taken. */
  get taken(): number {
    return this.#taken.total;
  }

  /**
   * @param subject who takes it: the subject of a token, or a client; null for all requests without a
   *   token together.
   * @returns a function that gives the place back. Later calls of it have no effect.
   * @throws what `refusal` makes.
   */
  take(subject: string | null): () => void {
    const { total, share, refusal } = this.#options;
    if (this.#taken.of(subject) >= share) throw refusal('own');
    if (this.#taken.total >= total) throw refusal('all');
    this.#taken.add(subject, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken.add(subject, -1);
      isTaken = false;
    };
  }
}
