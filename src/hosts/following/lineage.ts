/** Whether a host may follow another one (spec 15.14). */
import { CatalogError } from '../../errors.ts';
import type { HostState } from '../../http/services.ts';
import type { LogPosition } from '../../store/change-log.ts';
import { SCHEMA_VERSION } from '../../store/files/schema.ts';
import { currentEpoch, type Epoch, type HostRecord } from '../../store/hosts/host-record.ts';

const START_ANEW = 'move this directory away, and start in an empty one';

/** What a host that wants to follow has. */
export interface FollowerState {
  /** Null if the directory has none. */
  readonly record: HostRecord | null;
  /** The last change set before the primary was asked; null if there is no store. */
  readonly at: LogPosition | null;
  /** See `secretFingerprint`. */
  readonly secret: string | null;
}

/**
 * @param address of the primary, for messages.
 * @throws CatalogError `not_primary` if the other host does not write in the latest epoch;
 *   `history_differs` if the history of this one is no part of the other's; `schema_version`,
 *   `key_file`.
 */
export function requireFollowable(own: FollowerState, theirs: HostState, address: string): void {
  requirePrimary(own, theirs, address);
  if (theirs.schema !== SCHEMA_VERSION) {
    throw new CatalogError(
      'schema_version',
      `${address} has schema version ${theirs.schema}, this program has ${SCHEMA_VERSION}; run the same version of catalog-server on both hosts`,
    );
  }
  if (theirs.secret !== own.secret) {
    throw new CatalogError(
      'key_file',
      `the signing keys of ${address} are not those of this host: set CATALOG_JWT_SECRET to the same value on both hosts, or on neither`,
    );
  }
  requireCommonHistory(own, theirs, address);
}

function requirePrimary({ record }: FollowerState, theirs: HostState, address: string): void {
  if (theirs.role === 'follower') {
    throw notPrimary(`${address} follows ${theirs.primary} itself; follow that one`);
  }
  if (theirs.role === 'succeeded') {
    throw notPrimary(`${address} is not the primary any more; follow the one that is`);
  }
  if (record === null || record.history !== theirs.history) return;
  const [mine, other] = [currentEpoch(record), currentEpoch(theirs)];
  if (record.latest > other.number) {
    throw notPrimary(
      `${address} is the primary of epoch ${other.number}, and epoch ${record.latest} has begun; follow the primary of that one`,
    );
  }
  const same = theirs.epochs.find(({ number }) => number === mine.number);
  if (same !== undefined && same.writer !== mine.writer) {
    throw new CatalogError(
      'history_differs',
      `epoch ${mine.number} of ${address} has another writer than the one that this host knows: two hosts were promoted; keep one, and let the others fetch a base in an empty directory`,
    );
  }
}

function requireCommonHistory(
  { record, at }: FollowerState,
  theirs: HostState,
  address: string,
): void {
  if (at === null) return;
  if (record === null) {
    throw differs(
      `this directory holds a store that was not taken from ${address}`,
      'name an empty directory with --data',
    );
  }
  if (record.history !== theirs.history) {
    throw differs(
      `${address} has another history than this directory`,
      'name the right primary, or an empty directory with --data',
    );
  }
  const common = Math.min(theirs.sequence, endOfCommon(record.epochs, theirs.epochs));
  if (at.sequence > common) {
    throw differs(
      `this directory has the change sets ${common + 1} to ${at.sequence}, which ${address} does not have`,
      START_ANEW,
    );
  }
  if (at.sequence === theirs.sequence && at.digest !== theirs.digest) {
    throw differs(
      `change set ${at.sequence} of ${address} differs from that of this directory`,
      START_ANEW,
    );
  }
}

/** @returns the last change set that the histories of two hosts may have in common. */
function endOfCommon(own: readonly Epoch[], theirs: readonly Epoch[]): number {
  const writers = new Set(theirs.map(({ writer }) => writer));
  const shared = own.findLast(({ writer }) => writers.has(writer))?.number ?? 0;
  const apart = [...own, ...theirs].filter(({ number }) => number > shared);
  return Math.min(...apart.map(({ after }) => after));
}

/**
 * The primary was set back to an earlier state, and has made other change sets since.
 *
 * @param what the change set of the primary that does not follow the last one of this host.
 */
export function divergent(what: string): CatalogError {
  return differs(`${what} does not follow the last one of this directory`, START_ANEW);
}

function notPrimary(message: string): CatalogError {
  return new CatalogError('not_primary', message);
}

function differs(what: string, advice: string): CatalogError {
  return new CatalogError('history_differs', `${what}: ${advice}`);
}
