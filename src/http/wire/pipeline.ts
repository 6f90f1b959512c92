/** The requests under way, and whether there are to be more. */
export class Pipeline {
  closing = false;
  #active = 0;
  #idle: (() => void) | null = null;
  readonly #limit: number;
  /** Pipelined requests by their connection: each waits until the one before it is answered. */
  readonly #turns = new Map<object, Turns>();

  /** @param limit of the requests on a connection that wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * @returns what to wait for, where the connection has a request under way already. It gives
   *   whether the request is to be carried out: the first beyond the limit is to be refused. `ignore`
   *   for those behind that one, and `end` where they do not cease: whoever goes on then has not
   *   read an answer for long, and every request that is parsed costs the others.
   */
  enter(connection: object): Promise<boolean> | undefined | 'ignore' | 'end' {
    const turns = this.#turns.get(connection);
    if (turns === undefined) {
      this.#active += 1;
      this.#turns.set(connection, { waiting: [], next: 0, full: false, ignored: 0 });
      return undefined;
    }
    if (turns.full) {
      turns.ignored += 1;
      return turns.ignored > this.#limit ? 'end' : 'ignore';
    }
    this.#active += 1;
    const few = turns.waiting.length - turns.next < this.#limit;
    turns.full = !few;
    return new Promise((resolve) => turns.waiting.push(() => resolve(few)));
  }

  leave(connection: object): void {
    this.#active -= 1;
    const turns = this.#turns.get(connection);
    const begin = turns?.waiting[turns.next];
    if (turns === undefined || begin === undefined) this.#turns.delete(connection);
    else {
      turns.next += 1;
      begin();
    }
    if (this.#active === 0) this.#idle?.();
  }

  /** Resolves when no request is under way. */
  idle(): Promise<void> {
    return this.#active === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#idle = resolve;
        });
  }
}

interface Turns {
  readonly waiting: (() => void)[];
  /** Position of the first that still waits. */
  next: number;
  /** Whether one of them is to be refused: it is the last. */
  full: boolean;
  /** Those behind it. */
  ignored: number;
}
