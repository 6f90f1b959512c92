/**
 * The start of a host that shares a log: its store has to be a part of the log's history.
 *
 * A new log begins with the state of the first host that uses it. A new host begins with the log's
 * history if the log keeps all of it, and otherwise with a base of another host (peer-base.ts).
 */
import { CatalogError } from '../../errors.ts';
import type { LogPosition } from '../../store/change-log.ts';
import type { EtcdLog } from './etcd-log.ts';

type Log = Pick<EtcdLog, 'begin' | 'positions' | 'digestAt'>;

/**
 * @param makeOrigin makes a digest that names a new history.
 * @returns the digest with which an empty store of the log's history begins; null if the history
 *   does not begin with an empty store, or not all of it is kept, so that a new host needs a base.
 * @throws CatalogError `log_unavailable`.
 */
export async function originOfHistory(log: Log, makeOrigin: () => string): Promise<string | null> {
  const positions =
    (await log.positions()) ?? (await log.begin({ sequence: 0, digest: makeOrigin() }));
  const { origin, head } = positions;
  const isWhole =
    origin.sequence === 0 && (head.sequence === 0 || (await log.digestAt(1)) !== null);
  return isWhole ? origin.digest : null;
}

/**
 * Starts a new log at the position of a store; otherwise checks that the store is a part of the
 * log's history.
 *
 * @throws CatalogError `history_differs` if it is not, `history_gone` if the log does not keep the
 *   change sets after the store's, `log_unavailable`.
 */
export async function requireSameHistory(log: Log, store: LogPosition): Promise<void> {
  const { sequence, digest } = store;
  const positions = (await log.positions()) ?? (await log.begin({ sequence, digest }));
  await requirePart(log, positions, store);
}

/**
 * Checks that a base of another host is a part of the log's history. If etcd has lost its data while
 * the base was fetched, no new log begins at the base: other hosts may be ahead of it.
 *
 * @throws CatalogError as {@link requireSameHistory}; `history_differs` if there is no log any more.
 */
export async function requireBaseOfHistory(
  log: Pick<Log, 'positions' | 'digestAt'>,
  base: LogPosition,
): Promise<void> {
  const positions = await log.positions();
  if (positions === null) {
    throw new CatalogError('history_differs', 'the log in etcd is empty: its keys were removed');
  }
  await requirePart(log, positions, base);
}

interface Positions {
  readonly origin: LogPosition;
  readonly head: LogPosition;
}

async function requirePart(
  log: Pick<Log, 'digestAt'>,
  { origin, head }: Positions,
  { sequence, digest }: LogPosition,
): Promise<void> {
  if (sequence > head.sequence) {
    throw differs(
      `this store is at change set ${sequence}, ahead of the log, which ends at ${head.sequence}`,
    );
  }
  const known = sequence === origin.sequence ? origin.digest : await log.digestAt(sequence);
  if (known !== null && known !== digest) {
    throw differs(`change set ${sequence} of this store differs from that of the log`);
  }
  const isKept = sequence === head.sequence || (await log.digestAt(sequence + 1)) !== null;
  if (known !== null && isKept) return;
  throw new CatalogError(
    'history_gone',
    `this store is at change set ${sequence}, and the log does not keep the ones after it any more; name an empty data directory, for which this host fetches a base from another one`,
  );
}

function differs(what: string): CatalogError {
  return new CatalogError(
    'history_differs',
    `${what}: the two have different histories; name another prefix with --log, or another data directory`,
  );
}
