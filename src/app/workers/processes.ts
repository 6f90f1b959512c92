/** The processes that serve the clients of a host: this one alone, or workers in its place. */
import type { Disk } from '../../disk/disk.ts';
import { trustIn } from '../../http/wire/client-address.ts';
import { type HttpServer, type ServerOptions, startServer } from '../../http/wire/server.ts';
import type { Arrivals } from '../../resources/changes/arrivals.ts';
import type { ProcessFigures } from '../../telemetry/process-metrics.ts';
import type { ServeOptions } from '../server-options.ts';
import type { DurableState } from './member.ts';
import { notBehind } from './not-behind.ts';
import { WorkerPool } from './pool.ts';
import { type Listening, WorkersServer } from './serve-workers.ts';
import { socketPath } from './socket-path.ts';
import { startWorker } from './worker-process.ts';

/** One object for each way to serve. */
export interface Processes {
  /** See `Store.open`; undefined if no other process shows what this one writes. */
  readonly onDurable: ((sequence: number) => Promise<void>) | undefined;
  /** Why no process takes requests, in words for `/readyz`; null if one does. */
  readonly reason: () => string | null;
  /** What the processes other than this one measure. */
  readonly figures: () => Promise<readonly ProcessFigures[]>;
  /** Listens for clients. @throws CatalogError `listen`, and why a worker cannot serve. */
  readonly listen: (server: ServerOptions) => Promise<Listening>;
  /** Ends what {@link listen} has begun. @param grace milliseconds for requests under way. */
  readonly close: (grace: number) => Promise<void>;
}

/** What the workers need of the catalog of their owner. */
interface Served {
  readonly store: DurableState;
  readonly changes: { readonly arrivals: Pick<Arrivals, 'past'> };
}

interface Parts {
  readonly disk: Disk;
  readonly log: { warn(message: string): void };
  /** The catalog of this process; null while there is none. */
  readonly catalog: () => Served | null;
}

/** Chooses the processes. None is started yet. @throws CatalogError `usage`. */
export function processesOf(options: ServeOptions, parts: Parts): Processes {
  return options.workers === 1 ? thisProcess(options) : workersOf(options, parts);
}

function thisProcess({ trustProxy = [] }: ServeOptions): Processes {
  let server: HttpServer | null = null;
  return {
    onDurable: undefined,
    reason: () => null,
    figures: async () => [],
    listen: async (options) =>
      (server = await startServer({ ...options, trusts: trustIn(trustProxy) })),
    close: async (grace) => void (await server?.close(grace)),
  };
}

function workersOf({ workers, data, basePath }: ServeOptions, parts: Parts): Processes {
  const { disk, log, catalog } = parts;
  // Fails before a store is created if the path of the directory is too long.
  socketPath(data);
  const pool = new WorkerPool({
    count: workers,
    start: startWorker,
    state: () => catalog()?.store ?? { sequence: 0, oldest: 0 },
    log,
  });
  const server = new WorkersServer({ data, disk, pool });
  return {
    onDurable: pool.reach,
    reason: pool.reason,
    figures: pool.figures,
    listen(options) {
      const application = notBehind(options.application, {
        shown: () => pool.sequence,
        arrivals: () => catalog()?.changes.arrivals ?? null,
        readiness: `${basePath}/readyz`,
      });
      return server.listen({ ...options, application });
    },
    close: (grace) => server.close(grace),
  };
}
