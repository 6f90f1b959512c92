/**
 * Removes from the log the change sets that every live host has and that are older than a day. A
 * host that was away for longer fetches a base.
 *
 * Marks show how old change sets are: `marks/<hour>` is the head of the log at the first run of
 * {@link trimOnce} in that hour.
 */
import { pause } from '../../delay.ts';
import type { EtcdClient } from './etcd-client.ts';
import type { EtcdLog } from './etcd-log.ts';
import { transact } from './etcd-keys.ts';
import type { Registry } from './registry.ts';

/** Milliseconds for which change sets are kept. */
const KEPT_MS = 24 * 3600 * 1000;

/** Milliseconds between two runs. */
const INTERVAL_MS = 10 * 60 * 1000;

const MARKS = 'marks/';

interface Options {
  readonly client: EtcdClient;
  readonly log: Pick<EtcdLog, 'head' | 'trim'>;
  readonly registry: Pick<Registry, 'members' | 'isWriter'>;
  readonly onError: (error: unknown) => void;
}

export class Trimming {
  readonly #options: Options;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: Options) {
    this.#options = options;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await pause(INTERVAL_MS, signal);
      if (signal.aborted || !this.#options.registry.isWriter) continue;
      const { client, log, registry, onError } = this.#options;
      await trimOnce({ client, log }, registry.members, Date.now()).catch(onError);
    }
  }
}

/**
 * @param members the live hosts.
 * @param now milliseconds since the epoch.
 * @returns the lowest sequence that is kept; null if nothing is old enough.
 * @throws CatalogError `log_unavailable`.
 */
export async function trimOnce(
  { client, log }: Pick<Options, 'client' | 'log'>,
  members: readonly { readonly sequence: number }[],
  now: number,
): Promise<number | null> {
  const { sequence } = await log.head();
  const mark = markOf(now);
  await transact(client, [{ key: mark, revision: '0' }], [{ put: mark, value: `${sequence}` }]);
  const old = markOf(now - KEPT_MS);
  const { found } = await transact(client, [], [{ get: MARKS, end: old }]);
  const last = found[0]?.at(-1);
  if (last === undefined) return null;
  const below = Math.min(Number(last.value), ...members.map((member) => member.sequence));
  await log.trim(below);
  await transact(client, [], [{ remove: MARKS, end: last.key }]);
  return below;
}

/** The key of a mark. The keys sort by time. */
function markOf(time: number): string {
  return `${MARKS}${new Date(time).toISOString().slice(0, 13)}`;
}
