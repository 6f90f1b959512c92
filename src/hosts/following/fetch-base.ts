/**
 * A base from a primary that may not answer yet (spec 15.10, 15.13). Each attempt judges the
 * primary first, and failures are retried with growing delays.
 */
import { replaceCredentialFiles } from '../../auth/sharing/credential-files.ts';
import { Backoff } from '../../backoff.ts';
import { pause } from '../../delay.ts';
import type { Disk } from '../../disk/disk.ts';
import { messageOf } from '../../errors.ts';
import type { HostState } from '../../http/services.ts';
import { followerRecord, writeHostRecord } from '../../store/hosts/host-record.ts';
import type { ReceivedBase } from '../../store/hosts/install-base.ts';
import type { FollowingLog } from './following-log.ts';
import { type FollowerState, requireFollowable } from './lineage.ts';
import type { Primary } from './primary-client.ts';
import { takeBase } from './take-base.ts';

interface Options {
  readonly primary: Pick<Primary, 'address' | 'state' | 'credentials' | 'base'>;
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  /** What this host has; read for each attempt. */
  readonly own: () => FollowerState;
  readonly log: FollowingLog;
  /** Ends the attempts, and a transfer. */
  readonly signal: AbortSignal;
  readonly backoff?: Pick<Backoff, 'delay'>;
}

/**
 * Receives a base beside the store of a directory. If it has none, it becomes that of a follower
 * first, with the accounts and keys of the primary.
 *
 * @returns the base, which is not in its place yet; null if the signal came before it was there.
 */
export async function fetchBase(options: Options): Promise<ReceivedBase | null> {
  const { primary, log, signal, backoff = new Backoff() } = options;
  while (!signal.aborted) {
    try {
      return await attempt(options, await primary.state(null));
    } catch (error) {
      if (signal.aborted) return null;
      log.trouble(`no base yet: ${messageOf(error)}`);
    }
    await pause(backoff.delay(), signal);
  }
  return null;
}

async function attempt(
  { primary, disk, directory, own, log, signal }: Options,
  state: HostState,
): Promise<ReceivedBase> {
  const { address } = primary;
  const has = own();
  requireFollowable(has, state, address);
  if (has.at === null) {
    const { files } = await primary.credentials();
    await replaceCredentialFiles(disk, directory, files);
    // Before the base, so that no start treats the directory as one that may be written.
    await writeHostRecord(disk, directory, followerRecord(address, state));
  }
  return takeBase({ primary, disk, directory, expected: state.base_bytes, log, signal });
}
