/** The service of a host for other hosts, and its role among them. */
import type { CredentialSource } from '../../auth/credentials.ts';
import { secretFingerprint, WatchedCredentialFiles } from '../../auth/sharing/credential-files.ts';
import { HostRole } from '../../hosts/primary/host-role.ts';
import { Hosts } from '../../hosts/primary/host-service.ts';
import type { Store } from '../../store/store.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import type { Changes } from '../webhooks/open.ts';

/** What the composition or a test provides. */
export interface HostSeams {
  /** For a host that follows another one: limits its credentials to those that count. */
  readonly confirmed?: (credentials: CredentialSource) => CredentialSource;
  /** Milliseconds after which an idle stream of change sets gets an empty line. */
  readonly emptyLineMs?: number;
}

/** @returns the service for other hosts, and the role of this host among them. */
export function openHosts(
  { data: directory, followers = false }: { readonly data: string; readonly followers?: boolean },
  { store, changes }: { readonly store: Store; readonly changes: Changes },
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
  { emptyLineMs, confirmed }: HostSeams,
): { readonly role: HostRole; readonly hosts: Hosts } {
  const onSucceeded = (message: string) => {
    monitor.log.warn(message);
    void changes
      .endDeliveries()
      .catch(monitor.onError('deliveries to webhooks could not be stopped'));
  };
  const role = new HostRole({
    disk,
    directory,
    store,
    follows: confirmed !== undefined,
    onSucceeded,
  });
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
