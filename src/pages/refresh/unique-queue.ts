/** What waits for its turn, each once, in the order of coming. */

export class UniqueQueue<T> {
  /** What has come since {@link UniqueQueue.#batch} was begun, and when the first of it came. */
  #coming = new Set<T>();
  #comingSince = 0;
  /** Taken as a whole: a set emptied one by one from its front is searched again each time. */
  #batch: Iterator<T> = [].values();
  #batchLeft = 0;
  #batchSince = 0;
  readonly #now: () => number;

  /** @param now milliseconds of any clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Those of which a turn has come again meanwhile are counted twice. */
  get size(): number {
    return this.#coming.size + this.#batchLeft;
  }

  /** Milliseconds since the oldest, or one that came at about the same time; 0 where none waits. */
  get age(): number {
    if (this.#batchLeft > 0) return this.#now() - this.#batchSince;
    return this.#coming.size > 0 ? this.#now() - this.#comingSince : 0;
  }

  add(value: T): void {
    if (this.#coming.size === 0) this.#comingSince = this.#now();
    this.#coming.add(value);
  }

  /** The next ones, at most `count`. */
  take(count: number): T[] {
    if (this.#batchLeft === 0 && this.#coming.size > 0) {
      this.#batch = this.#coming.values();
      this.#batchLeft = this.#coming.size;
      this.#batchSince = this.#comingSince;
      this.#coming = new Set();
    }
    const taken: T[] = [];
    while (taken.length < count && this.#batchLeft > 0) {
      taken.push(this.#batch.next().value as T);
      this.#batchLeft -= 1;
    }
    return taken;
  }
}
