/**
 * Pipelined requests: those of one connection are carried out one after the other, because a request
 * must see what the one before it changed (RFC 9112, section 9.3.2).
 *
 * Invariant: every request that was admitted is completed exactly once, so `active` is the number of
 * requests that are carried out or wait. A shutdown waits until it is 0.
 */

/** What waits for its turn is served, or rejected if it is the first beyond the limit. */
export type Turn = 'serve' | 'reject';

/** What happens with a request that has just been read. */
export type Admission =
  /** Carry it out now, and complete it. */
  | { readonly kind: 'start' }
  /** Wait for the turn, then carry it out or reject it, and complete it. */
  | { readonly kind: 'wait'; readonly turn: Promise<Turn> }
  /** Drop it: a request before it is rejected, which ends the connection. It is not completed. */
  | { readonly kind: 'ignore' }
  /** Drop it and cut the connection: the client keeps on sending. It is not completed. */
  | { readonly kind: 'disconnect' };

const START: Admission = { kind: 'start' };
const IGNORE: Admission = { kind: 'ignore' };
const DISCONNECT: Admission = { kind: 'disconnect' };

/** The requests of a connection that has one under way. */
interface Queue {
  readonly waiting: (() => void)[];
  /** Whether the last one that waits is to be rejected. */
  full: boolean;
  /** Requests after that one. */
  ignored: number;
}

export class Pipeline {
  /** Whether the server is shutting down: responses then close their connections. */
  closing = false;
  readonly #limit: number;
  readonly #queues = new Map<object, Queue>();
  readonly #idle: (() => void)[] = [];
  #active = 0;

  /** @param limit requests of one connection that may wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Requests that were admitted and are not completed. */
  get active(): number {
    return this.#active;
  }

  admit(connection: object): Admission {
    const queue = this.#queues.get(connection);
    if (queue === undefined) {
      this.#active += 1;
      this.#queues.set(connection, { waiting: [], full: false, ignored: 0 });
      return START;
    }
    if (queue.full) {
      // Reading a request costs time even if it is dropped: a client that sends as many again
      // does not read responses.
      queue.ignored += 1;
      return queue.ignored > this.#limit ? DISCONNECT : IGNORE;
    }
    this.#active += 1;
    queue.full = queue.waiting.length >= this.#limit;
    const turn = queue.full ? 'reject' : 'serve';
    return {
      kind: 'wait',
      turn: new Promise((resolve) => queue.waiting.push(() => resolve(turn))),
    };
  }

  /** The request that was under way is done: the next one of its connection begins. */
  complete(connection: object): void {
    const queue = this.#queues.get(connection);
    if (queue === undefined) throw new Error('a request was completed twice');
    this.#active -= 1;
    const begin = queue.waiting.shift();
    if (begin === undefined) this.#queues.delete(connection);
    else begin();
    if (this.#active === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves when no request is active. */
  idle(): Promise<void> {
    return this.#active === 0
      ? Promise.resolve()
      : new Promise((resolve) => void this.#idle.push(resolve));
  }
}
