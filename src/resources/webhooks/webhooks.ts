/** The webhooks of a server (spec 14.5): how one is created, and the dispatchers that deliver. */
import { KINDS } from '../../model/kinds.ts';
import { soughtByWrite } from '../../model/relations.ts';
import type { InputOf } from '../../model/rows.ts';
import { inSlices } from '../../slices.ts';
import type { AuditedStore } from '../audit/audited-store.ts';
import type { ChangeSource } from '../changes/change-source.ts';
import { changesAfter, type ReadOlder } from '../changes/older-changes.ts';
import { type Created, createOnce, type Creation, type Sender } from '../idempotency.ts';
import { parseInput } from '../input.ts';
import { representInParts } from '../represent.ts';
import { Dispatcher, type DispatchContext } from './dispatcher.ts';
import { type Delivery, DeliveryState } from './delivery-state.ts';
import { requireRoomForWebhooks } from './limit.ts';
import type { Webhook } from './ports.ts';
import { SharedChanges } from './shared-changes.ts';

const KIND = KINDS.webhooks;

/** Numbers for the metrics. */
export interface WebhookFigures {
  /** Attempts that succeeded, and that failed, since the start. */
  readonly delivered: number;
  readonly failed: number;
  /** Active webhooks whose last delivery failed. */
  readonly failing: number;
  /** Change sets that the slowest of the active webhooks still has to deliver. */
  readonly lag: number;
}

export interface WebhooksOptions
  extends Omit<DispatchContext, 'store' | 'mark' | 'onAttempt' | 'now' | 'source' | 'changes'> {
  readonly audited: AuditedStore;
  readonly source: ChangeSource;
  /** Reads change sets that this host does not keep; without it they are skipped. */
  readonly readOlder?: ReadOlder | undefined;
  /** Milliseconds since the epoch; the machine's clock by default. */
  readonly now?: (() => number) | undefined;
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #context: DispatchContext;
  readonly #dispatchers = new Map<number, Dispatcher>();
  #removals: Promise<void> = Promise.resolve();
  #delivered = 0;
  #failed = 0;
  #delivers = false;

  constructor(options: WebhooksOptions) {
    const { audited, source, readOlder, now = Date.now } = options;
    const { store } = audited;
    this.#options = options;
    const readAfter: ChangeSource['after'] = (sequence, last) =>
      readOlder === undefined
        ? source.after(sequence, last)
        : changesAfter(source, readOlder, sequence, last);
    this.#context = {
      ...options,
      changes: new SharedChanges(source, readAfter),
      now,
      store,
      mark: (webhook, change) => this.#mark(webhook, change),
      onAttempt: (delivered) => {
        if (delivered) this.#delivered += 1;
        else this.#failed += 1;
      },
    };
    store.onCommit(({ changeSet, changes }) => {
      const { put, delete: deleted } = changeSet;
      if (put.webhooks === undefined && deleted.webhooks === undefined) return;
      for (const { kind, id, before, after } of changes) {
        if (kind === 'webhooks') this.#follow(id, before, after);
      }
    });
  }

  /** Resumes the deliveries where an earlier process, or another host, has stopped. */
  async start(): Promise<void> {
    const { storage, audited } = this.#options;
    const { store } = audited;
    this.#delivers = true;
    // In one turn: a webhook that is changed before it has a dispatcher would count as a new one.
    for (const id of store.ids('webhooks')) {
      const webhook = store.get('webhooks', id);
      if (webhook !== undefined) this.#dispatcherFor(webhook, this.#stateOf(webhook)).start();
    }
    for (const id of storage.ids()) {
      if (store.get('webhooks', id) === undefined) this.#remove(id, undefined);
    }
    await this.#removals;
  }

  /**
   * Creates a webhook. Changes that are committed after it are delivered.
   *
   * @param body parsed JSON.
   * @returns the response, with the secret of the webhook in its text.
   * @throws CatalogError `invalid`, `too_many_webhooks`, `key_reused`, `key_file`, `write_refused`.
   */
  async create(body: unknown, sender: Sender): Promise<Creation> {
    const { audited, secrets } = this.#options;
    audited.requireRoom();
    const input = await inSlices(parseInput(KIND, body, 'whole'));
    // Checked by the schemas of the kind.
    const values = input.values as InputOf<'webhooks'>;
    const request = [KIND.name, null, body];
    const key = await secrets.id();
    await audited.store.prepareIndexes(soughtByWrite(KIND.name));
    const creation = await audited.transact(sender.subject, false, (transaction, now) =>
      createOnce(transaction, sender, request, now, function* () {
        requireRoomForWebhooks(transaction, 1);
        const row: Webhook = {
          id: transaction.nextId('webhooks'),
          ...values,
          created: new Date(now).toISOString(),
          failing_since: null,
          origin: transaction.sequence,
          key,
        };
        transaction.put('webhooks', row);
        const { text, etag } = yield* representInParts(KIND, row, transaction);
        return { id: row.id, text, etag };
      }),
    );
    return { ...creation, text: this.#withSecret(creation, key) };
  }

  /**
   * The last deliveries of a webhook, the latest first; empty while the webhook is being created.
   *
   * @throws CatalogError `log_unavailable` if another host delivers, and its state cannot be read.
   */
  async deliveriesOf(id: number): Promise<readonly Delivery[]> {
    const deliveries = await this.#notedOf(id);
    const isActive = this.#options.audited.store.get('webhooks', id)?.active === true;
    // Only the latest one is retried. Earlier ones that failed were for other resources.
    return deliveries.map((delivery, index) =>
      index === 0 && isActive ? delivery : { ...delivery, next_attempt: null },
    );
  }

  async #notedOf(id: number): Promise<readonly Delivery[]> {
    const dispatcher = this.#dispatchers.get(id);
    if (dispatcher !== undefined) return dispatcher.state.deliveries;
    const text = await this.#options.storage.latest(id);
    return (text === null ? null : DeliveryState.parse(text))?.deliveries ?? [];
  }

  get figures(): WebhookFigures {
    const { source, audited } = this.#options;
    let [failing, lag] = [0, 0];
    for (const [id, { state }] of this.#dispatchers) {
      const webhook = audited.store.get('webhooks', id);
      if (webhook?.active !== true) continue;
      if (webhook.failing_since !== null) failing += 1;
      lag = Math.max(lag, source.sequence - state.position);
    }
    return { delivered: this.#delivered, failed: this.#failed, failing, lag };
  }

  /** Ends the deliveries, until {@link start}. @param grace milliseconds for requests under way. */
  async stop(grace: number): Promise<void> {
    this.#delivers = false;
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.stop(grace)));
    await this.#removals;
    this.#dispatchers.clear();
  }

  /**
   * Adds the secret, which is not stored, to the object of a new webhook.
   *
   * @param key of the webhook, unless an earlier request with another key has created it.
   */
  #withSecret({ text }: Created, key: string): string {
    const { audited, secrets } = this.#options;
    const object = JSON.parse(text) as Webhook;
    const created = audited.store.get('webhooks', object.id);
    const secret = secrets.secretOf({ ...object, key: created?.key ?? key });
    return JSON.stringify({ ...object, secret });
  }

  #follow(id: number, before: Webhook | null, after: Webhook | null): void {
    if (!this.#delivers) return;
    const dispatcher = this.#dispatchers.get(id);
    if (after === null) {
      this.#dispatchers.delete(id);
      this.#remove(id, dispatcher);
      return;
    }
    if (dispatcher === undefined) {
      // A webhook whose deletion was undone begins at its creation, or at the oldest change set.
      const added = this.#dispatcherFor(after, new DeliveryState(after.origin));
      // It is registered now, but begins only after the state of the deleted one was removed.
      this.#removals = this.#removals.then(() => added.start());
      return;
    }
    const activated = after.active && before?.active === false;
    if (after.url !== before?.url) dispatcher.redirected();
    else if (activated || after.resources !== before.resources) dispatcher.changed(true);
    else if (after.active !== before.active) dispatcher.changed(false);
  }

  #dispatcherFor({ id }: Webhook, state: DeliveryState): Dispatcher {
    const dispatcher = new Dispatcher(this.#context, id, state);
    this.#dispatchers.set(id, dispatcher);
    return dispatcher;
  }

  #remove(id: number, dispatcher: Dispatcher | undefined): void {
    const { storage, onError } = this.#options;
    this.#removals = this.#removals.then(async () => {
      await dispatcher?.stop(0);
      await storage.forget(id).catch(onError);
    });
  }

  /** The state of an earlier process. If it is lost, deliveries begin again and none is missed. */
  #stateOf({ id, origin }: Webhook): DeliveryState {
    const { storage, warn } = this.#options;
    const text = storage.load(id);
    const state = text === null ? null : DeliveryState.parse(text);
    if (text !== null && state === null) {
      warn(
        `the position of webhook ${id} cannot be read, because ${storage.nameOf(id)} is damaged; its deliveries start again from its creation`,
      );
    }
    return state ?? new DeliveryState(origin);
  }

  async #mark({ id, url }: Webhook, change: Partial<Webhook>): Promise<void> {
    const { store } = this.#options.audited;
    await store.transact((transaction) => {
      const row = transaction.get('webhooks', id);
      if (row?.url === url) transaction.put('webhooks', { ...row, ...change });
    });
  }
}
