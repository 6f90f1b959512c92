/** `serve`: a catalog on a port, from start to the last response. */
import { freePorts, type HttpServer } from '../http/wire/server.ts';
import { hasStore } from '../store/directory.ts';
import { lastBackupTime } from '../store/files/last-backup.ts';
import { findBootstrap } from './cluster/bootstrap.ts';
import type { Context } from './context.ts';
import { CurrentCatalog } from './hosts/current-catalog.ts';
import { Replica } from './hosts/replica.ts';
import { notifyPredecessors } from './hosts/notify-predecessor.ts';
import { printHints } from './terminal-hints.ts';
import { metricsAddress, Observability } from './observability.ts';
import { runStartupChecks } from './startup-checks.ts';
import type { ServeOptions } from './server-options.ts';
import { firstSignal, REQUESTS_GRACE_MS } from './signals.ts';
import { endStart } from './engine/start-policy.ts';
import { type Processes, processesOf } from './workers/processes.ts';
import { workerPort } from './workers/worker-process.ts';
import { serveWorker } from './workers/worker.ts';

/** Milliseconds for which queued pages are still written; the next start writes the rest. */
const PAGES_GRACE_MS = 5000;

/** Serves until a signal comes, and returns when everything is written. */
export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const port = workerPort(context.env);
  if (port === null) await serveAsOwner(options, context);
  else await serveWorker({ ...options, port }, context);
}

async function serveAsOwner(options: ServeOptions, context: Context): Promise<void> {
  const stop = firstSignal();
  const observability = new Observability(options, context.version);
  process.on('uncaughtException', observability.onFault);
  process.on('unhandledRejection', observability.onFault);
  const current = new CurrentCatalog(options, context, observability);
  const { follow } = options;
  const replica =
    follow === undefined
      ? null
      : openReplica({ ...options, follow }, context, observability, current);
  const processes = processesOf(options, {
    disk: context.disk,
    log: observability.log,
    catalog: () => current.catalog,
  });
  observability.readiness.also(processes.reason);
  const { onDurable } = processes;
  const open = async () => current.use(await current.open(onDurable ? { onDurable } : {}));
  // A mistake in the addresses leaves no new store behind.
  if (!hasStore(options.data, context.disk)) await requireFreePorts(options);
  const bootstrap =
    replica === null
      ? await findBootstrap(options, context, { log: observability.log, open })
      : null;
  if (bootstrap !== null) observability.readiness.also(bootstrap.reason);
  else if (replica === null) await open();
  else await replica.begin();
  // There may be no catalog yet, and no directory.
  if (current.catalog === null) context.disk.mkdir(options.data);
  runStartupChecks(options.data, context.disk, observability.log);
  for (const warning of options.warnings ?? []) observability.log.warn(warning);
  const closeCatalog = (grace: number) =>
    replica === null ? current.catalog?.close(grace) : replica.close(grace);
  const server = await openServer(options, context, {
    observability,
    current,
    processes,
    replica,
  }).catch(async (error: unknown) => {
    current.cancelBackground();
    await closeCatalog(0);
    throw error;
  });
  // Only now: a start that fails has one line, its error.
  if (current.catalog?.store.created === true) {
    context.warn(
      `created an empty store in ${options.data}; to serve another directory, name it with --data`,
    );
  }
  context.print(`listening on ${server.url}`);
  endStart();
  printHints({ url: server.url, basePath: options.basePath, data: options.data }, context);
  const role = replica === null ? current.catalog?.role : undefined;
  const { data: directory } = options;
  const notifying =
    role && notifyPredecessors({ directory, role, log: observability.log }, context);
  const following = replica?.run() ?? bootstrap?.run();
  await (following === undefined ? stop : Promise.race([stop, following.then(() => stop)]));
  observability.readiness.raise('closing');
  current.cancelBackground();
  await notifying?.stop();
  await bootstrap?.stop();
  current.catalog?.changes.endWaits();
  await server.close(REQUESTS_GRACE_MS);
  await closeCatalog(PAGES_GRACE_MS);
  await observability.close();
}

async function requireFreePorts(options: ServeOptions): Promise<void> {
  const { host, port } = options;
  const metrics = metricsAddress(options);
  await freePorts([{ host, port }, ...(metrics === null ? [] : [metrics])]);
}

interface Parts {
  readonly observability: Observability;
  readonly current: CurrentCatalog;
  readonly processes: Processes;
  readonly replica: Replica | null;
}

/** Listens for clients, and for the operator. If it cannot do both, it does neither. */
async function openServer(
  options: ServeOptions,
  context: Context,
  { observability, current, processes, replica }: Parts,
): Promise<HttpServer> {
  const { host, port } = options;
  const { application } = current;
  const settings = { application, host, port, ...observability.serverSettings };
  const server = await processes.listen(settings);
  try {
    await observability.open({
      catalog: () => current.catalog,
      following: () => replica?.figures ?? null,
      server,
      others: processes.figures,
      lastBackup: () => lastBackupTime(context.disk, options.data),
    });
  } catch (error) {
    await server.close(0);
    throw error;
  }
  return server;
}

function openReplica(
  options: ConstructorParameters<typeof Replica>[0],
  context: Context,
  observability: Observability,
  current: CurrentCatalog,
): Replica {
  const replica = new Replica(options, context, {
    log: observability.log,
    open: (seams) => current.open(seams),
    use: (catalog) => current.use(catalog),
  });
  observability.readiness.also(replica.reason);
  return replica;
}
