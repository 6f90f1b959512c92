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
import { ChangeFeed } from '../resources/changes/change-feed.ts';
import { ChangeSource } from '../resources/changes/change-source.ts';
import { Undo } from '../resources/audit/undo.ts';
import type { StoreObserver } from '../store/observer.ts';
import { Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import type { Context } from './context.ts';
import { openImportFiles } from './import-files.ts';
import type { Readiness } from './readiness.ts';
import type { ServeOptions } from './server-options.ts';
import { createTokenService } from './token-service.ts';

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

/** Where a catalog reports its work and its failures. */
export interface Monitor {
  readonly log: Pick<Log, 'failure'>;
  readonly readiness: Pick<Readiness, 'reason'>;
  readonly observer: StoreObserver;
  /** @returns a callback for failures of this kind that the catalog survives. */
  readonly failed: (what: string) => (error: unknown) => void;
  /** Called if memory or disk can no longer be known; the process has to end. */
  readonly fatal: (error: unknown) => void;
}

/** What the composition or a test provides: the time, the work of hashing, the memory. */
export interface Seams {
  /** Milliseconds since the epoch; stored times, tokens and failed logins go by it. */
  readonly clock?: { readonly now: () => number };
  readonly verifyPassword?: PasswordCheck;
  /** Milliseconds after which a stream of changes without events gets a comment. */
  readonly commentMs?: number;
  /** Called before data is added; throws if memory is scarce. */
  readonly requireRoom?: () => void;
}

/** An open catalog; it owns its data directory. */
export interface Catalog {
  readonly application: Application;
  readonly store: Store;
  readonly pages: PageQueue;
  /** Answers the requests that wait for changes, and ends the streams of changes. */
  readonly endWaits: () => void;
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
  const store = await Store.open({
    directory: data,
    command: 'serve',
    create: true,
    disk,
    history: options.history,
    onError: monitor.failed('the store goes on, but'),
    onFatal: monitor.fatal,
    observer: monitor.observer,
  });
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
    const source = new ChangeSource(store);
    const application = createApplication({
      records: new Records(audited),
      undo: new Undo(audited),
      changes: new ChangeFeed(source, { commentMs: seams.commentMs }),
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
      endWaits: () => source.arrivals.close(),
      async close(grace) {
        source.arrivals.close();
        await imports.close();
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
