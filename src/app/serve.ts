/** `serve`: a catalog on a port, from start to the last response. */
import { trustIn } from '../http/wire/client-address.ts';
import { startServer } from '../http/wire/server.ts';
import { lastBackupTime } from '../store/files/last-backup.ts';
import { openCatalog } from './catalog.ts';
import type { Context } from './context.ts';
import { greet } from './greeting.ts';
import { Operation } from './operation.ts';
import { takePrecautions } from './precautions.ts';
import type { ServeOptions } from './server-options.ts';
import { firstSignal } from './signals.ts';

/** Milliseconds that requests under way have to be answered after a signal. */
const REQUESTS_GRACE_MS = 10_000;

/** Milliseconds for which queued pages are still written; the next start writes the rest. */
const PAGES_GRACE_MS = 5000;

/** Serves until a signal comes, and returns when everything is written. */
export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const stop = firstSignal();
  const operation = new Operation(options, context.version);
  process.on('uncaughtException', operation.onFault);
  process.on('unhandledRejection', operation.onFault);
  const { application, store, pages, changes, archive, close } = await openCatalog(
    options,
    context,
    operation,
    {
      requireRoom: operation.memory.requireRoom,
      isMemoryScarce: operation.memory.isScarce,
    },
  );
  takePrecautions(options.data, operation.log);
  const server = await startServer({
    application,
    host: options.host,
    port: options.port,
    onError: operation.failed('an answer could not be sent'),
    listener: operation.listener,
    trusts: trustIn(options.trustProxy ?? []),
    limits: operation.limits,
    isMemoryScarce: operation.memory.isScarce,
  });
  const lastBackup = () => lastBackupTime(context.disk, options.data);
  await operation.open({ store, pages, changes, archive, server, lastBackup });
  pages.compare();
  // Only now: a start that fails has one line, its error.
  if (store.created) {
    context.warn(
      `created an empty store in ${options.data}; to serve another directory, name it with --data`,
    );
  }
  context.print(`listening on ${server.url}`);
  greet({ url: server.url, basePath: options.basePath, data: options.data }, context);
  await stop;
  operation.readiness.raise('closing');
  changes.endWaits();
  await server.close(REQUESTS_GRACE_MS);
  await close(PAGES_GRACE_MS);
  await operation.close();
}
