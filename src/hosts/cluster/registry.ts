/**
 * The hosts of a cluster. Each host writes `hosts/<name>` every few seconds, and one of them holds
 * `writer`. Both keys disappear when the lease of their host ends.
 *
 * `writer` names the host that delivers to webhooks, and to which the others pass their writes,
 * because appends from one host do not conflict. A lease may end while its host still writes: the
 * comparison with the head of the log protects writes, and {@link Registry.term} deliveries.
 */
import { repeat } from '../../delay.ts';
import * as v from 'valibot';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { type Clocks, Confirmation } from '../following/confirmation.ts';
import type { EtcdClient } from './etcd-client.ts';
import { type KeyValue, transact, understood } from './etcd-keys.ts';
import type { ReplicationState } from './log-follower.ts';

/** Seconds after its last heartbeat until a host counts as gone. */
const LEASE_S = 15;

/** Milliseconds between two heartbeats. */
const BEAT_MS = 3000;

/** Milliseconds before its lease can end at which a host stops relying on it. */
const MARGIN_MS = 2000;

const [HOSTS, HOSTS_END] = ['hosts/', 'hosts0'];

/** The key that names the writer. */
export const WRITER = 'writer';

/** A host as the others see it. */
export interface LiveHost {
  readonly name: string;
  /** The origin at which the others reach it; null if they cannot. */
  readonly origin: string | null;
  /** The last change set that it has. */
  readonly sequence: number;
  /** Bytes of its base: about the size of one for a new host; 0 if it does not report it. */
  readonly baseBytes: number;
  /** Whether it is in sync with the log. */
  readonly isInSync: boolean;
}

/** The writer, and the revision of etcd at which it became the writer. */
interface Holder {
  readonly name: string;
  readonly term: string;
}

const liveHostShape = v.object({
  origin: v.nullable(v.string()),
  sequence: v.number(),
  base_bytes: v.optional(v.number(), 0),
  in_step: v.optional(v.boolean(), true),
});
const leaseShape = v.object({ ID: v.string() });
const aliveShape = v.object({ result: v.object({ TTL: v.optional(v.string(), '0') }) });

interface Options {
  readonly client: EtcdClient;
  /** Different at each start. */
  readonly name: string;
  readonly origin: string | null;
  /** The last change set of this host. */
  readonly sequence: () => number;
  /** Bytes of its base. */
  readonly baseBytes: () => number;
  readonly replicationState: () => ReplicationState;
  /** Called with the first of several failed heartbeats in a row. */
  readonly onError: (error: unknown) => void;
  /** {@link BEAT_MS} if left out. */
  readonly beatMs?: number | undefined;
  readonly now?: () => number;
  /** The clocks that measure the lease; those of the machine if left out. */
  readonly clocks?: Clocks | undefined;
}

export class Registry {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #lease: string | null = null;
  #liveHosts: readonly LiveHost[] = [];
  #writer: Holder | null = null;
  /** Counts from when the last answered renewal of the lease was sent. */
  readonly #lasting: Confirmation;
  /** When the live hosts were last read, by the clock. */
  #hostsReadAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
    this.#lasting = new Confirmation(LEASE_S * 1000 - MARGIN_MS, options.clocks);
    const { beatMs = BEAT_MS, onError } = options;
    this.#running = repeat(() => this.#beat(), beatMs, this.#closing.signal, onError);
  }

  /** The origin to which writes are passed; null if this host makes them itself. */
  get writerOrigin(): string | null {
    const isRecent = this.#now() - this.#hostsReadAt < LEASE_S * 1000;
    if (!isRecent) return null;
    const writer = this.#liveHosts.find(({ name }) => name === this.#writer?.name);
    // After a restart, this host may still be the writer under its previous name.
    if (writer === undefined || writer.origin === this.#options.origin) return null;
    return writer.origin;
  }

  /**
   * The fencing token of this host's deliveries: the revision at which it became the writer. Null
   * if it is not the writer, or if its lease may be about to end, so that another host takes over.
   */
  get term(): string | null {
    const writer = this.#writer;
    return writer?.name === this.#options.name && this.#lasting.isCurrent ? writer.term : null;
  }

  /** The live hosts, including this one. */
  get liveHosts(): readonly LiveHost[] {
    return this.#liveHosts;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    // So that the others need not wait until the lease has ended.
    const lease = this.#lease;
    if (lease !== null) {
      await this.#options.client.call('lease/revoke', { ID: lease }).catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    const { client, name, origin, sequence, baseBytes, replicationState } = this.#options;
    const sent = this.#lasting.now();
    const lease = await this.#renewed();
    this.#lasting.confirm(sent);
    const isInSync = replicationState() === 'in sync';
    const own = { origin, sequence: sequence(), base_bytes: baseBytes(), in_step: isInSync };
    const reported = JSON.stringify(own);
    const { found } = await transact(
      client,
      [],
      [
        { put: HOSTS + name, value: reported, lease },
        { get: HOSTS, end: HOSTS_END },
        { get: WRITER },
      ],
    );
    this.#liveHosts = (found[1] ?? []).flatMap(liveHostOf);
    this.#writer = await this.#settled(holderIn(found[2]), lease);
    this.#hostsReadAt = this.#now();
  }

  /** Becomes the writer if there is none, or gives up that role. @returns the writer now. */
  async #settled(holder: Holder | null, lease: string): Promise<Holder | null> {
    const { client, name, origin, replicationState } = this.#options;
    // A host without an address cannot receive writes, so it leaves the role to one that has one.
    const isWanted = origin !== null || !this.#liveHosts.some(isReachable);
    const state = replicationState();
    if (holder === null) return isWanted && state === 'in sync' ? this.#offer(lease) : null;
    if (holder.name !== name || (isWanted && state !== 'stopped')) return holder;
    // Before the call: without a response, another host may have become the writer by then.
    this.#writer = null;
    await transact(client, [{ key: WRITER, revision: holder.term }], [{ remove: WRITER }]);
    return null;
  }

  /** Becomes the writer if there is none. @returns the writer now. */
  async #offer(lease: string): Promise<Holder | null> {
    const { client, name } = this.#options;
    const compare = [{ key: WRITER, revision: '0' }];
    const { found } = await transact(
      client,
      compare,
      [{ put: WRITER, value: name, lease }, { get: WRITER }],
      [{ get: WRITER }],
    );
    return holderIn(found.flat());
  }

  /** @returns a lease that has not ended. */
  async #renewed(): Promise<string> {
    const { client } = this.#options;
    if (this.#lease !== null) {
      const response = await client.call('lease/keepalive', { ID: this.#lease });
      if (understood(aliveShape, response).result.TTL !== '0') return this.#lease;
    }
    // The keys of an earlier lease are gone, too.
    this.#writer = null;
    const granted = await client.call('lease/grant', { TTL: LEASE_S });
    this.#lease = understood(leaseShape, granted).ID;
    return this.#lease;
  }
}

/**
 * Reads the live hosts, without registering this one.
 *
 * @throws CatalogError `log_unavailable`.
 */
export async function readLiveHosts(client: EtcdClient): Promise<readonly LiveHost[]> {
  const { found } = await transact(client, [], [{ get: HOSTS, end: HOSTS_END }]);
  return (found[0] ?? []).flatMap(liveHostOf);
}

/** @returns none for a value that no host wrote: it must not keep the hosts from each other. */
function liveHostOf({ key, value }: KeyValue): readonly LiveHost[] {
  const parsed = v.safeParse(
    v.pipe(v.string(), v.parseJson(), liveHostShape),
    value.toString(),
    FIRST_FAULT,
  );
  if (!parsed.success) return [];
  const { origin, sequence, base_bytes: baseBytes, in_step: isInSync } = parsed.output;
  return [{ name: key.slice(HOSTS.length), origin, sequence, baseBytes, isInSync }];
}

function isReachable({ origin, isInSync }: LiveHost): boolean {
  return origin !== null && isInSync;
}

function holderIn(found: readonly KeyValue[] = []): Holder | null {
  const [holder] = found;
  return holder === undefined ? null : { name: holder.value.toString(), term: holder.revision };
}
