/**
 * A new primary reports its epoch to its predecessors (spec 15.15), so that they take no more writes
 * when they come back. It goes on when another host has replaced it meanwhile: that host may not
 * know of all of them.
 */
import { Backoff } from '../../backoff.ts';
import { pause } from '../../delay.ts';
import { messageOf } from '../../errors.ts';
import { parseHostAddress } from '../../hosts/address.ts';
import { HttpPrimary, type Primary } from '../../hosts/following/primary-client.ts';
import type { HostRole } from '../../hosts/primary/host-role.ts';
import type { KnownEpoch } from '../../http/services.ts';
import { currentEpoch, type Epoch, type HostRecord } from '../../store/hosts/host-record.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import { hostToken } from './host-token.ts';

interface Options {
  /** The data directory, with the keys that both hosts have. */
  readonly directory: string;
  readonly role: Pick<HostRole, 'record' | 'learn' | 'predecessorKnows'>;
  readonly log: Pick<Monitor['log'], 'warn'>;
}

/** Reports to the predecessors that do not know yet. @returns `stop`, to end the attempts. */
export function notifyPredecessors(
  { directory, role, log }: Options,
  { env, version }: Pick<Context, 'env' | 'version'>,
): { readonly stop: () => Promise<void> } {
  const stopped = new AbortController();
  const { record } = role;
  const token = () => hostToken(directory, env['CATALOG_JWT_SECRET']);
  const notify = async (own: HostRecord, text: string) => {
    const address = parseHostAddress(text);
    if (address === null) return;
    const epoch = { history: own.history, number: currentEpoch(own).number };
    const { signal } = stopped;
    const predecessor = new HttpPrimary({ address, token, version, signal });
    await reportEpoch(epoch, predecessor, { role, log, signal });
  };
  const notifying =
    record?.role === 'primary' ? record.predecessors.map((text) => notify(record, text)) : [];
  return {
    async stop() {
      stopped.abort();
      await Promise.all(notifying);
    },
  };
}

/**
 * Reports an epoch until the predecessor knows it or a later one, or has another history.
 *
 * @param signal ends the attempts.
 */
export async function reportEpoch(
  epoch: KnownEpoch,
  predecessor: Pick<Primary, 'address' | 'state'>,
  { role, log, signal }: Pick<Options, 'role' | 'log'> & { readonly signal: AbortSignal },
  backoff = new Backoff(),
): Promise<void> {
  const { address } = predecessor;
  let reported = '';
  while (!signal.aborted) {
    try {
      const state = await predecessor.state(epoch);
      const { number } = currentEpoch(state);
      const isOther = state.history !== epoch.history;
      const isThis = state.role === 'primary' && isOwn(currentEpoch(state), role.record);
      if (isOther || isThis || state.role !== 'primary' || number > epoch.number) {
        await role.learn({ history: state.history, number });
        await role.predecessorKnows(epoch, address);
        if (isThis) return;
        log.warn(
          isOther
            ? `${address} has another history now`
            : `${address} knows that another host became the primary in epoch ${epoch.number}`,
        );
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const trouble = messageOf(error);
      if (trouble !== reported) {
        log.warn(`the previous primary could not be notified of epoch ${epoch.number}: ${trouble}`);
      }
      reported = trouble;
    }
    await pause(backoff.delay(), signal);
  }
}

/** Whether the epoch is that of this host, which may have the address of a predecessor now. */
function isOwn({ writer }: Epoch, record: HostRecord | null): boolean {
  return record !== null && currentEpoch(record).writer === writer;
}
