/**
 * A worker: a process that holds the state of a data directory which another process owns, and
 * serves requests from it.
 *
 * Order of a start: read the files; get in step with the owner, after which writes wait for this
 * process; only then listen. If the owner ends, this process ends at once.
 */
import { CatalogError, messageOf } from '../../errors.ts';
import type { HttpRequest } from '../../http/message.ts';
import { trustIn } from '../../http/wire/client-address.ts';
import { startServer } from '../../http/wire/server.ts';
import { Forwarder } from '../../hosts/forwarding/forwarder.ts';
import { ReadOnlyLog } from '../../store/files/read-only-log.ts';
import { Store } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { Observability } from '../observability.ts';
import type { ServeOptions } from '../server-options.ts';
import { endStart } from '../engine/start-policy.ts';
import { REQUESTS_GRACE_MS } from '../signals.ts';
import { InStep } from './in-step.ts';
import { OwnerLink } from './owner-link.ts';
import { openReadingCatalog } from './reading-catalog.ts';
import { socketPath } from './socket-path.ts';

/** The origin in the addresses of requests over the owner's socket; no name is looked up. */
const OWNER = 'http://owner';

/** Serves, on the port of `options`, until the owner says that it closes, or ends. */
export async function serveWorker(options: ServeOptions, context: Context): Promise<void> {
  // The owner gets the signal as well, and ends its workers when their requests are answered.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  const link = new OwnerLink();
  const observability = new Observability(options, context.version);
  process.on('uncaughtException', observability.onFault);
  process.on('unhandledRejection', observability.onFault);
  try {
    await run(options, context, observability, link);
  } catch (error) {
    const code = error instanceof CatalogError ? error.code : 'internal';
    await link.sent({ kind: 'failed', code, message: messageOf(error) });
    process.exit(1);
  }
}

async function run(
  options: ServeOptions,
  context: Context,
  observability: Observability,
  link: OwnerLink,
): Promise<void> {
  const closing = new Promise<false>((resolve) => {
    link.onMessage((message) => {
      if (message.kind === 'close') resolve(false);
    });
  });
  const log = new ReadOnlyLog(context.disk, options.data);
  const onError = observability.onError('the worker continues despite an error');
  const store = await Store.openSecondary(options.data, log, {
    onError,
    onFatal: observability.onFatal,
  });
  const inStep = new InStep({
    store,
    log,
    send: (message) => link.send(message),
    onError,
    onFatal: observability.onFatal,
  });
  link.onMessage((message) => {
    if (message.kind === 'state') inStep.take(message);
  });
  const catalog = await openReadingCatalog(
    options,
    store,
    context,
    observability,
    forwarding(options),
  );
  await store.completeIndexes();
  inStep.begin();
  const joined = inStep.joined.then(() => true);
  // Without the change sets that the others show, it must not answer even one request.
  if (!(await Promise.race([joined, closing]))) return await observability.close();
  const server = await startServer({
    application: catalog.application,
    host: options.host,
    port: options.port,
    ...observability.serverSettings,
    trusts: trustIn(options.trustProxy ?? []),
  });
  if (options.metricsPort !== undefined) {
    const measured = await observability.measure(server, catalog.changeReaders);
    link.onMessage((message) => {
      if (message.kind !== 'figures') return;
      void measured.figures().then((figures) => link.send({ kind: 'figures', figures }));
    });
  }
  link.send({ kind: 'listening', url: server.url });
  endStart();
  await closing;
  catalog.endWaits();
  await server.close(REQUESTS_GRACE_MS);
  await observability.close();
}

/** Passes requests on to the owner, unchanged. */
function forwarding({ data, maxConnections }: ServeOptions) {
  const forwarder = new Forwarder({
    // A connection has one request at a time, and a client, which gets half of the places, may have
    // all connections, as with one process.
    maxOpen: 2 * maxConnections,
    socket: socketPath(data),
    to: 'the process that writes',
  });
  return async (request: HttpRequest) => {
    const response = await forwarder.forward(request, OWNER);
    // The owner has logged the request, since it knows the subject.
    request.trace.isLoggedElsewhere = true;
    return response;
  };
}
