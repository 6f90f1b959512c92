/** Values that wait for their turn, each once, in the order of their arrival. */

export class UniqueQueue<T> {
  /** Values added since {@link UniqueQueue.#batch} was begun, and since when the oldest waits. */
  #coming = new Set<T>();
  #comingSince = 0;
  /** A whole set: deleting values one by one would make every search for the first one slower. */
  #batch: Iterator<T> = [].values();
  #batchLeft = 0;
  #batchSince = 0;
  readonly #now: () => number;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A value that is added again while its batch is in progress counts twice. */
  get size(): number {
    return this.#coming.size + this.#batchLeft;
  }

  /** Milliseconds since the oldest value of the current batch was added; 0 if none waits. */
  get age(): number {
    if (this.#batchLeft > 0) return this.#now() - this.#batchSince;
    return this.#coming.size > 0 ? this.#now() - this.#comingSince : 0;
  }

  /** @param age milliseconds that the value has waited already, elsewhere. */
  add(value: T, age = 0): void {
    const since = this.#now() - age;
    if (this.#coming.size === 0 || since < this.#comingSince) this.#comingSince = since;
    this.#coming.add(value);
  }

  /** Takes the next values, at most `count`. */
  take(count: number): T[] {
    if (this.#batchLeft === 0 && this.#coming.size > 0) {
      this.#batch = this.#coming.values();
      this.#batchLeft = this.#coming.size;
      this.#batchSince = this.#comingSince;
      this.#coming = new Set();
    }
    const taken: T[] = [];
    while (taken.length < count) {
      const step = this.#batch.next();
      if (step.done === true) break;
      taken.push(step.value);
      this.#batchLeft -= 1;
    }
    return taken;
  }
}
