/**
 * A new primary reports its epoch to its predecessor (spec 15.15), so that the predecessor takes no
 * more writes when it comes back.
 */
import { pause } from '../../delay.ts';
import { messageOf } from '../../errors.ts';
import { type HostAddress, parseHostAddress } from '../../hosts/address.ts';
import { Backoff } from '../../hosts/following/backoff.ts';
import { HttpPrimary } from '../../hosts/following/primary-client.ts';
import { currentEpoch, type HostRecord } from '../../store/hosts/host-record.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import { hostToken } from './host-token.ts';

interface Options {
  /** The data directory, with the keys that both hosts have. */
  readonly directory: string;
  readonly role: {
    readonly record: HostRecord | null;
    replace(record: HostRecord): Promise<void>;
  };
  readonly log: Monitor['log'];
}

/** Reports to the predecessor, if it does not know yet. @returns `stop`, to end the attempts. */
export function notifyPredecessor(
  { directory, role, log }: Options,
  { env, version }: Pick<Context, 'env' | 'version'>,
): { readonly stop: () => Promise<void> } {
  const stopped = new AbortController();
  const { record } = role;
  const address = record?.role === 'primary' ? parseHostAddress(record.primary ?? '') : null;
  const token = () => hostToken(directory, env['CATALOG_JWT_SECRET']);
  const notifying =
    record === null || address === null
      ? Promise.resolve()
      : tell(record, { address, token, version, log, signal: stopped.signal }, role);
  return {
    stop: () => {
      stopped.abort();
      return notifying;
    },
  };
}

async function tell(
  record: HostRecord,
  {
    signal,
    log,
    ...connection
  }: {
    readonly address: HostAddress;
    readonly token: () => Promise<string>;
    readonly version: string;
    readonly log: Monitor['log'];
    readonly signal: AbortSignal;
  },
  role: Options['role'],
): Promise<void> {
  const predecessor = new HttpPrimary(connection);
  const { number } = currentEpoch(record);
  const backoff = new Backoff();
  let reported = '';
  while (!signal.aborted) {
    try {
      const state = await predecessor.state({ history: record.history, number });
      const isOther = state.history !== record.history;
      if (isOther || state.role !== 'primary') {
        await role.replace({ ...record, primary: null });
        log.warn(
          isOther
            ? `${predecessor.address} has another history now`
            : `${predecessor.address} knows that another host is the primary of epoch ${number}`,
        );
        return;
      }
    } catch (error) {
      const trouble = messageOf(error);
      if (trouble !== reported) {
        log.warn(`the previous primary could not be notified of epoch ${number}: ${trouble}`);
      }
      reported = trouble;
    }
    await pause(backoff.delay(), signal);
  }
}
