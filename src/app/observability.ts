/** What operators see of a running server: log, metrics, readiness. */
import { messageOf } from '../errors.ts';
import type { Limits } from '../http/wire/limits.ts';
import type { Catalog } from './catalog.ts';
import { ReplicationStateLogger } from './cluster/replication-state-logger.ts';
import { operatorApplication } from './operator.ts';
import type { AccessListener } from '../http/wire/access-record.ts';
import { type HttpServer, type ListenAddress, startServer } from '../http/wire/server.ts';
import { COLLECTIONS } from '../model/kinds.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { HostSources } from '../telemetry/host-metrics.ts';
import { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ProcessFigures, ProcessMetrics } from '../telemetry/process-metrics.ts';
import { levelOf, logResponse } from '../telemetry/requests.ts';
import { measureEventLoopDelay } from '../telemetry/event-loop-delay.ts';
import { maxOpenFiles } from '../disk/system/open-files.ts';
import { DiskWatch } from './disk-watch.ts';
import { connectionLimit } from './engine/connection-limit.ts';
import { defaultMemoryLimit, MemoryWatch } from './engine/memory.ts';
import type { RuntimeOptions } from './server-options.ts';
import type { ReplicationState } from '../hosts/cluster/log-follower.ts';
import { Readiness } from './readiness.ts';

interface ObservabilityOptions extends RuntimeOptions {
  /** The data directory. */
  readonly data: string;
  readonly host: string;
  /** Bytes. */
  readonly maxBody: number;
  /** Whether stacks are logged. */
  readonly verbose?: boolean;
}

/** What the metrics are read from. */
interface Watched {
  /** Null while the host takes its base. */
  readonly catalog: () => Catalog | null;
  /** Null if this host follows no other. */
  readonly following: HostSources['following'];
  readonly server: Pick<HttpServer, 'connections' | 'bodyMemory'>;
  /** The figures of other processes that serve requests for this one. */
  readonly others: () => Promise<readonly ProcessFigures[]>;
  /** Milliseconds since the epoch; null if no backup was made. */
  readonly lastBackup: () => number | null;
}

/** Processes that share the memory of a server: one worker is itself the owner of the directory. */
function processesOf(workers: number): number {
  return workers === 1 ? 1 : workers + 1;
}

/** @returns where the metrics are served; null if they are not. */
export function metricsAddress({
  metricsPort: port,
  metricsHost,
  host,
}: Pick<ObservabilityOptions, 'metricsPort' | 'metricsHost' | 'host'>): ListenAddress | null {
  if (port === undefined) return null;
  const flags = { host: '--metrics-host', port: '--metrics-port' };
  return { host: metricsHost ?? host, port, flags };
}

/**
 * Connections to the metrics port. The limit of connections of clients leaves descriptors for these:
 * without one of their own, they could take all that the store needs.
 */
const OPERATOR_CONNECTIONS = 100;

const NO_CHANGES = { delivered: 0, failed: 0, failing: 0, lag: 0 };

/** The log, the metrics and the readiness of a process, and its end if it cannot go on. */
export class Observability {
  readonly log: Log;
  readonly memory: MemoryWatch;
  readonly #replicationStates: ReplicationStateLogger;
  /** Bytes that all processes of the server may take together. */
  readonly #memoryLimit: number;
  readonly #disk: DiskWatch;
  readonly readiness: Readiness;
  readonly #options: ObservabilityOptions;
  readonly #version: string;
  #metrics: Metrics | null = null;
  #process: ProcessMetrics | null = null;
  #server: HttpServer | null = null;
  #stopMeasuring: () => void = () => {};

  constructor(options: ObservabilityOptions, version: string) {
    const { logLevel: level, logFormat: format, verbose: stacks = false } = options;
    this.log = new Log({ level, format, terminal: process.stderr.isTTY, stacks });
    this.#replicationStates = new ReplicationStateLogger(this.log);
    const { maxMemory = defaultMemoryLimit(), workers } = options;
    this.#memoryLimit = maxMemory;
    this.memory = new MemoryWatch(maxMemory / processesOf(workers));
    this.#disk = new DiskWatch(options.data, options.minFreeDisk);
    this.readiness = new Readiness();
    for (const { reason } of [this.memory, this.#disk]) this.readiness.also(reason);
    this.#options = options;
    this.#version = version;
  }

  /** @returns a callback that logs a failure which the server survives. */
  onError(what: string): (error: unknown) => void {
    return (error) => this.log.failure(`${what}: ${messageOf(error)}`, error);
  }

  /** Ends the process, because the state of memory or disk is no longer known. */
  readonly onFatal = (error: unknown): never =>
    this.#exit(`the store stopped: ${messageOf(error)}; restart the server`, error);

  /** Ends the process, because an unexpected error may have left anything half done. */
  readonly onFault = (error: unknown): never =>
    this.#exit(`unexpected fault: ${messageOf(error)}; restart the server`, error);

  readonly onReplicationState = (state: ReplicationState): void => {
    this.readiness.setReplicationState(state);
    this.#replicationStates.changed(state);
  };

  readonly observer: StoreObserver = {
    appending: (writing) => this.readiness.appending(writing),
    committed: (group) => {
      this.readiness.committed(group);
      this.#metrics?.committed(group);
    },
    checkpointed: (checkpoint) => {
      this.#metrics?.checkpointed(checkpoint);
      this.log.debug('checkpoint', checkpoint);
    },
  };

  readonly listener: AccessListener = {
    wants: (status) => this.#process !== null || this.log.writes(levelOf(status)),
    onResponse: (record) => {
      this.#process?.onResponse(record);
      logResponse(this.log, record);
    },
  };

  /** What a server of clients reports, and its limits. */
  get serverSettings() {
    return {
      onError: this.onError('a response could not be sent'),
      listener: this.listener,
      limits: this.limits,
      isMemoryScarce: this.memory.isScarce,
    };
  }

  get limits(): Partial<Limits> {
    const options = this.#options;
    return {
      body: options.maxBody,
      bodyMemory: options.maxBodyMemory,
      headers: options.maxHeaders,
      url: options.maxUrl,
      connections: connectionLimit(options.maxConnections, maxOpenFiles(), options.workers),
      connectionsPerAddress: options.maxConnectionsPerAddress,
      pipelined: options.maxPipelined,
      headersTimeout: options.headersTimeout,
      requestTimeout: options.requestTimeout,
      keepAliveTimeout: options.keepAliveTimeout,
      sendTimeout: options.sendTimeout,
    };
  }

  /**
   * Measures this process. The metrics code is loaded only now, so that a server without metrics
   * starts sooner.
   *
   * @param server with which it serves requests.
   * @param changeReaders requests that wait for changes, and streams.
   */
  async measure(
    server: Pick<HttpServer, 'connections' | 'bodyMemory'>,
    changeReaders: () => number,
  ): Promise<ProcessMetrics> {
    const telemetry = await import('../telemetry/process-metrics.ts');
    const figures = new telemetry.ProcessMetrics({
      connections: () => server.connections,
      changeReaders,
      residentMemory: this.memory.resident,
      bodyMemory: () => server.bodyMemory,
      logLinesLost: () => this.log.lost,
    });
    this.#process = figures;
    this.#stopMeasuring = measureEventLoopDelay(figures.delayed);
    return figures;
  }

  /** Serves the metrics if they have a port. @throws CatalogError `listen`. */
  async open({ catalog, following, server, others, lastBackup }: Watched): Promise<void> {
    const address = metricsAddress(this.#options);
    if (address === null) return;
    const { log, readiness, memory } = this;
    const read =
      <T>(value: (catalog: Catalog) => T, absent: T) =>
      () => {
        const current = catalog();
        return current === null ? absent : value(current);
      };
    const names = COLLECTIONS.map(({ name }) => name);
    const readers = read(({ changes }) => changes.figures().open, 0);
    const sources = {
      rows: read(({ store }) => names.map((name) => [name, store.count(name)] as const), []),
      size: read(({ store }) => store.size, { base: 0, changes: 0 }),
      waiting: read(({ store }) => store.waiting, 0),
      pages: read(({ pages }) => pages.waiting, 0),
      oldestPage: read(({ pages }) => pages.oldest, 0),
      failedPages: read(({ pages }) => pages.retry.size, 0),
      changes: read(({ changes }) => changes.figures(), NO_CHANGES),
      archive: read(({ archive }) => archive.figures(), null),
      hosts: { followers: read(({ hosts }) => hosts.followers, 0), following },
      ready: () => readiness.reason() === null,
      memoryLimit: this.#memoryLimit,
      memoryScarce: memory.isScarce,
      disk: this.#disk.read,
      lastBackup,
      log: read(({ membership }) => membership.figures(), null),
    };
    const measured = await this.measure(server, readers);
    const telemetry = await import('../telemetry/metrics.ts');
    const metrics = new telemetry.Metrics(this.#version, sources, measured);
    this.#metrics = metrics;
    this.#server = await startServer({
      application: operatorApplication({
        readiness: readiness.reason,
        readinessDetails: read(({ readinessDetails: details }) => details(), {}),
        metrics: { type: metrics.type, text: async () => metrics.text(await others()) },
      }),
      ...address,
      onError: this.onError('the metrics could not be sent'),
      limits: { connections: OPERATOR_CONNECTIONS },
    });
    log.info('metrics are served', { url: `${this.#server.url}/metrics` });
  }

  /** Waits until everything is logged. */
  async close(): Promise<void> {
    this.#stopMeasuring();
    await this.#server?.close(0);
    await this.log.close();
  }

  #exit(message: string, error: unknown): never {
    this.log.lastFailure(message, error);
    process.exit(1);
  }
}
