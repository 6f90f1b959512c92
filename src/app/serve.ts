/** `serve`: a catalog on a port, from start to the last response. */
import { trustIn } from '../http/wire/client-address.ts';
import { startServer } from '../http/wire/server.ts';
import { lastBackupTime } from '../store/files/last-backup.ts';
import type { Context } from './context.ts';
import { CurrentCatalog } from './hosts/current-catalog.ts';
import { Replica } from './hosts/replica.ts';
import { tellPredecessor } from './hosts/succession.ts';
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
  const current = new CurrentCatalog(options, context, operation);
  const { follow } = options;
  const replica =
    follow === undefined ? null : openReplica({ ...options, follow }, context, operation, current);
  if (replica === null) current.use(await current.open({}));
  else await replica.begin();
  // There may be no catalog yet, and no directory.
  if (replica !== null) context.disk.mkdir(options.data);
  takePrecautions(options.data, operation.log);
  const server = await startServer({
    application: current.application,
    host: options.host,
    port: options.port,
    onError: operation.failed('an answer could not be sent'),
    listener: operation.listener,
    trusts: trustIn(options.trustProxy ?? []),
    limits: operation.limits,
    isMemoryScarce: operation.memory.isScarce,
  });
  await operation.open({
    catalog: () => current.catalog,
    following: () => replica?.figures ?? null,
    server,
    lastBackup: () => lastBackupTime(context.disk, options.data),
  });
  // Only now: a start that fails has one line, its error.
  if (current.catalog?.store.created === true) {
    context.warn(
      `created an empty store in ${options.data}; to serve another directory, name it with --data`,
    );
  }
  context.print(`listening on ${server.url}`);
  greet({ url: server.url, basePath: options.basePath, data: options.data }, context);
  const role = replica === null ? current.catalog?.role : undefined;
  const { data: directory } = options;
  const telling = role && tellPredecessor({ directory, role, log: operation.log }, context);
  await (replica === null ? stop : Promise.race([stop, replica.run().then(() => stop)]));
  operation.readiness.raise('closing');
  await telling?.stop();
  current.catalog?.changes.endWaits();
  await server.close(REQUESTS_GRACE_MS);
  if (replica !== null) await replica.close(PAGES_GRACE_MS);
  else await current.catalog?.close(PAGES_GRACE_MS);
  await operation.close();
}

function openReplica(
  options: ConstructorParameters<typeof Replica>[0],
  context: Context,
  operation: Operation,
  current: CurrentCatalog,
): Replica {
  const replica = new Replica(options, context, {
    log: operation.log,
    open: (seams) => current.open(seams),
    use: (catalog) => current.use(catalog),
  });
  operation.readiness.also(replica.reason);
  return replica;
}
