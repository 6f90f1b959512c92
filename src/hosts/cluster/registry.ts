/**
 * Which hosts there are. Each host writes `hosts/<name>` every few seconds, and one of them has
 * `writer`; both end with the lease of their host.
 *
 * `writer` names the host to which the others pass their writes, because appends from one host do
 * not conflict, and which delivers to webhooks. A lease may end while its host still writes: the
 * comparison with the head of the log keeps writes correct, and {@link Registry.term} deliveries.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { type Clocks, Confirmation } from '../following/confirmation.ts';
import type { EtcdClient } from './etcd-client.ts';
import { type KeyValue, transact, understood } from './etcd-keys.ts';
import type { Standing } from './log-follower.ts';

/** Seconds after its last sign of life that a host is taken for gone. */
const LEASE_S = 15;

/** Milliseconds between two signs of life. */
const BEAT_MS = 3000;

/** Milliseconds before its lease can end in which a host does not count on it any more. */
const MARGIN_MS = 2000;

const [HOSTS, HOSTS_END] = ['hosts/', 'hosts0'];

/** The key that names the writer. */
export const WRITER = 'writer';

/** A host as the others see it. */
export interface Member {
  readonly name: string;
  /** The origin at which the others reach it; null if they do not. */
  readonly origin: string | null;
  /** The last change set that it has. */
  readonly sequence: number;
  /** Bytes of its base, about as many as it would give to a new host; 0 if it does not say. */
  readonly baseBytes: number;
  /** Whether it is in step with the log. */
  readonly isInStep: boolean;
}

/** Who is the writer, and the revision of etcd since which it is. */
interface Holder {
  readonly name: string;
  readonly term: string;
}

const memberShape = v.object({
  origin: v.nullable(v.string()),
  sequence: v.number(),
  base_bytes: v.optional(v.number(), 0),
  in_step: v.optional(v.boolean(), true),
});
const leaseShape = v.object({ ID: v.string() });
const aliveShape = v.object({ result: v.object({ TTL: v.optional(v.string(), '0') }) });

interface Options {
  readonly client: EtcdClient;
  /** Another one at each start. */
  readonly name: string;
  readonly origin: string | null;
  /** The last change set of this host. */
  readonly sequence: () => number;
  /** Bytes of its base. */
  readonly baseBytes: () => number;
  readonly standing: () => Standing;
  /** Called with the first of several failures in a row to give a sign of life. */
  readonly onError: (error: unknown) => void;
  /** {@link BEAT_MS} if left out. */
  readonly beatMs?: number | undefined;
  readonly now?: () => number;
  /** By which the lease is measured; those of the machine if left out. */
  readonly clocks?: Clocks | undefined;
}

export class Registry {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #lease: string | null = null;
  #members: readonly Member[] = [];
  #writer: Holder | null = null;
  /** Counts from the sending of the renewal of the lease that was answered last. */
  readonly #lasting: Confirmation;
  /** When etcd has told the members, by the clock. */
  #told = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
    this.#lasting = new Confirmation(LEASE_S * 1000 - MARGIN_MS, options.clocks);
    this.#running = this.#beatUntilClosed();
  }

  /** Where writes are passed to; null if this host carries them out. */
  get writerOrigin(): string | null {
    const isRecent = this.#now() - this.#told < LEASE_S * 1000;
    if (!isRecent || this.isWriter) return null;
    return this.#members.find(({ name }) => name === this.#writer?.name)?.origin ?? null;
  }

  get isWriter(): boolean {
    return this.#writer?.name === this.#options.name;
  }

  /**
   * What fences the deliveries of this host: the revision since which it is the writer. Null if it is
   * not, or if its lease could soon end without its knowing, so that another host is the writer.
   */
  get term(): string | null {
    if (!this.isWriter || !this.#lasting.isCurrent) return null;
    return this.#writer?.term ?? null;
  }

  /** The hosts that have given a sign of life, this one too. */
  get members(): readonly Member[] {
    return this.#members;
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

  async #beatUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    const { onError, beatMs = BEAT_MS } = this.#options;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#beat();
        isFailing = false;
      } catch (error) {
        if (!isFailing) onError(error);
        isFailing = true;
      }
      await pause(beatMs, undefined, { signal }).catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    const { client, name, origin, sequence, baseBytes, standing } = this.#options;
    const sent = this.#lasting.now();
    const lease = await this.#renewed();
    this.#lasting.confirm(sent);
    const isInStep = standing() === 'in step';
    const own = { origin, sequence: sequence(), base_bytes: baseBytes(), in_step: isInStep };
    const member = JSON.stringify(own);
    const { found } = await transact(
      client,
      [],
      [
        { put: HOSTS + name, value: member, lease },
        { get: HOSTS, end: HOSTS_END },
        { get: WRITER },
      ],
    );
    this.#members = (found[1] ?? []).map(memberOf);
    this.#writer = await this.#settled(holderIn(found[2]), lease);
    this.#told = this.#now();
  }

  /** Becomes the writer if there is none, or gives it up. @returns who it is now. */
  async #settled(holder: Holder | null, lease: string): Promise<Holder | null> {
    const { client, name, origin, standing } = this.#options;
    // Nobody can pass writes to a host without an address, so that it leaves them to one that has.
    const isWanted = origin !== null || !this.#members.some(isReachable);
    if (holder === null) return isWanted && standing() === 'in step' ? this.#offer(lease) : null;
    if (holder.name !== name || (isWanted && standing() !== 'stopped')) return holder;
    await transact(client, [{ key: WRITER, revision: holder.term }], [{ remove: WRITER }]);
    return null;
  }

  /** Becomes the writer if there is none. @returns who it is now. */
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
      const answer = await client.call('lease/keepalive', { ID: this.#lease });
      if (understood(aliveShape, answer).result.TTL !== '0') return this.#lease;
    }
    // What an earlier lease had is gone, too.
    this.#writer = null;
    const granted = await client.call('lease/grant', { TTL: LEASE_S });
    this.#lease = understood(leaseShape, granted).ID;
    return this.#lease;
  }
}

/**
 * Asks for the hosts that have given a sign of life, without giving one.
 *
 * @throws CatalogError `log_unavailable`.
 */
export async function readMembers(client: EtcdClient): Promise<readonly Member[]> {
  const { found } = await transact(client, [], [{ get: HOSTS, end: HOSTS_END }]);
  return (found[0] ?? []).map(memberOf);
}

function memberOf({ key, value }: KeyValue): Member {
  const parsed = understood(memberShape, JSON.parse(value.toString()));
  const { origin, sequence, base_bytes: baseBytes, in_step: isInStep } = parsed;
  return { name: key.slice(HOSTS.length), origin, sequence, baseBytes, isInStep };
}

function isReachable({ origin, isInStep }: Member): boolean {
  return origin !== null && isInStep;
}

function holderIn(found: readonly KeyValue[] = []): Holder | null {
  const [holder] = found;
  return holder === undefined ? null : { name: holder.value.toString(), term: holder.revision };
}
