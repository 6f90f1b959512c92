/** A catalog without sockets and signals: `serve` puts it on a port, tests call it directly. */
import { FailedAttempts } from '../auth/attempts.ts';
import { LiveCredentials } from '../auth/credentials.ts';
import type { HostRole } from '../hosts/primary/host-role.ts';
import type { Hosts } from '../hosts/primary/host-service.ts';
import { secretKeys } from '../auth/keys.ts';
import { Login } from '../auth/login.ts';
import { Renewals } from '../auth/renewals.ts';
import type { SharedFiles } from '../auth/sharing/shared-files.ts';
import { TokenVerifier } from '../auth/tokens.ts';
import { onceOpened, openConsole } from '../console/open.ts';
import { diskSpace } from '../disk/free-space.ts';
import { type Application, createApplication } from '../http/application.ts';
import { PageBuilds } from '../pages/refresh/page-builds.ts';
import type { PageQueue } from '../pages/refresh/queue.ts';
import { openPages, type Pages } from './open-pages.ts';
import { keepSavingSettings } from '../pages/shop/settings.ts';
import { TemplateSources } from '../pages/render/template-sources.ts';
import { AuditedStore } from '../resources/audit/audited-store.ts';
import { lastBackupTime } from '../store/files/last-backup.ts';
import type { Store } from '../store/store.ts';
import { type Archive, archivePlace, openArchive } from './archive/open.ts';
import { openStore } from './open-store.ts';
import type { Monitor } from './catalog-monitor.ts';
import type { Context } from './context.ts';
import { openHosts } from './hosts/open.ts';
import { openImports } from './imports/open.ts';
import { ALONE, type Membership } from './hosts/membership.ts';
import type { Seams } from './seams.ts';
import type { ServeOptions } from './server-options.ts';
import type { ReadinessDetails } from '../http/services.ts';
import { commonOptions } from './services/common-options.ts';
import { Summaries } from './services/summary.ts';
import { Previews } from './services/previews.ts';
import { Users } from './services/users.ts';
import { createTokenService } from './services/token-service.ts';
import { type Changes, openChanges } from './webhooks/open.ts';

export type CatalogOptions = Pick<
  ServeOptions,
  | 'data'
  | 'basePath'
  | 'corsOrigins'
  | 'pages'
  | 'auditSize'
  | 'history'
  | 'checkpointSize'
  | 'protectBooks'
  | 'maxJsonDepth'
  | 'maxJsonElements'
  | 'maxImport'
  | 'sendTimeout'
  | 'pageDelay'
  | 'archive'
  | 'archiveKey'
  | 'archiveKeep'
  | 'followers'
>;

/** An open catalog; it owns its data directory. */
export interface Catalog {
  readonly application: Application;
  readonly store: Store;
  readonly pages: PageQueue;
  readonly changes: Pick<Changes, 'arrivals' | 'endWaits' | 'figures' | 'feed'>;
  readonly archive: Pick<Archive, 'figures'>;
  readonly readinessDetails: () => ReadinessDetails;
  readonly hosts: Hosts;
  readonly role: HostRole;
  readonly membership: Pick<Membership, 'figures'>;
  /** Writes the pages that wait, for at most `grace` milliseconds, and closes the store. */
  readonly close: (grace: number) => Promise<void>;
}

/**
 * Opens the store, or creates it, and everything that answers requests from it.
 *
 * @param membership how the host works with others.
 * @throws CatalogError `store_locked`, `store_damaged`, `store_unreadable`,
 *   `schema_version`, `write_refused`, `key_file`, `access_file`, `page_failed`, `encryption`.
 */
export async function openCatalog(
  options: CatalogOptions,
  context: Context,
  monitor: Monitor,
  membership: Membership = ALONE,
  seams: Seams = {},
): Promise<Catalog> {
  // Reports a mistake in the settings before anything is opened.
  void new TemplateSources(context.disk, options.pages.templates);
  const { CATALOG_JWT_SECRET: secret } = context.env;
  if (secret !== undefined) secretKeys(secret);
  void archivePlace(options, context, seams);
  await using ifFailed = new AsyncDisposableStack();
  const opened = ifFailed.use(new AsyncDisposableStack());
  const catalog = await compose(opened, options, context, monitor, membership, seams);
  ifFailed.move();
  return catalog;
}

/**
 * Opens the parts, each one after those that it writes to. So they are closed in reverse order.
 *
 * @param opened closes what was opened.
 */
async function compose(
  opened: AsyncDisposableStack,
  options: CatalogOptions,
  { disk, env, version }: Context,
  monitor: Monitor,
  membership: Membership,
  seams: Seams,
): Promise<Catalog> {
  const { data, auditSize: auditBytes } = options;
  const { clock, openConsole: open = openConsole } = seams;
  const { requireRoom } = monitor.memory;
  const store = await openStore(options, disk, monitor, membership);
  opened.defer(() => store.close());
  opened.defer(membership.close);
  await membership.join(store);
  const { shared, deliveries } = membership;
  const archive = openArchive(options, store, { disk, env }, monitor, seams);
  opened.defer(archive.close);
  const pages = openPages(options, store, disk, monitor, seams);
  let pagesGrace = 0;
  opened.defer(() => pages.close(pagesGrace));
  const { credentials, login, renewals } = await openAccess(data, env, shared, seams);
  const audited = new AuditedStore(store, { now: clock?.now, auditBytes, requireRoom });
  const changes = await openChanges(data, audited, { disk, version }, monitor, seams, deliveries);
  opened.defer(changes.close);
  await changes.start();
  const settings = { ...options, follows: membership.follows };
  const { role, hosts } = openHosts(settings, { store, changes }, { disk, env }, monitor, seams);
  const importing = { ...options, amongHosts: shared !== undefined };
  const { imports, close: endImports } = await openImports(importing, audited, disk, monitor);
  opened.defer(endImports);
  // Only now: a start that fails has one line, its error.
  opened.defer(await savingSettings(options, disk, monitor));
  archive.start();
  const readinessDetails = () => ({ ...archive.details(), ...membership.details() });
  const application = createApplication({
    ...commonOptions(options, audited, monitor, version, clock?.now),
    changes: changes.feed,
    webhooks: changes.webhooks,
    imports,
    tokens: new TokenVerifier(membership.confirmed(credentials), clock?.now),
    tokenService: createTokenService(login, renewals, { data, disk, shared }),
    users: openUsers(options, { credentials, shared, login, audited }, disk, monitor),
    page: (name, client) => pages.served.read(name, client),
    summary: openSummaries(options, { store, pages }, disk, monitor, seams),
    hosts,
    previews: new Previews(store, pages.previews),
    pageBuilds: new PageBuilds(pages.queue, store),
    forwarding: (executor, request) =>
      executor === 'writer' ? membership.forwarding(request) : null,
    readiness: () => monitor.readiness.reason() ?? role.reason(),
    readinessDetails,
    openConsole: onceOpened(open),
  });
  return {
    application,
    store,
    pages: pages.queue,
    changes,
    archive,
    readinessDetails,
    membership,
    hosts,
    role,
    close(grace) {
      pagesGrace = grace;
      return opened.disposeAsync();
    },
  };
}

/** @returns what ends the attempts to save the settings of pages. */
function savingSettings(
  { data, pages }: CatalogOptions,
  disk: Context['disk'],
  monitor: Monitor,
): Promise<() => Promise<void>> {
  return keepSavingSettings(
    disk,
    data,
    pages,
    monitor.onError('the page settings could not be saved for rebuild-pages; this is tried again'),
  );
}

async function openAccess(
  directory: string,
  env: Context['env'],
  shared: SharedFiles | undefined,
  { clock, verifyPassword }: Seams,
) {
  const secret = env['CATALOG_JWT_SECRET'];
  const credentials = await LiveCredentials.open(directory, secret, { shared });
  const attempts = new FailedAttempts({ clock });
  const login = new Login(credentials, verifyPassword, attempts);
  return { credentials, login, renewals: new Renewals(credentials, clock?.now) };
}

function openUsers(
  { data }: CatalogOptions,
  parts: {
    readonly credentials: LiveCredentials;
    readonly shared: SharedFiles | undefined;
    readonly login: Login;
    readonly audited: AuditedStore;
  },
  disk: Context['disk'],
  monitor: Monitor,
): Users {
  const { credentials, shared, login, audited } = parts;
  return new Users({
    directory: data,
    disk,
    credentials,
    shared,
    hash: (password) => login.hash(password),
    audited,
    onError: monitor.onError('the audit trail has an entry for a change that was not made'),
  });
}

function openSummaries(
  { data, pages: { currency } }: CatalogOptions,
  { store, pages }: { readonly store: Store; readonly pages: Pages },
  disk: Context['disk'],
  monitor: Monitor,
  { clock, freeSpace = async () => diskSpace(data).free }: Seams,
): Summaries {
  return new Summaries({
    store,
    pages: pages.queue,
    currency,
    freeSpace,
    lastBackup: () => lastBackupTime(disk, data),
    isMemoryScarce: monitor.memory.isScarce,
    reason: monitor.readiness.reason,
    now: clock?.now ?? Date.now,
    onError: monitor.onError('the summary is incomplete'),
  });
}
