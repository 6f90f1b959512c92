/**
 * Which hosts there are. Each host writes `hosts/<name>` every few seconds, and one of them has
 * `writer`; both end with the lease of their host.
 *
 * Nothing is decided by them: `writer` names the host to which the others pass their writes, because
 * appends from one host do not conflict. A lease may end while its host still writes; the comparison
 * with the head of the log keeps that correct.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import type { EtcdClient } from './etcd-client.ts';
import { type KeyValue, transact, understood } from './etcd-keys.ts';

/** Seconds after its last sign of life that a host is taken for gone. */
const LEASE_S = 15;

/** Milliseconds between two signs of life. */
const BEAT_MS = 3000;

const [HOSTS, HOSTS_END, WRITER] = ['hosts/', 'hosts0', 'writer'];

/** A host as the others see it. */
export interface Member {
  readonly name: string;
  /** The origin at which the others reach it; null if they do not. */
  readonly origin: string | null;
  /** The last change set that it has. */
  readonly sequence: number;
  /** Bytes of its base, about as many as it would give to a new host; 0 if it does not say. */
  readonly baseBytes: number;
}

const memberShape = v.object({
  origin: v.nullable(v.string()),
  sequence: v.number(),
  base_bytes: v.optional(v.number(), 0),
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
  /** Whether this host is in step, and so may be the writer. */
  readonly isInStep: () => boolean;
  readonly now?: () => number;
}

export class Registry {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #lease: string | null = null;
  #members: readonly Member[] = [];
  #writer: string | null = null;
  /** When etcd has told the members, by the clock. */
  #told = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
    this.#running = this.#beatUntilClosed();
  }

  /** Where writes are passed to; null if this host carries them out. */
  get writerOrigin(): string | null {
    const isRecent = this.#now() - this.#told < LEASE_S * 1000;
    if (!isRecent || this.isWriter) return null;
    return this.#members.find(({ name }) => name === this.#writer)?.origin ?? null;
  }

  get isWriter(): boolean {
    return this.#writer === this.#options.name;
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
    while (!signal.aborted) {
      // A failure is seen by the follower of the log, which reports it.
      await this.#beat().catch(() => {});
      await pause(BEAT_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    const { client, name, origin, sequence, baseBytes } = this.#options;
    const lease = await this.#renewed();
    const own = { origin, sequence: sequence(), base_bytes: baseBytes() };
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
    this.#writer = found[2]?.[0]?.value.toString() ?? (await this.#offer(lease));
    this.#told = this.#now();
  }

  /** Becomes the writer if there is none. @returns who it is now. */
  async #offer(lease: string): Promise<string | null> {
    const { client, name, origin, isInStep } = this.#options;
    if (origin === null || !isInStep()) return null;
    const compare = [{ key: WRITER, revision: '0' }];
    const { found } = await transact(
      client,
      compare,
      [{ put: WRITER, value: name, lease }, { get: WRITER }],
      [{ get: WRITER }],
    );
    return found.flat()[0]?.value.toString() ?? null;
  }

  /** @returns a lease that has not ended. */
  async #renewed(): Promise<string> {
    const { client } = this.#options;
    if (this.#lease !== null) {
      const answer = await client.call('lease/keepalive', { ID: this.#lease });
      if (understood(aliveShape, answer).result.TTL !== '0') return this.#lease;
    }
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
  const { origin, sequence, base_bytes: baseBytes } = parsed;
  return { name: key.slice(HOSTS.length), origin, sequence, baseBytes };
}
