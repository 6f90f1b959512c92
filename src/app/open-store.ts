/** Opens the store of a server. */
import { Store } from '../store/store.ts';
import type { Monitor } from './catalog-monitor.ts';
import type { Context } from './context.ts';
import type { Membership } from './hosts/membership.ts';

interface Settings {
  readonly data: string;
  readonly history: number;
  readonly checkpointSize: number;
}

/** @throws CatalogError as {@link Store.open}. */
export function openStore(
  { data, history, checkpointSize: smallestCheckpoint }: Settings,
  disk: Context['disk'],
  monitor: Monitor,
  { follows, storeOptions }: Membership,
): Promise<Store> {
  return Store.open({
    ...storeOptions,
    directory: data,
    command: 'serve',
    create: !follows,
    follows,
    disk,
    mapsBase: true,
    history,
    smallestCheckpoint,
    onError: monitor.onError('the store continues despite an error'),
    onFatal: monitor.onFatal,
    observer: monitor.observer,
  });
}
