/** The metrics of one process that serves requests. Those of several processes add up. */
import {
  AggregatorRegistry,
  Counter,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { addGauge } from './gauge.ts';
import type { AccessRecord } from './requests.ts';

/** Seconds: from a response served from memory to a write on a slow disk. */
export const LATENCIES = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** Methods with a label of their own. A client may send any other word. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** The metrics of a process as another process gets them. */
export type ProcessFigures = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * Adds the counts of a process that has ended to those of earlier ones, so that no total decreases:
 * Prometheus takes a counter that decreases for one that started again at zero.
 *
 * @param counts of earlier processes.
 * @param ended the last figures of the process. Its gauges are left out.
 */
export async function withCountsOf(
  counts: ProcessFigures,
  ended: ProcessFigures,
): Promise<ProcessFigures> {
  // prom-client types the name of a type as a number, and has it as a word.
  const counted = ended.filter(({ type }) => String(type) !== 'gauge');
  return AggregatorRegistry.aggregate([[...counts], counted]).getMetricsAsJSON();
}

/** Values that are read when the metrics are. */
export interface ProcessSources {
  readonly connections: () => number;
  /** Requests that wait for changes, and streams. */
  readonly changeReaders: () => number;
  /** Bytes that the process occupies; null if that cannot be read. */
  readonly residentMemory: () => number | null;
  /** Bytes of request bodies in memory. */
  readonly bodyMemory: () => number;
  readonly logLinesLost: () => number;
}

export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: 'catalog_http_request_duration_seconds',
    help: 'Time from the headers of a request to those of its response, by route and status.',
    buckets: LATENCIES,
    labelNames: ['method', 'route', 'status'],
    registers: [this.#registry],
  });
  readonly #sent = new Counter({
    name: 'catalog_http_response_bytes_total',
    help: 'Bytes of response bodies.',
    registers: [this.#registry],
  });
  readonly #delays = new Histogram({
    name: 'catalog_event_loop_delay_seconds',
    help: 'How late the event loop runs a timer, measured 50 times a second.',
    buckets: LATENCIES,
    registers: [this.#registry],
  });

  constructor(sources: ProcessSources) {
    const { connections, changeReaders, residentMemory, bodyMemory, logLinesLost } = sources;
    this.#value('catalog_http_connections', 'Open connections.', connections);
    this.#value(
      'catalog_change_readers',
      'Requests that wait for changes, and streams of changes.',
      changeReaders,
    );
    this.#value('catalog_http_body_memory_bytes', 'Bytes of request bodies in memory.', bodyMemory);
    this.#value(
      'process_resident_memory_bytes',
      'Resident memory; no value if it cannot be read.',
      residentMemory,
    );
    this.#total('catalog_log_lines_lost_total', 'Lines of the log that were lost.', logLinesLost);
    this.#total('process_cpu_seconds_total', 'CPU time, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
  }

  readonly onResponse = ({ method, route, status, milliseconds, bytes }: AccessRecord): void => {
    const labels = {
      method: METHODS.has(method) ? method : 'other',
      route: route ?? 'none',
      status: String(status),
    };
    this.#requests.observe(labels, milliseconds / 1000);
    this.#sent.inc(bytes);
  };

  /** @param milliseconds that the event loop was late. */
  readonly delayed = (milliseconds: number): void => {
    this.#delays.observe(milliseconds / 1000);
  };

  figures(): Promise<ProcessFigures> {
    return this.#registry.getMetricsAsJSON();
  }

  /** The text of this process and others together. @param others their figures. */
  async text(others: readonly ProcessFigures[]): Promise<string> {
    if (others.length === 0) return this.#registry.metrics();
    const all = [await this.figures(), ...others].map((figures) => [...figures]);
    return AggregatorRegistry.aggregate(all).metrics();
  }

  #value(name: string, help: string, read: () => number | null): void {
    addGauge(this.#registry, name, help, read);
  }

  /** A counter whose count is kept elsewhere. */
  #total(name: string, help: string, read: () => number): void {
    const counter: Counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        counter.reset();
        counter.inc(read());
      },
    });
  }
}
