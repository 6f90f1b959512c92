/**
 * The order in which requests begin. The requests of one connection are carried out one after the
 * other, because a request must see what the one before it changed (RFC 9112, section 9.3.2).
 *
 * Invariants:
 * 1. Every request that was admitted is completed exactly once, so `active` is the number of requests
 *    that are in progress or wait. A shutdown waits until it is 0.
 * 2. In one turn of the event loop each connection begins at most one request, and all connections
 *    together {@link PIPELINED_A_TURN} more. After {@link PIPELINED_AT_LEAST} of these, none begins
 *    later than {@link PIPELINED_MS} after the first request of the turn. The engine reads all that a
 *    client has sent before it turns to others, so one client that pipelines thousands of requests
 *    would delay all others.
 * 3. In one turn the first requests of connections begin until they have taken {@link ARRIVALS_MS},
 *    which each of them prolongs by {@link USUAL_MS}, and those that were deferred to it within
 *    {@link DEFERRED_MS}, at least one. Otherwise long lists that hundreds of connections request
 *    at the same time would all be made in one turn.
 * 4. Deferred requests do not delay those that arrive later, and the clients of deferred requests
 *    take turns, so no client delays others by using many connections.
 * 5. While twice as many requests wait on all connections as may wait on one, only
 *    {@link WAITING_BEYOND} may wait on each. Reading a request takes time even if it is dropped, so
 *    otherwise hundreds of clients that pipeline as many as they may would delay all others.
 */
import { RoundRobin } from '../../fair-queue.ts';

/** Requests that begin in one turn in addition to the first of each connection. */
export const PIPELINED_A_TURN = 32;

/** Milliseconds of a turn in which such requests begin: a long list alone takes more. */
export const PIPELINED_MS = 2;

/** Such requests that begin in any case: a client may close its sending side after a few requests. */
const PIPELINED_AT_LEAST = 4;

/** Milliseconds of a turn that the first requests of connections may take before others wait. */
export const ARRIVALS_MS = 10;

/** By how many milliseconds each of them prolongs that: twice what a GET of an item takes. */
export const USUAL_MS = 0.05;

/**
 * Milliseconds that one of them counts for, at most, so that one alone never makes others wait: the
 * system may have stopped the process meanwhile.
 */
export const COUNTED_MS = 6;

/** Milliseconds of a turn in which requests begin that were deferred to it. */
export const DEFERRED_MS = 10;

/** Requests that may wait on a connection while many wait on all connections. */
export const WAITING_BEYOND = 4;

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
export type Handling = 'serve' | 'reject';

/** What happens with a request that has just been read. */
export type Admission =
  /** Carry it out now, and complete it. */
  | { readonly kind: 'start' }
  /**
   * Wait for its turn, then carry it out or reject it, and complete it. `isDeferred` if it is the
   * first request of its connection, and waits only because of those of other connections.
   */
  | { readonly kind: 'wait'; readonly handling: Promise<Handling>; readonly isDeferred: boolean }
  /** Drop it: an earlier request is rejected, which ends the connection. Do not complete it. */
  | { readonly kind: 'ignore' }
  /** Drop it and cut the connection: the client keeps on sending. Do not complete it. */
  | { readonly kind: 'disconnect' };

const START: Admission = { kind: 'start' };
const IGNORE: Admission = { kind: 'ignore' };
const DISCONNECT: Admission = { kind: 'disconnect' };

/** Instead of a time: no first request of a connection has arrived in this turn. */
const NO_ARRIVAL = -1;

/** A request that waits. */
interface Waiting<Request> {
  readonly request: Request;
  readonly begin: () => void;
}

/** The requests of a connection. */
interface Queue<Request> {
  readonly waiting: Waiting<Request>[];
  isUnderWay: boolean;
  hasBegunInTurn: boolean;
  /** Whether a request is rejected, or will be: the last one of the connection. */
  full: boolean;
  /** Requests that were dropped after that one. */
  ignored: number;
}

export interface PipelineOptions<Request> {
  /** Requests of one connection that may wait. */
  readonly limit: number;
  /** The client that sent a request. It is called only for requests that are deferred. */
  readonly clientOf: (request: Request) => string;
  /** Called in each turn after deferred requests have begun. */
  readonly onDeferredBegun: () => void;
  readonly loop?: Loop;
}

export class Pipeline<Request> {
  /** Whether the server is shutting down: responses then close their connections. */
  closing = false;
  readonly #limit: number;
  readonly #clientOf: (request: Request) => string;
  readonly #onDeferredBegun: () => void;
  /** By connection. */
  readonly #queues = new WeakMap<object, Queue<Request>>();
  readonly #idle: (() => void)[] = [];
  readonly #loop: Loop;
  #active = 0;
  /** Requests that wait on all connections. */
  #waiting = 0;
  /** The queues that have begun a request in this turn. */
  #ofTurn: Queue<Request>[] = [];
  #pipelinedInTurn = 0;
  /** When the first request of this turn began. */
  #turnBegan = 0;
  /** When the latest first request of a connection arrived. */
  #latestArrival = 0;
  /** The time that those of this turn count for together, but for the latest one. */
  #counted = NO_ARRIVAL;
  /** By client: queues whose first request waits for a later turn, with none in progress. */
  readonly #deferred = new RoundRobin<string, Queue<Request>>();

  constructor({ limit, clientOf, onDeferredBegun, loop = EVENT_LOOP }: PipelineOptions<Request>) {
    this.#limit = limit;
    this.#clientOf = clientOf;
    this.#onDeferredBegun = onDeferredBegun;
    this.#loop = loop;
  }

  /** Requests that were admitted and are not completed. */
  get active(): number {
    return this.#active;
  }

  /** @param now on the clock of the loop. */
  admit(connection: object, request: Request, now: number): Admission {
    const queue = this.#queueOf(connection);
    const limit = this.#limitOfOne;
    if (queue.full) {
      // A client that sends as many again does not read its responses.
      queue.ignored += 1;
      return queue.ignored > limit ? DISCONNECT : IGNORE;
    }
    const isFirst = !queue.isUnderWay && queue.waiting.length === 0;
    if (isFirst && this.#mayBegin(queue, now)) {
      this.#active += 1;
      this.#note(queue, now);
      return START;
    }
    this.#active += 1;
    queue.full = queue.waiting.length >= limit;
    const { promise: handling, resolve } = Promise.withResolvers<Handling>();
    const whenBegun = queue.full ? 'reject' : 'serve';
    queue.waiting.push({ request, begin: () => resolve(whenBegun) });
    this.#waiting += 1;
    // A queue that has begun a request in this turn is deferred at the end of the turn.
    const isDeferred = isFirst && !queue.hasBegunInTurn;
    if (isDeferred) this.#defer(queue);
    return { kind: 'wait', handling, isDeferred };
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

  /** Requests that may wait on a connection now. */
  get #limitOfOne(): number {
    return this.#waiting < 2 * this.#limit ? this.#limit : Math.min(this.#limit, WAITING_BEYOND);
  }

  #queueOf(connection: object): Queue<Request> {
    const found = this.#queues.get(connection);
    if (found !== undefined) return found;
    const queue: Queue<Request> = {
      waiting: [],
      isUnderWay: false,
      hasBegunInTurn: false,
      full: false,
      ignored: 0,
    };
    this.#queues.set(connection, queue);
    return queue;
  }

  #mayBegin({ hasBegunInTurn }: Queue<Request>, now: number): boolean {
    if (!hasBegunInTurn) return this.#hasTimeForArrival(now);
    if (this.#pipelinedInTurn < PIPELINED_AT_LEAST) return true;
    if (this.#pipelinedInTurn >= PIPELINED_A_TURN) return false;
    return now - this.#turnBegan < PIPELINED_MS;
  }

  #hasTimeForArrival(now: number): boolean {
    if (this.#counted < 0) this.#counted = 0;
    else this.#counted += Math.min(now - this.#latestArrival, COUNTED_MS);
    this.#latestArrival = now;
    // Usual requests are not deferred, however many there are: to defer a request costs time.
    return this.#counted < ARRIVALS_MS + this.#ofTurn.length * USUAL_MS;
  }

  /** Records that a request of a connection begins. */
  #note(queue: Queue<Request>, now: number): void {
    queue.isUnderWay = true;
    if (queue.hasBegunInTurn) {
      this.#pipelinedInTurn += 1;
      return;
    }
    queue.hasBegunInTurn = true;
    this.#ofTurn.push(queue);
    if (this.#ofTurn.length > 1) return;
    this.#turnBegan = now;
    this.#loop.afterTurn(() => this.#endTurn());
  }

  /** Ends the turn, and begins deferred requests in the next one. */
  #endTurn(): void {
    const queues = this.#ofTurn;
    this.#ofTurn = [];
    this.#pipelinedInTurn = 0;
    this.#counted = NO_ARRIVAL;
    for (const queue of queues) queue.hasBegunInTurn = false;
    for (const queue of queues) if (!queue.isUnderWay) this.#defer(queue);
    if (!this.#deferred.isEmpty) void this.#beginDeferred();
  }

  /**
   * Defers the first request that waits, if one does. At least one request of the turn has begun, so
   * the end of the turn is scheduled.
   */
  #defer(queue: Queue<Request>): void {
    const [first] = queue.waiting;
    if (first !== undefined) this.#deferred.add(this.#clientOf(first.request), queue);
  }

  async #beginDeferred(): Promise<void> {
    const begun = this.#loop.now();
    for (let now = begun; now - begun < DEFERRED_MS; now = this.#loop.now()) {
      const queue = this.#deferred.take();
      if (queue === undefined) break;
      this.#note(queue, now);
      this.#beginNext(queue);
      // The request is carried out meanwhile, as far as it does not wait.
      await Promise.resolve();
    }
    this.#onDeferredBegun();
  }

  /** Begins the next request of a connection with none in progress, now or in a later turn. */
  #proceed(queue: Queue<Request>): void {
    if (queue.waiting.length === 0) return;
    if (!queue.hasBegunInTurn && this.#ofTurn.length > 0) {
      // A commit completes many requests in one turn. Those that begin after them have not run yet,
      // so nothing is known about their time.
      this.#defer(queue);
      return;
    }
    const now = this.#loop.now();
    if (!this.#mayBegin(queue, now)) return;
    this.#note(queue, now);
    this.#beginNext(queue);
  }

  #beginNext({ waiting }: Queue<Request>): void {
    const next = waiting.shift();
    if (next === undefined) return;
    this.#waiting -= 1;
    next.begin();
  }

  /** Resolves when no request is active. */
  idle(): Promise<void> {
    return this.#active === 0
      ? Promise.resolve()
      : new Promise((resolve) => void this.#idle.push(resolve));
  }
}
