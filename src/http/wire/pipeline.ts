/**
 * Pipelined requests: the requests of one connection are carried out one after the other, because a
 * request must see what the one before it changed (RFC 9112, section 9.3.2).
 *
 * Invariants:
 * 1. Every request that was admitted is completed exactly once, so `active` is the number of requests
 *    that are in progress or wait. A shutdown waits until it is 0.
 * 2. In one turn of the event loop each connection begins at most one request, and all connections
 *    together {@link PIPELINED_A_TURN} more. After {@link PIPELINED_AT_LEAST} of these, none begins
 *    later than {@link PIPELINED_MS} after the first request of the turn. The engine reads all that a client has sent before it turns to
 *    others, so one client that pipelines thousands of requests would delay all others.
 */

/** Requests that begin in one turn in addition to the first of each connection. */
export const PIPELINED_A_TURN = 32;

/** Milliseconds of a turn in which such requests begin: a long list alone takes more. */
export const PIPELINED_MS = 2;

/** Such requests that begin in any case: a client may close its sending side after a few requests. */
const PIPELINED_AT_LEAST = 4;

/** The clock, in milliseconds, and the event loop. Tests use their own. */
export interface Loop {
  now(): number;
  /** Calls `work` after the current turn. */
  afterTurn(work: () => void): void;
}

const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  afterTurn: (work) => void setImmediate(work),
};

/** A request that waits for its turn is served, or rejected if it is the first beyond the limit. */
export type Turn = 'serve' | 'reject';

/** What happens with a request that has just been read. */
export type Admission =
  /** Carry it out now, and complete it. */
  | { readonly kind: 'start' }
  /** Wait for its turn, then carry it out or reject it, and complete it. */
  | { readonly kind: 'wait'; readonly turn: Promise<Turn> }
  /** Drop it: an earlier request is rejected, which ends the connection. Do not complete it. */
  | { readonly kind: 'ignore' }
  /** Drop it and cut the connection: the client keeps on sending. Do not complete it. */
  | { readonly kind: 'disconnect' };

const START: Admission = { kind: 'start' };
const IGNORE: Admission = { kind: 'ignore' };
const DISCONNECT: Admission = { kind: 'disconnect' };

/** The requests of a connection that has one in progress, or began one in this turn. */
interface Queue {
  readonly connection: object;
  readonly waiting: (() => void)[];
  isUnderWay: boolean;
  hasBegunInTurn: boolean;
  /** Whether the last request that waits will be rejected. */
  full: boolean;
  /** Requests that were dropped after that one. */
  ignored: number;
}

export class Pipeline {
  /** Whether the server is shutting down: responses then close their connections. */
  closing = false;
  readonly #limit: number;
  readonly #queues = new Map<object, Queue>();
  readonly #idle: (() => void)[] = [];
  readonly #loop: Loop;
  #active = 0;
  /** The queues that have begun a request in this turn. */
  #ofTurn: Queue[] = [];
  #pipelinedInTurn = 0;
  /** When the first request of this turn began. */
  #turnBegan = 0;

  /** @param limit requests of one connection that may wait. */
  constructor(limit: number, loop: Loop = EVENT_LOOP) {
    this.#limit = limit;
    this.#loop = loop;
  }

  /** Requests that were admitted and are not completed. */
  get active(): number {
    return this.#active;
  }

  admit(connection: object): Admission {
    const queue = this.#queueOf(connection);
    if (!queue.isUnderWay && queue.waiting.length === 0 && this.#mayBegin(queue)) {
      this.#active += 1;
      this.#note(queue);
      return START;
    }
    if (queue.full) {
      // Reading a request costs time even if it is dropped. A client that sends as many again does
      // not read its responses.
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

  /** Ends the request in progress; the next one of its connection begins. */
  complete(connection: object): void {
    const queue = this.#queues.get(connection);
    if (queue?.isUnderWay !== true) throw new Error('a request was completed twice');
    this.#active -= 1;
    queue.isUnderWay = false;
    this.#proceed(queue);
    if (this.#active === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #queueOf(connection: object): Queue {
    const found = this.#queues.get(connection);
    if (found !== undefined) return found;
    const queue: Queue = {
      connection,
      waiting: [],
      isUnderWay: false,
      hasBegunInTurn: false,
      full: false,
      ignored: 0,
    };
    this.#queues.set(connection, queue);
    return queue;
  }

  #mayBegin({ hasBegunInTurn }: Queue): boolean {
    if (!hasBegunInTurn) return true;
    if (this.#pipelinedInTurn < PIPELINED_AT_LEAST) return true;
    if (this.#pipelinedInTurn >= PIPELINED_A_TURN) return false;
    return this.#loop.now() - this.#turnBegan < PIPELINED_MS;
  }

  /** Records that a request of a connection begins. */
  #note(queue: Queue): void {
    queue.isUnderWay = true;
    if (queue.hasBegunInTurn) {
      this.#pipelinedInTurn += 1;
      return;
    }
    queue.hasBegunInTurn = true;
    this.#ofTurn.push(queue);
    if (this.#ofTurn.length > 1) return;
    this.#turnBegan = this.#loop.now();
    this.#loop.afterTurn(() => this.#endTurn());
  }

  #endTurn(): void {
    const queues = this.#ofTurn;
    this.#ofTurn = [];
    this.#pipelinedInTurn = 0;
    for (const queue of queues) queue.hasBegunInTurn = false;
    for (const queue of queues) if (!queue.isUnderWay) this.#proceed(queue);
  }

  /** Begins the next request of a connection with none in progress, now or in the next turn. */
  #proceed(queue: Queue): void {
    if (queue.waiting.length === 0) {
      // A queue that began a request in this turn is kept until the end of the turn.
      if (!queue.hasBegunInTurn) this.#queues.delete(queue.connection);
      queue.full = false;
      queue.ignored = 0;
      return;
    }
    if (!this.#mayBegin(queue)) return;
    this.#note(queue);
    queue.waiting.shift()?.();
  }

  /** Resolves when no request is active. */
  idle(): Promise<void> {
    return this.#active === 0
      ? Promise.resolve()
      : new Promise((resolve) => void this.#idle.push(resolve));
  }
}
