/**
 * The base of a new host, if the log does not keep all change sets since its beginning. It is taken
 * from another live host, and compared with the log before it is installed.
 *
 * The hosts are asked in turn, the most advanced first. If none gives a base, they are looked up
 * again after a pause, because they may be starting too.
 */
import type { Backoff } from '../../backoff.ts';
import { pause, withTimeout } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { LogPosition } from '../../store/change-log.ts';
import type { ReceivedBase } from '../../store/hosts/install-base.ts';
import type { LiveHost } from './registry.ts';

/** How often all hosts are asked; with the pauses, this takes about four minutes. */
const MAX_ROUNDS = 60;

/** A host that can be reached. */
export type Peer = LiveHost & { readonly origin: string };

interface Options {
  /** The other hosts. @throws CatalogError `log_unavailable`. */
  readonly others: () => Promise<readonly LiveHost[]>;
  /** Receives the base of a host. @throws what the network and the disk throw. */
  readonly take: (peer: Peer) => Promise<ReceivedBase>;
  /**
   * Compares the base with the log.
   *
   * @throws CatalogError `history_differs`, `history_gone`, `log_unavailable`.
   */
  readonly verify: (position: LogPosition) => Promise<void>;
  readonly log: { warn(message: string): void };
  readonly backoff: Pick<Backoff, 'delay'>;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
  /** {@link MAX_ROUNDS} if left out. */
  readonly rounds?: number | undefined;
}

/**
 * @returns the base, which is a part of the log's history; null if the attempts were ended.
 * @throws CatalogError `store_missing` if no host gives one.
 */
export async function baseOfPeers(options: Options): Promise<ReceivedBase | null> {
  const { log, backoff, signal, rounds = MAX_ROUNDS } = options;
  let trouble = '';
  const note = (what: string) => {
    // What the end of the attempts makes fail is no trouble.
    if (what !== trouble && !signal.aborted) log.warn(`no base yet: ${what}`);
    trouble = what;
  };
  for (let round = 1; !signal.aborted; round += 1) {
    const base = await askAll(options, note);
    if (base !== null) return base;
    if (round === rounds && !signal.aborted) throw nobody(trouble);
    await pause(backoff.delay(), signal);
  }
  return null;
}

/** @param note called with the reason if a host gives no base. */
async function askAll(
  { others, take, verify, signal }: Options,
  note: (what: string) => void,
): Promise<ReceivedBase | null> {
  const looked = others().catch((error: unknown) => {
    note(messageOf(error));
    return null;
  });
  // A log that is silent must not delay the end.
  const found = await withTimeout(looked, Number.POSITIVE_INFINITY, () => null, signal);
  if (found === null) return null;
  const peers = found.filter(isPeer).toSorted((one, other) => other.sequence - one.sequence);
  if (peers.length === 0) note('no other host with --advertise has reported yet');
  for (const peer of peers) {
    if (signal.aborted) return null;
    try {
      return await verified(await take(peer), verify, signal);
    } catch (error) {
      if (signal.aborted) return null;
      note(messageOf(error));
    }
  }
  return null;
}

async function verified(
  base: ReceivedBase,
  verify: Options['verify'],
  signal: AbortSignal,
): Promise<ReceivedBase> {
  try {
    const stopped = () => signal.throwIfAborted();
    await withTimeout(verify(base), Number.POSITIVE_INFINITY, stopped, signal);
    return base;
  } catch (error) {
    await base.abandon();
    throw error;
  }
}

function isPeer(host: LiveHost): host is Peer {
  return host.origin !== null;
}

function nobody(trouble: string): CatalogError {
  return new CatalogError(
    'store_missing',
    `this host needs a base, because the log does not keep all change sets since its beginning, and no other host gives one (${trouble}); start another host with --advertise, or restore into this data directory a backup of another host, or an archive: catalog-server restore`,
  );
}
