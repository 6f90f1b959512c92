/**
 * The deliveries of one webhook (spec 14.6, 14.7).
 *
 * Invariants:
 * 1. Messages are delivered in the order of their change sets, one at a time. A failed message is
 *    retried, and the later ones wait.
 * 2. The saved position, and the progress within the next change set, never pass a message that was
 *    not delivered. So after a crash some may be delivered again, but none is lost.
 * 3. While the dispatcher waits for the receiver, it holds one message, and no change set that is
 *    over 64 KiB: all dispatchers share the texts of these (shared-changes.ts). While it waits for
 *    something else, it holds none.
 */
import { pause } from '../../delay.ts';
import { hasCode, messageOf } from '../../errors.ts';
import { inSlices } from '../../slices.ts';
import type { Store } from '../../store/store.ts';
import type { ChangeSource } from '../changes/change-source.ts';
import type { DeliveryState, Outcome } from './delivery-state.ts';
import { type Message, messagesOf, signedHeaders } from './message.ts';
import type { DeliveryStorage, Secrets, Send, Webhook } from './ports.ts';
import { GIVE_UP_MS, MAX_DELAY_MS } from './schedule.ts';
import type { SharedChanges } from './shared-changes.ts';

/** Milliseconds between two writes of the state while deliveries succeed. */
const SAVE_INTERVAL_MS = 1000;

/** Milliseconds until it checks again whether this host delivers. */
const OFF_DUTY_DELAY_MS = 1000;

/** Milliseconds until it tries again if the history cannot be read. */
const UNREADABLE_DELAY_MS = 60_000;

/** HTTP 410: the receiver wants no more deliveries. */
const GONE = 410;

/** What all webhooks share. */
export interface DispatchContext {
  readonly store: Pick<Store, 'get' | 'oldest'>;
  readonly source: Pick<ChangeSource, 'sequence' | 'arrivals'>;
  readonly changes: Pick<SharedChanges, 'of'>;
  readonly secrets: Secrets;
  readonly storage: DeliveryStorage;
  readonly send: Send;
  /** Whether this host delivers; called before each attempt. */
  readonly isOnDuty: () => boolean;
  /** Milliseconds to the next attempt, by the number of failures in a row. */
  readonly retryDelay?: ((failures: number) => number) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Commits a change of a webhook, if it still exists and has the same address. */
  readonly mark: (webhook: Webhook, change: Partial<Webhook>) => Promise<void>;
  /** Reports what an operator should see. */
  readonly warn: (message: string) => void;
  readonly onError: (error: unknown) => void;
  readonly onAttempt: (delivered: boolean) => void;
}

export class Dispatcher {
  readonly #context: DispatchContext;
  readonly #id: number;
  readonly state: DeliveryState;
  /** Aborts the request under way. */
  #request = new AbortController();
  #wake = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #saving: Promise<void> = Promise.resolve();
  /** Whether the last write of the state failed, which is reported once. */
  #isUnsaved = false;
  #stopping = false;
  /**
   * Whether the last attempt failed, which is logged once; null before the first attempt since the
   * start, or since the webhook was deactivated: then the reason may have become another one.
   */
  #reported: boolean | null = null;

  constructor(context: DispatchContext, id: number, state: DeliveryState) {
    this.#context = context;
    this.#id = id;
    this.state = state;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Call this after the webhook was changed. @param anew whether to try again at once. */
  changed(anew: boolean): void {
    if (anew) this.state.beginAnew();
    this.#wake.abort();
  }

  /** Call this after its address was changed. A response of the former address is ignored. */
  redirected(): void {
    this.changed(true);
    this.#request.abort();
  }

  /**
   * Ends the deliveries.
   *
   * @param grace milliseconds for the request under way.
   */
  async stop(grace: number): Promise<void> {
    this.#stopping = true;
    this.#wake.abort();
    const timer = setTimeout(() => this.#request.abort(), grace);
    await this.#ended;
    clearTimeout(timer);
    await this.#saving;
    if (this.#timer !== null || this.#isUnsaved) this.#save();
    await this.#saving;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (!this.#stopping) {
      const wake = this.#listen();
      const webhook = this.#webhook;
      if (webhook === undefined) return;
      try {
        if (!this.#context.isOnDuty()) await pause(OFF_DUTY_DELAY_MS, wake);
        else if (webhook.active) await this.#advance(webhook, wake);
        else await pause(Number.POSITIVE_INFINITY, wake);
      } catch (error) {
        if (hasCode(error, 'history_gone')) this.#skip(webhook);
        else if (error !== wake.reason) {
          this.#context.onError(error);
          await pause(UNREADABLE_DELAY_MS, wake);
        }
      }
    }
  }

  /** @returns the signal that ends waits from now on. */
  #listen(): AbortSignal {
    if (this.#wake.signal.aborted && !this.#stopping) this.#wake = new AbortController();
    return this.#wake.signal;
  }

  /** Delivers until a delivery fails, or waits until there is something to deliver. */
  async #advance(webhook: Webhook, wake: AbortSignal): Promise<void> {
    const { source, now } = this.#context;
    const { state } = this;
    const rest = (state.next ?? 0) - now();
    // If the rest is longer, the clock was set back.
    if (rest > 0 && rest <= MAX_DELAY_MS) return pause(rest, wake);
    const last = source.sequence;
    // In a copy of the data directory, this state may be newer than the store.
    if (state.position > last) return this.#skip(webhook);
    if (state.position === last) {
      await source.arrivals.past(last, undefined, wake);
      // The source is closed before this dispatcher is stopped.
      if (source.arrivals.closed) await pause(Number.POSITIVE_INFINITY, wake);
      return;
    }
    while (state.position < last) {
      const sequence = state.position + 1;
      if (wake.aborted || !(await this.#deliver(webhook, sequence, wake))) return;
      state.position = sequence;
      state.progress = null;
      this.#saveSoon();
    }
  }

  /** @returns whether everything about the change set is delivered. */
  async #deliver(webhook: Webhook, sequence: number, wake: AbortSignal): Promise<boolean> {
    const messages = () =>
      messagesOf(webhook, this.#context.changes.of(sequence, wake), this.state.progress);
    if (this.state.isFailing) {
      // Read alone, so that others do not wait for a text that a receiver which is down would hold.
      const message = await firstOf(messages());
      if (message === null) return true;
      if (wake.aborted || !(await this.#attempt(webhook, message))) return false;
    }
    for await (const message of messages()) {
      if (wake.aborted || !(await this.#attempt(webhook, message))) return false;
    }
    return true;
  }

  /** @returns whether the receiver has taken the message. */
  async #attempt(webhook: Webhook, message: Message): Promise<boolean> {
    const { onAttempt, now, isOnDuty, warn } = this.#context;
    if (!isOnDuty()) return false;
    const outcome = await this.#send(webhook, message);
    if (outcome === null) return false;
    const { status } = outcome;
    const delivered = status !== null && status >= 200 && status <= 299;
    onAttempt(delivered);
    if (delivered) {
      this.state.delivered(message, outcome, now());
      const isFailing = this.#failingSince() !== null;
      // An earlier process may have logged the failure.
      if (this.#reported ?? isFailing) warn(`deliveries to webhook ${this.#id} succeed again`);
      this.#reported = false;
      if (isFailing) await this.#mark(webhook, { failing_since: null });
      this.#saveSoon();
      return true;
    }
    // A host that was frozen finds its request too late. It says nothing about the receiver, to which
    // another host delivers by now.
    if (isOnDuty()) await this.#fail(webhook, message, outcome);
    return false;
  }

  /** @returns null if the dispatcher stops, or the address has changed meanwhile. */
  async #send(webhook: Webhook, message: Message): Promise<Outcome | null> {
    const { secrets, send, now } = this.#context;
    this.#request = new AbortController();
    const { signal } = this.#request;
    try {
      const secret = secrets.secretOf(webhook);
      const headers = await inSlices(signedHeaders(message, secret, now()));
      if (signal.aborted) return null;
      const status = await send({ url: webhook.url, headers, body: message.body, signal });
      if (this.#webhook?.url !== webhook.url) return null;
      const isRedirect = status >= 300 && status <= 399;
      return { status, error: isRedirect ? 'redirects are not followed' : null };
    } catch (error) {
      return signal.aborted ? null : { status: null, error: messageOf(error) };
    }
  }

  async #fail(webhook: Webhook, message: Message, outcome: Outcome): Promise<void> {
    const { warn, now, retryDelay } = this.#context;
    const time = now();
    const tried = this.state.failed(message, outcome, time, retryDelay);
    const why = outcome.error ?? `the response was ${outcome.status}`;
    const failing = this.#failingSince();
    const since = failing ?? new Date(time).toISOString();
    const isOver = outcome.status === GONE || tried >= GIVE_UP_MS;
    // If the disk refuses this, the webhook stays active, and the next attempt keeps its delay.
    if (isOver && (await this.#mark(webhook, { active: false, failing_since: since }))) {
      warn(`webhook ${this.#id} is deactivated: ${why}`);
      this.#reported = null;
    } else {
      if (!this.#reported) {
        warn(`a delivery to webhook ${this.#id} failed and is tried again: ${why}`);
      }
      if (failing === null && !isOver) await this.#mark(webhook, { failing_since: since });
      this.#reported = true;
    }
    this.#save();
  }

  /** If the next changes are not kept any more: continues with the oldest since its creation. */
  #skip({ origin }: Webhook): void {
    const { store, source, now, warn } = this.#context;
    // The origin of a row that was copied from another store may be beyond the end of this one.
    const after = Math.min(Math.max(store.oldest, origin), source.sequence);
    const why = this.state.skipped(after, now());
    warn(`webhook ${this.#id} continues after change set ${after}: ${why}`);
    this.#save();
  }

  #failingSince(): string | null {
    return this.#webhook?.failing_since ?? null;
  }

  /** As it is stored now; undefined once it is deleted. */
  get #webhook(): Webhook | undefined {
    return this.#context.store.get('webhooks', this.#id);
  }

  /** If the disk refuses the write, deliveries continue. @returns whether it was written. */
  async #mark(webhook: Webhook, change: Partial<Webhook>): Promise<boolean> {
    try {
      await this.#context.mark(webhook, change);
      return true;
    } catch (error) {
      this.#context.onError(error);
      return false;
    }
  }

  #saveSoon(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_INTERVAL_MS);
  }

  #save(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const { storage, onError } = this.#context;
    const saved = () => void (this.#isUnsaved = false);
    const failed = (error: unknown) => {
      if (!this.#isUnsaved) onError(error);
      this.#isUnsaved = true;
    };
    this.#saving = this.#saving.then(() => storage.save(this.#id, this.state)).then(saved, failed);
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | null> {
  for await (const item of items) return item;
  return null;
}
