/**
 * Removes from the log the change sets that every live host has and that are older than a day. A
 * host that was away for longer fetches a base.
 *
 * Marks show how old change sets are: `marks/<hour>` is the head of the log at the first run of
 * {@link trimOnce} in that hour. `trimmed` is the lowest number that the last run has kept.
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

/** Change sets that one request removes. etcd carries out no write while it removes them. */
const STEP = 1000;

const MARKS = 'marks/';
const TRIMMED = 'trimmed';

interface Options {
  readonly client: EtcdClient;
  readonly log: Pick<EtcdLog, 'positions' | 'head' | 'trim'>;
  readonly registry: Pick<Registry, 'liveHosts' | 'term'>;
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
      // After its lease has ended, a host may not know of a host that joins and is behind.
      if (signal.aborted || this.#options.registry.term === null) continue;
      await trimOnce(this.#options, Date.now(), signal).catch(this.#options.onError);
    }
  }
}

/**
 * @param now milliseconds since the epoch.
 * @param signal ends it early; the next run removes the rest.
 * @returns the lowest sequence that is kept; null if nothing is old enough.
 * @throws CatalogError `log_unavailable`.
 */
export async function trimOnce(
  parts: Omit<Options, 'onError'>,
  now: number,
  signal?: AbortSignal,
): Promise<number | null> {
  const { client, log } = parts;
  const { sequence } = await log.head();
  const mark = markOf(now);
  await transact(client, [{ key: mark, revision: '0' }], [{ put: mark, value: `${sequence}` }]);
  const old = markOf(now - KEPT_MS);
  const { found } = await transact(client, [], [{ get: MARKS, end: old }]);
  const last = found[0]?.at(-1);
  if (last === undefined) return null;
  const kept = await removeBelow(Number(last.value), parts, signal);
  await transact(client, [], [{ remove: MARKS, end: last.key }]);
  return kept;
}

/** @returns the lowest sequence that is kept. */
async function removeBelow(
  below: number,
  { client, log, registry }: Omit<Options, 'onError'>,
  signal?: AbortSignal,
): Promise<number> {
  const { found } = await transact(client, [], [{ get: TRIMMED }]);
  const trimmed = found[0]?.[0]?.value ?? (await log.positions())?.origin.sequence ?? 0;
  for (let from = Number(trimmed); ; ) {
    // Since the last step, a host that is behind may have joined, or another one may write now.
    const hosts = registry.liveHosts.map((host) => host.sequence);
    const end = Math.min(from + STEP, below, ...hosts);
    if (end <= from || registry.term === null || signal?.aborted === true) return from;
    await log.trim(end, from);
    await transact(client, [], [{ put: TRIMMED, value: `${end}` }]);
    from = end;
  }
}

/** The key of a mark. The keys sort by time. */
function markOf(time: number): string {
  return `${MARKS}${new Date(time).toISOString().slice(0, 13)}`;
}
