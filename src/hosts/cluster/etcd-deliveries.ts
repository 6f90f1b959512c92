/**
 * The progress of the deliveries to webhooks, in etcd, so that another host can take them over:
 *
 *     deliveries/places       JSON: where the deliveries of each webhook continue, by its id
 *     deliveries/states/17    JSON: the same and the last deliveries of webhook 17; may be stale
 *
 * Invariants:
 * 1. Every write except {@link EtcdDeliveries.offer} is fenced by the term of the writer
 *    (registry.ts): a host that has lost that role without knowing it changes nothing.
 * 2. While deliveries succeed, all places are written together once a second, with at most one
 *    state; each state is written at most once a minute. With 100 webhooks that is below 150 KB/s.
 * 3. A stored place is never after a change set that was not delivered.
 */
import { repeat } from '../../delay.ts';
import * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import type { DeliveryStorage, LiveState } from '../../resources/webhooks/ports.ts';
import type { EtcdClient } from './etcd-client.ts';
import { type RequestOp, transact } from './etcd-keys.ts';
import { WRITER } from './registry.ts';

const PLACES = 'deliveries/places';
const [STATES, STATES_END] = ['deliveries/states/', 'deliveries/states0'];

/** Milliseconds between two writes. */
const WRITE_MS = 1000;

/** Milliseconds between two writes of the state of one webhook. */
const STATE_MS = 60_000;

/** Milliseconds to write the remaining states when the deliveries of this host end. */
const CLOSE_MS = 2000;

/** States that one request reads; each has up to 130 KB. */
const READ_LIMIT = 8;

interface Options {
  readonly client: EtcdClient;
  /** Called with the first of several failures in a row. Failed writes are retried. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

const placesShape = v.record(
  v.pipe(v.string(), v.regex(/^\d{1,15}$/)),
  v.record(v.string(), v.unknown()),
);

export class EtcdDeliveries implements DeliveryStorage {
  readonly #options: Options;
  readonly #now: () => number;
  /** Null while this host does not deliver. */
  #term: string | null = null;
  #places = new Map<number, object>();
  /** The states that etcd had at {@link open}. */
  #states = new Map<number, string>();
  /** The webhooks whose place, and whose state, is to be written. */
  readonly #newPlaces = new Map<number, LiveState>();
  readonly #newStates = new Map<number, LiveState>();
  /** When the state of each webhook was written, by the clock. */
  readonly #written = new Map<number, number>();
  #isChanged = false;
  #isFailing = false;
  #closing = new AbortController();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
  }

  /**
   * Copies the states of this host to etcd, unless there are places already: only the first host of
   * a cluster does so.
   *
   * @throws CatalogError `log_unavailable`.
   */
  async offer(own: Pick<DeliveryStorage, 'ids' | 'load'>): Promise<void> {
    const { client } = this.#options;
    const { found } = await transact(client, [], [{ get: PLACES }]);
    if (found[0]?.[0] !== undefined) return;
    const absent = [{ key: PLACES, revision: '0' }];
    for (const id of own.ids()) {
      const value = own.load(id);
      if (value !== null) await transact(client, absent, [{ put: stateKey(id), value }]);
    }
    // Last, because the places mark the states as complete.
    await transact(client, absent, [{ put: PLACES, value: '{}' }]);
  }

  /**
   * Reads where the deliveries continue. From now on this host writes their progress.
   *
   * @param term see `Registry.term` (registry.ts).
   * @throws CatalogError `log_unavailable`, `store_damaged`.
   */
  async open(term: string): Promise<void> {
    const { client } = this.#options;
    const states = new Map<number, string>();
    for (let from = STATES; ; ) {
      const range = { get: from, end: STATES_END, limit: READ_LIMIT };
      const [kvs = []] = (await transact(client, [], [range])).found;
      for (const { key, value } of kvs) states.set(idOf(key), value.toString());
      const last = kvs.at(-1);
      if (last === undefined || kvs.length < READ_LIMIT) break;
      from = `${last.key}\0`;
    }
    const { found } = await transact(client, [], [{ get: PLACES }]);
    this.#places = placesIn(found[0]?.[0]?.value);
    this.#states = states;
    this.#newPlaces.clear();
    this.#newStates.clear();
    this.#written.clear();
    this.#isChanged = false;
    this.#term = term;
    this.#closing = new AbortController();
    const write = () => this.#write(this.#now() - STATE_MS);
    this.#writing = repeat(write, WRITE_MS, this.#closing.signal);
  }

  /** Writes the pending states. After that this host writes nothing. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    const deadline = this.#now() + CLOSE_MS;
    do await this.#write(Number.POSITIVE_INFINITY);
    while (this.#isBehind && this.#now() < deadline);
    this.#term = null;
  }

  load(id: number): string | null {
    return merged(this.#places.get(id), this.#states.get(id));
  }

  nameOf(id: number): string {
    return `${PLACES} or ${stateKey(id)} in etcd`;
  }

  ids(): readonly number[] {
    return [...new Set([...this.#places.keys(), ...this.#states.keys()])];
  }

  /** Queues the state. Its place is written within about a second, as it is at that time. */
  save(id: number, state: LiveState): Promise<void> {
    this.#newPlaces.set(id, state);
    this.#newStates.set(id, state);
    this.#isChanged = true;
    return Promise.resolve();
  }

  /** @throws CatalogError `log_unavailable`. */
  async forget(id: number): Promise<void> {
    for (const map of [this.#newPlaces, this.#newStates, this.#places, this.#states]) {
      map.delete(id);
    }
    this.#written.delete(id);
    this.#isChanged = true;
    if (this.#term === null) return;
    const fence = [{ key: WRITER, revision: this.#term }];
    await transact(this.#options.client, fence, [{ remove: stateKey(id) }]);
  }

  /** @throws CatalogError `log_unavailable`, `store_damaged`. */
  async latest(id: number): Promise<string | null> {
    const gets = [{ get: PLACES }, { get: stateKey(id) }];
    const { found } = await transact(this.#options.client, [], gets);
    const places = placesIn(found[0]?.[0]?.value);
    return merged(places.get(id), found[1]?.[0]?.value.toString());
  }

  /** Whether there are states that this host may write. */
  get #isBehind(): boolean {
    return this.#term !== null && this.#newStates.size > 0 && !this.#isFailing;
  }

  /**
   * Writes the places if one has changed, and the state that has waited longest.
   *
   * @param before a state that was written after this time waits.
   */
  async #write(before: number): Promise<void> {
    const due = this.#due(before);
    if (this.#term === null || (!this.#isChanged && due === null)) return;
    for (const [id, { place }] of this.#newPlaces) this.#places.set(id, place);
    this.#newPlaces.clear();
    this.#isChanged = false;
    // A state that is saved during this write is written by the next one.
    if (due !== null) this.#newStates.delete(due.id);
    const places = JSON.stringify(Object.fromEntries(this.#places));
    const puts: RequestOp[] = [{ put: PLACES, value: places }];
    if (due !== null) puts.push({ put: stateKey(due.id), value: due.state.text });
    try {
      const fence = [{ key: WRITER, revision: this.#term }];
      const { succeeded } = await transact(this.#options.client, fence, puts);
      this.#isFailing = false;
      if (due !== null) this.#written.set(due.id, this.#now());
      // Another host is the writer now, and continues from the last successful write.
      if (!succeeded) this.#term = null;
    } catch (error) {
      this.#isChanged = true;
      // Unless the webhook was deleted meanwhile.
      if (due !== null && this.#places.has(due.id)) this.#newStates.set(due.id, due.state);
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
    }
  }

  #due(before: number): { readonly id: number; readonly state: LiveState } | null {
    let due: { readonly id: number; readonly state: LiveState } | null = null;
    let oldest = before;
    for (const [id, state] of this.#newStates) {
      const written = this.#written.get(id) ?? Number.NEGATIVE_INFINITY;
      if (written > oldest) continue;
      due = { id, state };
      oldest = written;
    }
    return due;
  }
}

function stateKey(id: number): string {
  return `${STATES}${id}`;
}

function idOf(key: string): number {
  return Number(key.slice(STATES.length));
}

/** The state, updated with the place, which is newer. */
function merged(place: object | undefined, state: string | undefined): string | null {
  if (place === undefined) return state ?? null;
  return JSON.stringify({ deliveries: [], ...parsed(state), ...place });
}

/** @returns an empty object if it is not JSON: the place is enough to continue. */
function parsed(state = '{}'): object {
  try {
    return Object(JSON.parse(state)) as object;
  } catch {
    return {};
  }
}

/** @throws CatalogError `store_damaged`. */
function placesIn(value: Buffer | undefined): Map<number, object> {
  if (value === undefined) return new Map();
  try {
    const places = v.parse(placesShape, JSON.parse(value.toString()), FIRST_FAULT);
    return new Map(Object.entries(places).map(([id, place]) => [Number(id), place]));
  } catch (cause) {
    throw new CatalogError(
      'store_damaged',
      `the key ${PLACES} in etcd does not hold deliveries to webhooks; restore its previous value, or remove it: webhooks then continue from where they were some minutes ago`,
      { cause },
    );
  }
}
