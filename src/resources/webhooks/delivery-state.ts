/** The state of the deliveries of a webhook, which is kept across restarts. */
import * as v from 'valibot';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { Message, Progress } from './message.ts';
import { MAX_DELAY_MS, retryDelay } from './schedule.ts';

/** Deliveries of a webhook that are listed. */
const MAX_LISTED = 100;

/** Characters of an error that are kept. */
const MAX_ERROR = 300;

const instant = v.string();

const delivery = v.object({
  id: v.string(),
  sequence: v.number(),
  changes: v.number(),
  state: v.picklist(['delivered', 'failed', 'skipped']),
  attempts: v.number(),
  first_attempt: instant,
  last_attempt: instant,
  next_attempt: v.nullable(instant),
  status: v.nullable(v.number()),
  error: v.nullable(v.string()),
});

const stateFile = v.object({
  position: v.number(),
  failures: v.number(),
  trying_since: v.nullable(v.number()),
  /** Earlier versions did not write these. */
  last_failure: v.optional(v.nullable(v.number()), null),
  progress: v.optional(
    v.nullable(v.object({ of: v.string(), messages: v.number(), changes: v.number() })),
    null,
  ),
  deliveries: v.array(delivery),
});

/** A delivery as it is listed. */
export type Delivery = Readonly<v.InferOutput<typeof delivery>>;

/** The result of an attempt: an HTTP status, or why there is none. */
export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
}

export class DeliveryState {
  /** The change set up to which everything is delivered. */
  position: number;
  /** How much of the next change set is delivered; null if nothing is. */
  progress: Progress | null = null;
  /** When the next attempt is due, in milliseconds since the epoch; null for now. */
  next: number | null = null;
  #failures = 0;
  /** The time of the first failure in a row, moved forward by times in which nothing was tried. */
  #tryingSince: number | null = null;
  #lastFailure: number | null = null;
  /** The oldest first. */
  #deliveries: Delivery[] = [];

  /** @param position the change set after which deliveries begin. */
  constructor(position: number) {
    this.position = position;
  }

  /** Parses {@link DeliveryState.text}. @returns null if the text is not such a state. */
  static parse(text: string): DeliveryState | null {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return null;
    }
    const { success, output } = v.safeParse(stateFile, json, FIRST_FAULT);
    if (!success) return null;
    const state = new DeliveryState(output.position);
    state.#failures = output.failures;
    state.#tryingSince = output.trying_since;
    state.#lastFailure = output.last_failure;
    state.progress = output.progress;
    state.#deliveries = output.deliveries;
    return state;
  }

  /** Whether the last attempt failed. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Where the deliveries continue. */
  get place(): object {
    return {
      position: this.position,
      failures: this.#failures,
      trying_since: this.#tryingSince,
      last_failure: this.#lastFailure,
      progress: this.progress,
    };
  }

  /** All that is kept. */
  get text(): string {
    return JSON.stringify({ ...this.place, deliveries: this.#deliveries });
  }

  /** The last deliveries, the latest first. */
  get deliveries(): readonly Delivery[] {
    return this.#deliveries.toReversed();
  }

  /** Records a delivery that has arrived. */
  delivered(message: Message, outcome: Outcome, time: number): void {
    this.#endFailures();
    this.progress = message.progress;
    this.#note(message, 'delivered', outcome, time);
  }

  /**
   * Records a failure.
   *
   * @param delay milliseconds to the next attempt, by the number of failures in a row.
   * @returns milliseconds for which all attempts have failed.
   */
  failed(message: Message, outcome: Outcome, time: number, delay = retryDelay): number {
    this.#failures += 1;
    const tried = this.#triedUntil(time);
    this.#tryingSince = time - tried;
    this.#lastFailure = time;
    this.next = time + delay(this.#failures);
    this.#note(message, 'failed', outcome, time);
    return tried;
  }

  /**
   * The time since the last failure counts only up to the longest delay: if more has passed, the
   * server was off, or its clock was set forward. If the clock was set back, no time counts.
   */
  #triedUntil(time: number): number {
    const [first, last] = [this.#tryingSince, this.#lastFailure];
    if (first === null || last === null) return 0;
    return last - first + Math.min(Math.max(time - last, 0), MAX_DELAY_MS);
  }

  /** Records that changes up to `position` cannot be delivered. @returns why. */
  skipped(position: number, time: number): string {
    const first = this.position + 1;
    const error =
      position < first
        ? 'its last delivered change sets are not in this store'
        : `change sets ${first} to ${position} are no longer kept`;
    this.position = position;
    this.progress = null;
    const [at, id] = [new Date(time).toISOString(), `skipped_${first}_${position}`];
    this.#add({
      id,
      sequence: position,
      changes: 0,
      state: 'skipped',
      attempts: 0,
      first_attempt: at,
      last_attempt: at,
      next_attempt: null,
      status: null,
      error,
    });
    return error;
  }

  /** Tries again at once, as if nothing had failed yet. */
  beginAnew(): void {
    this.#endFailures();
  }

  #endFailures(): void {
    this.#failures = 0;
    this.#tryingSince = null;
    this.#lastFailure = null;
    this.next = null;
  }

  #note(
    { id, sequence, changes }: Pick<Message, 'id' | 'sequence' | 'changes'>,
    state: Delivery['state'],
    { status, error }: Outcome,
    time: number,
  ): void {
    const at = new Date(time).toISOString();
    const last = this.#deliveries.at(-1);
    const again = last?.id === id ? last : null;
    if (again !== null) this.#deliveries.pop();
    this.#add({
      id,
      sequence,
      changes,
      state,
      attempts: (again?.attempts ?? 0) + 1,
      first_attempt: again?.first_attempt ?? at,
      last_attempt: at,
      next_attempt: this.next === null ? null : new Date(this.next).toISOString(),
      status,
      error: error?.slice(0, MAX_ERROR).toWellFormed() ?? null,
    });
  }

  #add(added: Delivery): void {
    this.#deliveries.push(added);
    if (this.#deliveries.length > MAX_LISTED) this.#deliveries.shift();
  }
}
