/**
 * The application of a worker: requests that need only the state are answered here, and the owner
 * of the data directory carries out the others.
 */
import { LiveCredentials } from '../../auth/credentials.ts';
import { TokenVerifier } from '../../auth/tokens.ts';
import { onceOpened, openConsole } from '../../console/open.ts';
import { type Application, createApplication, type Forward } from '../../http/application.ts';
import type { Services } from '../../http/services.ts';
import { AuditedStore } from '../../resources/audit/audited-store.ts';
import { ChangeFeed } from '../../resources/changes/change-feed.ts';
import { ChangeSource } from '../../resources/changes/change-source.ts';
import type { Store } from '../../store/store.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import type { ServeOptions } from '../server-options.ts';
import { commonOptions } from '../services/common-options.ts';

/** The services that only the owner has. */
type OwnersServices = Omit<
  Services,
  | 'records'
  | 'undo'
  | 'changes'
  | 'exports'
  | 'tokens'
  | 'jsonLimits'
  | 'openConsole'
  | 'description'
>;

export interface ReadingCatalog {
  readonly application: Application;
  /** Requests that wait for changes, and streams. */
  readonly changeReaders: () => number;
  /** Answers the requests that wait for changes, and ends the streams. */
  readonly endWaits: () => void;
}

/**
 * @param forward passes a request on to the owner.
 * @throws CatalogError `key_file`, `access_file`.
 */
export async function openReadingCatalog(
  options: ServeOptions,
  store: Store,
  { env, version }: Pick<Context, 'env' | 'version'>,
  monitor: Pick<Monitor, 'log'>,
  forward: Forward,
): Promise<ReadingCatalog> {
  const credentials = await LiveCredentials.open(options.data, env['CATALOG_JWT_SECRET']);
  const audited = new AuditedStore(store);
  const source = new ChangeSource(store);
  const changes = new ChangeFeed(source, { mayBeBehind: true });
  const application = createApplication({
    ...OWNERS_SERVICES,
    ...commonOptions(options, audited, monitor, version),
    changes,
    tokens: new TokenVerifier(credentials),
    forwarding: () => forward,
    openConsole: onceOpened(openConsole),
  });
  return {
    application,
    changeReaders: () => changes.open,
    endWaits: () => source.arrivals.close(),
  };
}

/** The router passes on every request that needs one of these; a use of one is a defect. */
const atOwner = new Proxy(
  {},
  {
    get(_, member) {
      throw new Error(`${String(member)} is used in a worker; only the owner has it`);
    },
  },
) as never;

const OWNERS_SERVICES: OwnersServices = {
  webhooks: atOwner,
  imports: atOwner,
  tokenService: atOwner,
  users: atOwner,
  page: atOwner,
  summary: atOwner,
  previews: atOwner,
  pageBuilds: atOwner,
  hosts: atOwner,
  readiness: atOwner,
  readinessDetails: atOwner,
};
