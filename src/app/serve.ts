/** `serve`: a catalog on a port, from start to the last response. */
import { startServer } from '../http/wire/server.ts';
import { trustIn } from '../http/wire/client-address.ts';
import { openCatalog } from './catalog.ts';
import type { Context } from './context.ts';
import { Operation } from './operation.ts';
import { takePrecautions } from './precautions.ts';
import type { ServeOptions } from './server-options.ts';

/** Milliseconds that requests under way have to be answered once a signal has come. */
const SHUTDOWN_GRACE_MS = 10_000;

/** Milliseconds within which a second SIGINT is the first one, passed on. */
const REPEATED_SIGNAL_MS = 20;

/** Serves until a signal comes, and returns when everything is written. */
export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const stop = firstSignal();
  const operation = new Operation(options, context.version);
  const { application, store, pages, close } = await openCatalog(options, context, operation, {
    requireRoom: operation.memory.requireRoom,
  });
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
  await operation.open({ store, pages, server });
  pages.build({ stale: true, skus: null });
  context.print(`listening on ${server.url}`);
  await stop;
  operation.readiness.closing = true;
  await server.close(SHUTDOWN_GRACE_MS);
  await close(SHUTDOWN_GRACE_MS);
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
