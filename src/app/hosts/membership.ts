/** How a host works with other hosts, and what that means for its catalog. */
import type { CurrentCredentials } from '../../auth/credentials.ts';
import type { SharedFiles } from '../../auth/sharing/shared-files.ts';
import type { Cluster } from '../../hosts/cluster/cluster.ts';
import type { HttpRequest } from '../../http/message.ts';
import type { Forward } from '../../http/application.ts';
import type { ReadinessDetails } from '../../http/services.ts';
import type { Store } from '../../store/store.ts';
import type { Delivering } from '../webhooks/open.ts';

/** One object for each way to work with other hosts. */
export interface Membership {
  /** Whether this host follows another one: then there has to be a store, and it takes no writes. */
  readonly follows: boolean;
  readonly storeOptions: Pick<Parameters<typeof Store.open>[0], 'origin' | 'shared' | 'onDurable'>;
  /** Joins the other hosts when the store is open. @throws CatalogError if this host may not. */
  readonly join: (store: Store) => Promise<void>;
  /** The originals of the accounts and keys; undefined if they are those of this host. */
  readonly shared: SharedFiles | undefined;
  /** Limits the credentials of this host to those that count. */
  readonly confirmed: (own: CurrentCredentials) => CurrentCredentials;
  readonly deliveries: Delivering;
  /** What carries out a write; null if this host does. */
  readonly forwarding: (request: HttpRequest) => Forward | null;
  /** How far this host is behind the one that it follows, if it follows one. */
  readonly details: () => ReadinessDetails;
  /** Null if this host shares no log. */
  readonly figures: () => Cluster['figures'] | null;
  /** Leaves the other hosts, also if {@link join} has failed. */
  readonly close: () => Promise<void>;
}

/** A host that needs no other; the others differ from it. */
export const ALONE: Membership = {
  follows: false,
  storeOptions: {},
  join: async () => {},
  shared: undefined,
  confirmed: (own) => own,
  deliveries: 'always',
  forwarding: () => null,
  details: () => ({}),
  figures: () => null,
  close: async () => {},
};
