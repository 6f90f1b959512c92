/** `serve`: the composition root, from start to the last answer. */
import { loadKeys } from '../auth/keys.ts';
import { TokenVerifier } from '../auth/tokens.ts';
import { FileLock } from '../disk/lock.ts';
import { messageOf } from '../errors.ts';
import { createApplication } from '../http/router.ts';
import { startServer } from '../http/server.ts';
import { PageFiles } from '../pages/files.ts';
import { PageQueue, pagesLockPath } from '../pages/queue.ts';
import { PAGE_POLICY } from '../pages/render.ts';
import { Records } from '../resources/records.ts';
import { Store } from '../store/store.ts';
import type { Context } from './context.ts';

/** Milliseconds that requests under way have to be answered once a signal has come. */
const GRACE = 10_000;

/** Milliseconds within which a second SIGINT is the first one, passed on. */
const PASSED_ON = 20;

export interface ServeOptions {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  /** Bytes. */
  readonly maxBody: number;
  readonly corsOrigins: readonly string[];
  /** Bytes of the audit trail. */
  readonly auditSize: number;
}

/** Serves until a signal comes, and returns when everything is written. */
export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const { data, host, port, basePath, maxBody, corsOrigins, auditSize } = options;
  const stop = firstSignal();
  const failed = (what: string) => (error: unknown) =>
    context.warn(`${what}: ${messageOf(error)}`, error);
  const store = await Store.open({
    directory: data,
    command: 'serve',
    create: true,
    disk: context.disk,
    failed: failed('the store goes on, but'),
    fatal(error) {
      context.warn(`the store cannot go on: ${messageOf(error)}; start again`, error);
      process.exit(1);
    },
  });
  const keys = await loadKeys(data, context.env['CATALOG_JWT_SECRET']);
  const files = new PageFiles(context.disk, data);
  files.prepare();
  const pages = new PageQueue(
    store,
    files,
    new FileLock(pagesLockPath(data)),
    failed('a page could not be written and is tried again'),
  );
  const application = createApplication({
    records: new Records(store, Date.now, auditSize),
    tokens: new TokenVerifier(keys),
    page: async (sku) => {
      const page = await files.read(`${sku}.html`);
      return page && { ...page, type: 'text/html; charset=utf-8', policy: PAGE_POLICY };
    },
    basePath,
    corsOrigins,
    version: context.version,
    report: (requestId, error) =>
      context.warn(`request ${requestId} failed: ${messageOf(error)}`, error),
  });
  const server = await startServer(application, host, port, failed('an answer could not be sent'), {
    body: maxBody,
  });
  pages.compareAll();
  context.print(`listening on ${server.url}`);
  await stop;
  await server.close(GRACE);
  await pages.drain();
  await store.close();
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
    process.on('SIGINT', () => end(130, PASSED_ON));
    process.on('SIGTERM', () => end(143, 0));
  });
}
