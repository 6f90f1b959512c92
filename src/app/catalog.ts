/** A catalog without sockets and signals: what `serve` puts on a port, and tests call directly. */
import { FailedAttempts } from '../auth/attempts.ts';
import { LiveCredentials } from '../auth/credentials.ts';
import { Login } from '../auth/login.ts';
import type { PasswordCheck } from '../auth/passwords.ts';
import { TokenVerifier } from '../auth/tokens.ts';
import { messageOf } from '../errors.ts';
import { type Application, createApplication } from '../http/router.ts';
import { PageBuilds } from '../pages/refresh/page-builds.ts';
import type { PageQueue } from '../pages/refresh/queue.ts';
import { openPages } from './open-pages.ts';
import { keepSettings } from '../pages/shop/settings.ts';
import { TemplateSources } from '../pages/render/template-sources.ts';
import { AuditedStore } from '../resources/audit/audited-store.ts';
import { Records } from '../resources/records.ts';
import { Exports } from '../resources/transfer/exports.ts';
import { Imports } from '../resources/transfer/imports.ts';
import { Money } from '../model/money.ts';
import { Undo } from '../resources/audit/undo.ts';
import { Store } from '../store/store.ts';
import type { Monitor } from './catalog-monitor.ts';
import type { Context } from './context.ts';
import { openImportFiles } from './import-files.ts';
import type { ServeOptions } from './server-options.ts';
import { createTokenService } from './token-service.ts';
import { type Changes, type ChangeSeams, openChanges } from './webhooks/open.ts';

export type CatalogOptions = Pick<
  ServeOptions,
  | 'data'
  | 'basePath'
  | 'corsOrigins'
  | 'pages'
  | 'auditSize'
  | 'history'
  | 'protectBooks'
  | 'maxJsonDepth'
  | 'maxJsonElements'
  | 'maxImport'
  | 'pageDelay'
>;

/** What the composition or a test provides: the time, the work of hashing, the memory. */
export interface Seams extends ChangeSeams {
  /** Milliseconds since the epoch; stored times, tokens and failed logins go by it. */
  readonly clock?: { readonly now: () => number };
  readonly verifyPassword?: PasswordCheck;
  /** Called before data is added; throws if memory is scarce. */
  readonly requireRoom?: () => void;
}

/** An open catalog; it owns its data directory. */
export interface Catalog {
  readonly application: Application;
  readonly store: Store;
  readonly pages: PageQueue;
  readonly changes: Pick<Changes, 'endWaits' | 'figures'>;
  /** Writes the pages that wait, for at most `grace` milliseconds, and closes the store. */
  readonly close: (grace: number) => Promise<void>;
}

/**
 * Opens the store, or creates it, and everything that answers requests from it.
 *
 * @throws CatalogError `store_locked`, `store_damaged`, `store_unreadable`,
 *   `schema_version`, `write_refused`, `key_file`, `access_file`, `page_failed`.
 */
export async function openCatalog(
  options: CatalogOptions,
  { disk, env, version }: Context,
  monitor: Monitor,
  seams: Seams = {},
): Promise<Catalog> {
  const { clock, verifyPassword, requireRoom } = seams;
  const { data, auditSize: auditBytes } = options;
  // A mistake in the settings is better reported before anything is opened.
  void new TemplateSources(disk, options.pages.templates);
  const store = await openStore(options, disk, monitor);
  try {
    const credentials = await LiveCredentials.open(data, env['CATALOG_JWT_SECRET']);
    await keepSettings(disk, data, options.pages).catch(
      monitor.failed('rebuild-pages will not know the settings of pages'),
    );
    const pages = openPages(
      options,
      store,
      disk,
      monitor.failed('a page could not be written and is tried again'),
    );
    const attempts = new FailedAttempts(undefined, clock);
    const login = await Login.create(credentials, verifyPassword, attempts);
    const audited = new AuditedStore(store, { now: clock?.now, auditBytes, requireRoom });
    const imports = await openImports(options, audited, disk, monitor);
    const changes = await openChanges(data, audited, { disk, version }, monitor, seams);
    const application = createApplication({
      records: new Records(audited),
      undo: new Undo(audited),
      changes: changes.feed,
      webhooks: changes.webhooks,
      exports: new Exports(store, new Money(options.pages.currency), clock?.now),
      imports,
      ...(options.maxImport !== undefined && { maxImport: options.maxImport }),
      tokens: new TokenVerifier(credentials, clock?.now),
      tokenService: createTokenService(login, data, disk),
      page: (name) => pages.served.read(name),
      pageBuilds: new PageBuilds(pages.queue, (id) => store.get('skus', id) !== undefined),
      basePath: options.basePath,
      corsOrigins: options.corsOrigins,
      version,
      protectBooks: options.protectBooks === true,
      jsonLimits: { depth: options.maxJsonDepth, elements: options.maxJsonElements },
      readiness: monitor.readiness.reason,
      onFault: (requestId, error) =>
        monitor.log.failure(`request ${requestId} failed: ${messageOf(error)}`, error),
    });
    return {
      application,
      store,
      pages: pages.queue,
      changes,
      async close(grace) {
        await imports.close();
        await changes.close();
        await pages.queue.drain(grace);
        pages.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(
  { data: directory, history }: CatalogOptions,
  disk: Context['disk'],
  { failed, fatal: onFatal, observer }: Monitor,
): Promise<Store> {
  const onError = failed('the store goes on, but');
  const serving = { directory, command: 'serve', create: true };
  return Store.open({ ...serving, disk, history, onError, onFatal, observer });
}

async function openImports(
  { data, pages }: CatalogOptions,
  audited: AuditedStore,
  disk: Context['disk'],
  monitor: Monitor,
): Promise<Imports> {
  return Imports.open({
    audited,
    money: new Money(pages.currency),
    storage: await openImportFiles(disk, data),
    onError: monitor.failed('an import could not be kept'),
  });
}
