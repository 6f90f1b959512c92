/**
 * `serve`: a catalog on a port, from start to the last response.
 *
 * Order of a start: the host opens its catalog; clients are served; the metrics are served; the host
 * begins its own work. A start that is stopped is left as it is, as if the process were killed; what
 * it has opened by then is closed.
 *
 * Order of an end, whatever begins it: requests that wait for changes are answered; no new connection
 * is accepted, and the other requests are answered; the host's own work, which the signal ends, is
 * over; the catalog is closed; the log is written. Each step is done once, even if an earlier one
 * fails. So connections are closed in time, even if the disk keeps the host from ending its work.
 */
import { pause } from '../delay.ts';
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
import { onStopSignal, REQUESTS_GRACE_MS, unlessStopped } from './signals.ts';
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
  const ending = new AbortController();
  onStopSignal(() => ending.abort());
  const { signal: stop } = ending;
  const observability = new Observability(options, context.version);
  process.on('uncaughtException', observability.onFault);
  process.on('unhandledRejection', observability.onFault);
  const { log, readiness } = observability;
  const current = new CurrentCatalog(options, context, observability);
  const served = { disk: context.disk, log, catalog: () => current.catalog };
  const processes = processesOf(options, served);
  const parts = { options, context, observability, current, stop };
  const host = hostOf(parts, processes);
  for (const { reason } of [processes, host]) readiness.also(reason);
  // A start that fails waits for nothing.
  let grace = { requests: 0, pages: 0 };
  let running: Promise<void> = Promise.resolve();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => observability.close());
  opened.defer(() => current.close(grace.pages));
  // Throws why the host cannot go on.
  opened.defer(() => running);
  opened.defer(() => processes.close(grace.requests));
  opened.defer(() => current.endWaits());
  const url = await unlessStopped(stop, start(parts, host, processes));
  // Of several workers, the first may have clients while another one is still starting.
  grace = { requests: REQUESTS_GRACE_MS, pages: url === null ? 0 : PAGES_GRACE_MS };
  if (url === null) return;
  // Only now: a start that fails has one line, its error.
  announce(url, options, context, current.catalog?.store.created === true);
  running = host.run();
  running.catch(() => ending.abort());
  await pause(Number.POSITIVE_INFINITY, stop);
  readiness.raise('closing');
}

/** Starts everything, up to the first request. @returns the address for clients. */
async function start(parts: HostParts, host: Host, processes: Processes): Promise<string> {
  const { options, context, observability, current, stop } = parts;
  // A mistake in the addresses leaves no new store behind.
  if (!hasStore(options.data, context.disk)) {
    requireNoArchive(options.data, context.disk);
    await requireFreePorts(options);
  }
  await host.begin();
  // The port of a server that ends is never open.
  stop.throwIfAborted();
  // There may be no catalog yet, and no directory.
  if (current.catalog === null) context.disk.mkdir(options.data);
  runStartupChecks(options, context.disk, observability.log);
  for (const warning of options.warnings ?? []) observability.log.warn(warning);
  const server = await processes.listen({
    application: current.application,
    host: options.host,
    port: options.port,
    ...observability.serverSettings,
  });
  await observability.open({
    catalog: () => current.catalog,
    following: host.following,
    server,
    others: processes.figures,
    lastBackup: () => lastBackupTime(context.disk, options.data),
  });
  return server.url;
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
