/** A limited number of places, of which one subject gets only a share. */

export interface PlacesOptions {
  /** Places in all. */
  readonly total: number;
  /** Places of one subject, so that others get some. */
  readonly share: number;
  /** Makes the failure if there is no place: `own` if the subject has its share already. */
  readonly refusal: (limit: 'own' | 'all') => Error;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #bySubject = new Map<string | null, number>();
  #taken = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** The number of places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * @param subject who takes it: the subject of a token, or a client; null for all requests without a
   *   token together.
   * @returns a function that gives the place back. Later calls of it have no effect.
   * @throws what `refusal` makes.
   */
  take(subject: string | null): () => void {
    const { total, share, refusal } = this.#options;
    if (this.#of(subject) >= share) throw refusal('own');
    if (this.#taken >= total) throw refusal('all');
    this.#count(subject, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#count(subject, -1);
      isTaken = false;
    };
  }

  #of(subject: string | null): number {
    return this.#bySubject.get(subject) ?? 0;
  }

  #count(subject: string | null, change: 1 | -1): void {
    this.#taken += change;
    const taken = this.#of(subject) + change;
    if (taken === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, taken);
  }
}
