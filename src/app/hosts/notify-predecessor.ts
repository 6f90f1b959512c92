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
import type { HostParts } from './host.ts';
import { hostToken } from './host-token.ts';

interface Options {
  readonly role: Pick<HostRole, 'record' | 'learn' | 'predecessorKnows'>;
  readonly log: Pick<Monitor['log'], 'warn'>;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/** Reports to the predecessors that do not know yet. */
export async function notifyPredecessors({
  options,
  context,
  observability: { log },
  current,
  stop: signal,
}: HostParts): Promise<void> {
  const role = current.catalog?.role;
  if (role?.record?.role !== 'primary') return;
  const { record } = role;
  const { env, version } = context;
  const epoch = { history: record.history, number: currentEpoch(record).number };
  // Both hosts have the same keys.
  const token = () => hostToken(options.data, env['CATALOG_JWT_SECRET']);
  const notify = async (text: string) => {
    const address = parseHostAddress(text);
    if (address === null) return;
    const predecessor = new HttpPrimary({ address, token, version, signal });
    await reportEpoch(epoch, predecessor, { role, log, signal });
  };
  await Promise.all(record.predecessors.map(notify));
}

/** Reports an epoch until the predecessor knows it or a later one, or has another history. */
export async function reportEpoch(
  epoch: KnownEpoch,
  predecessor: Pick<Primary, 'address' | 'state'>,
  { role, log, signal }: Options,
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
