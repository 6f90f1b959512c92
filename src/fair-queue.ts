/** Queues that no owner can hold up for the others by waiting many times over. */

/**
 * Items of several owners, of which one is taken after the other.
 *
 * Invariant: between two items of one owner, every other owner that has items has one taken. The
 * items of one owner are taken in order.
 */
export class RoundRobin<Owner, Item> {
  /** The first owner is the next one; no list is empty. */
  readonly #items = new Map<Owner, Item[]>();

  /** Whether there are no items. */
  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Adds an item after the others of its owner. */
  add(owner: Owner, item: Item): void {
    const items = this.#items.get(owner);
    if (items === undefined) this.#items.set(owner, [item]);
    else items.push(item);
  }

  /** Removes the next item. @returns it; undefined if there are none. */
  take(): Item | undefined {
    const [next] = this.#items;
    if (next === undefined) return undefined;
    const [owner, items] = next;
    const item = items.shift();
    this.#items.delete(owner);
    if (items.length > 0) this.#items.set(owner, items);
    return item;
  }

  /**
   * Removes the last item of the owner with the most, to make room for one of another owner.
   *
   * @returns it; undefined if no owner would still have as many as the other one then has.
   */
  makeRoomFor(owner: Owner): Item | undefined {
    const own = this.#items.get(owner)?.length ?? 0;
    let most: Item[] = [];
    for (const items of this.#items.values()) if (items.length > most.length) most = items;
    return most.length > own + 1 ? most.pop() : undefined;
  }
}

interface QueueOptions {
  /** Tasks that run at a time; one if left out. */
  readonly atOnce?: number;
  /** Tasks that may wait; any number if left out. */
  readonly waiting?: number;
  /** Makes the error for a task that may not wait. */
  readonly refusal?: () => Error;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * A queue of tasks.
 *
 * Invariants: at most `atOnce` tasks run, and at most `waiting` tasks wait. Between two tasks of one
 * owner, every other owner that waits has a task begun. If as many tasks wait as may, a further one
 * takes the place of the last task of the owner with the most, as {@link RoundRobin.makeRoomFor}
 * says.
 */
export class FairQueue<Owner> {
  readonly #atOnce: number;
  readonly #most: number;
  readonly #refusal: () => Error;
  readonly #waiting = new RoundRobin<Owner, Waiting>();
  #count = 0;
  #running = 0;

  constructor({ atOnce = 1, waiting = Number.POSITIVE_INFINITY, refusal }: QueueOptions = {}) {
    this.#atOnce = atOnce;
    this.#most = waiting;
    this.#refusal = refusal ?? (() => new Error('too many tasks wait'));
  }

  /**
   * Runs a task when it is the next one: at once if fewer than `atOnce` run.
   *
   * @returns what the task returns.
   * @throws what the task throws; what `refusal` returns if too many tasks wait.
   */
  async run<T>(owner: Owner, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#placeFor(owner);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #placeFor(owner: Owner): Promise<void> {
    if (this.#count < this.#most) {
      this.#count += 1;
    } else {
      const other = this.#waiting.makeRoomFor(owner);
      if (other === undefined) throw this.#refusal();
      other.refuse(this.#refusal());
    }
    return new Promise((begin, refuse) => this.#waiting.add(owner, { begin, refuse }));
  }

  /** A task that ends hands its place to the next one, so that no new one overtakes it. */
  #next(): void {
    const next = this.#waiting.take();
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#count -= 1;
    next.begin();
  }
}
