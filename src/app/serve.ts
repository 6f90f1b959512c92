/** `serve`: the composition root, from start to the last answer. */
import { LiveCredentials } from '../auth/credentials.ts';
import { TokenVerifier } from '../auth/tokens.ts';
import { FileLock } from '../disk/lock.ts';
import { messageOf } from '../errors.ts';
import { createApplication } from '../http/router.ts';
import { startServer } from '../http/wire/server.ts';
import { PageFiles } from '../pages/refresh/files.ts';
import { PageBuilds } from '../pages/refresh/page-builds.ts';
import { PageQueue, pagesLockPath } from '../pages/refresh/queue.ts';
import { keepSettings } from '../pages/shop/settings.ts';
import { Site } from '../pages/shop/site.ts';
import { Templates } from '../pages/shop/templates.ts';
import { Records } from '../resources/records.ts';
import { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { Operation } from './operation.ts';
import type { ServeOptions } from './server-options.ts';
import { trustIn } from '../http/wire/client-address.ts';
import { takePrecautions } from './precautions.ts';
import { createTokenService } from './token-service.ts';

/** Milliseconds that requests under way have to be answered once a signal has come. */
const SHUTDOWN_GRACE_MS = 10_000;

/** Milliseconds within which a second SIGINT is the first one, passed on. */
const REPEATED_SIGNAL_MS = 20;

/** Serves until a signal comes, and returns when everything is written. */
export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const { data, host, port, basePath, corsOrigins, auditSize } = options;
  const stop = firstSignal();
  const site = new Site(new Templates(context.disk, options.pages.templates), options.pages);
  const operation = new Operation(options, context.version);
  const { log, readiness } = operation;
  const store = await Store.open({
    directory: data,
    command: 'serve',
    create: true,
    disk: context.disk,
    onError: operation.failed('the store goes on, but'),
    onFatal: operation.fatal,
    observer: operation.observer,
  });
  takePrecautions(data, log);
  const credentials = await LiveCredentials.open(data, context.env['CATALOG_JWT_SECRET']);
  const files = new PageFiles(context.disk, data);
  files.prepare();
  await keepSettings(context.disk, data, options.pages).catch(
    operation.failed('rebuild-pages will not know the settings of pages'),
  );
  const pages = new PageQueue(
    store,
    site,
    files,
    new FileLock(pagesLockPath(data)),
    operation.failed('a page could not be written and is tried again'),
  );
  const application = createApplication({
    records: new Records(store, Date.now, auditSize),
    tokens: new TokenVerifier(credentials),
    tokenService: await createTokenService(credentials, data, context.disk),
    page: (name) => files.read(name),
    pageBuilds: new PageBuilds(pages, (id) => store.get('skus', id) !== undefined),
    basePath,
    corsOrigins,
    version: context.version,
    protectBooks: options.protectBooks === true,
    jsonLimits: { depth: options.maxJsonDepth, elements: options.maxJsonElements },
    readiness: readiness.reason,
    onFault: (requestId, error) =>
      log.failure(`request ${requestId} failed: ${messageOf(error)}`, error),
  });
  const server = await startServer({
    application,
    host,
    port,
    onError: operation.failed('an answer could not be sent'),
    watcher: operation.watcher,
    trusts: trustIn(options.trustProxy ?? []),
    limits: operation.limits,
  });
  await operation.open({ store, pages, server });
  pages.build({ stale: true, skus: null });
  context.print(`listening on ${server.url}`);
  await stop;
  readiness.closing = true;
  await server.close(SHUTDOWN_GRACE_MS);
  await pages.drain(SHUTDOWN_GRACE_MS);
  await store.close();
  await operation.close();
}

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. One Ctrl-C comes
 * twice where npm or Bun passes on what the terminal has delivered already: that counts once.
 */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const end = (status: number, same: number) => {
      const now = performance.now();
      if (first !== null && now - first > same) process.exit(status);
      first ??= now;
      resolve();
    };
    process.on('SIGINT', () => end(130, REPEATED_SIGNAL_MS));
    process.on('SIGTERM', () => end(143, 0));
  });
}
