/** `serve`: a catalog on a port, from start to the last response. */
import { freePorts } from '../http/wire/server.ts';
import { hasStore } from '../store/directory.ts';
import { lastBackupTime } from '../store/files/last-backup.ts';
import { requireNoArchive } from './archive/open.ts';
import { openCluster } from './cluster/open.ts';
import type { Context } from './context.ts';
import { ClusterHost } from './hosts/cluster-host.ts';
import { CurrentCatalog } from './hosts/current-catalog.ts';
import type { Host, HostParts } from './hosts/host.ts';
import { PrimaryHost } from './hosts/primary-host.ts';
import { FollowerHost } from './hosts/follower-host.ts';
import { ALONE } from './hosts/membership.ts';
import { printHints } from './terminal-hints.ts';
import { metricsAddress, Observability } from './observability.ts';
import { runStartupChecks } from './startup-checks.ts';
import type { ServeOptions } from './server-options.ts';
import { firstSignal, REQUESTS_GRACE_MS, unlessStopped } from './signals.ts';
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
  const { log, readiness } = observability;
  const current = new CurrentCatalog(options, context, observability);
  const parts = { disk: context.disk, log, catalog: () => current.catalog };
  const processes = processesOf(options, parts);
  const host = hostOf({ options, context, observability, current }, processes);
  for (const { reason } of [processes, host]) readiness.also(reason);
  // A start that fails waits for nothing.
  let grace = { requests: 0, pages: 0 };
  await using opened = new AsyncDisposableStack();
  opened.defer(() => observability.close());
  // A mistake in the addresses leaves no new store behind.
  if (!hasStore(options.data, context.disk)) {
    requireNoArchive(options.data, context.disk);
    await requireFreePorts(options);
  }
  opened.defer(() => host.close(grace.pages));
  await host.begin(stop);
  // There may be no catalog yet, and no directory.
  if (current.catalog === null) context.disk.mkdir(options.data);
  runStartupChecks(options, context.disk, log);
  for (const warning of options.warnings ?? []) log.warn(warning);
  const listening = processes.listen({
    application: current.application,
    host: options.host,
    port: options.port,
    ...observability.serverSettings,
  });
  const server = await unlessStopped(stop, listening);
  if (server === null) return;
  opened.defer(async () => void (await server.close(grace.requests)));
  await observability.open({
    catalog: () => current.catalog,
    following: host.following,
    server,
    others: processes.figures,
    lastBackup: () => lastBackupTime(context.disk, options.data),
  });
  // Only now: a start that fails has one line, its error.
  announce(server.url, options, context, current.catalog?.store.created === true);
  opened.defer(() => current.endWaits());
  opened.defer(() => host.stop());
  await Promise.race([stop, host.run().then(() => stop)]);
  readiness.raise('closing');
  grace = { requests: REQUESTS_GRACE_MS, pages: PAGES_GRACE_MS };
}

/** Chooses the host. Nothing is opened yet. @throws CatalogError `usage`. */
function hostOf(parts: HostParts, { onDurable }: Processes): Host {
  const { options } = parts;
  const { follow, log } = options;
  if (log !== undefined) return new ClusterHost(openCluster({ ...options, log }), parts);
  if (follow !== undefined) return new FollowerHost(follow, parts);
  return new PrimaryHost(parts, { ...ALONE, storeOptions: { onDurable } });
}

function announce(url: string, options: ServeOptions, context: Context, created: boolean): void {
  const { data, basePath } = options;
  if (created) {
    context.warn(
      `created an empty store in ${data}; to serve another directory, name it with --data`,
    );
  }
  context.print(`listening on ${url}`);
  endStart();
  printHints({ url, basePath, data }, context);
}

async function requireFreePorts(options: ServeOptions): Promise<void> {
  const { host, port } = options;
  const metrics = metricsAddress(options);
  await freePorts([{ host, port }, ...(metrics === null ? [] : [metrics])]);
}
