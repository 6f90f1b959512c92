/** The service of a host for other hosts, and its role among them. */
import { secretFingerprint, WatchedCredentialFiles } from '../../auth/sharing/credential-files.ts';
import { HostRole } from '../../hosts/primary/host-role.ts';
import { Hosts } from '../../hosts/primary/host-service.ts';
import type { Store } from '../../store/store.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import type { Seams } from '../seams.ts';
import type { Changes } from '../webhooks/open.ts';

interface Settings {
  /** The data directory. */
  readonly data: string;
  /** Whether other hosts may follow this one. */
  readonly followers?: boolean;
  /** Whether this host follows another one. */
  readonly follows: boolean;
}

/** @returns the service for other hosts, and the role of this host among them. */
export function openHosts(
  { data: directory, followers = false, follows }: Settings,
  { store, changes }: { readonly store: Store; readonly changes: Changes },
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
  { emptyLineMs }: Seams,
): { readonly role: HostRole; readonly hosts: Hosts } {
  const onSucceeded = (message: string) => {
    monitor.log.warn(message);
    void changes
      .endDeliveries()
      .catch(monitor.onError('deliveries to webhooks could not be stopped'));
  };
  const role = new HostRole({ disk, directory, store, follows, onSucceeded });
  const secret = env['CATALOG_JWT_SECRET'];
  const hosts = new Hosts({
    store,
    role,
    files: new WatchedCredentialFiles(directory, secret === undefined),
    secret: secretFingerprint(secret),
    arrivals: changes.arrivals,
    givesCredentials: followers,
    emptyLineMs,
  });
  return { role, hosts };
}
