/** The metrics for Prometheus: counters, gauges and histograms, in seconds and bytes. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { addGauge } from './gauge.ts';
import { measureHosts } from './host-metrics.ts';
import type { ArchiveFigures, ChangeFigures, LogFigures, Sources } from './metric-sources.ts';
import { LATENCIES, type ProcessFigures, type ProcessMetrics } from './process-metrics.ts';

/** Seconds: a checkpoint writes the whole base. */
const CHECKPOINTS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

const GROUP_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export class Metrics {
  readonly #registry = new Registry();
  readonly #commits = this.#histogram(
    'catalog_commit_duration_seconds',
    'Time from forming a group of transactions to its responses, by outcome.',
    LATENCIES,
    ['outcome'],
  );
  readonly #groups = this.#histogram(
    'catalog_commit_group_size',
    'Transactions that were written to the disk together.',
    GROUP_SIZES,
  );
  readonly #checkpoints = this.#histogram(
    'catalog_checkpoint_duration_seconds',
    'Time to write a new base in the background, by outcome.',
    CHECKPOINTS,
    ['outcome'],
  );

  readonly #process: ProcessMetrics;

  /** @param process the metrics of this process, which are shown with those of others. */
  constructor(version: string, sources: Sources, process: ProcessMetrics) {
    this.#process = process;
    // All outcomes start at 0, so that an alert sees the first failure as an increase.
    for (const outcome of ['durable', 'unchanged', 'refused']) this.#commits.zero({ outcome });
    for (const outcome of ['durable', 'failed']) this.#checkpoints.zero({ outcome });
    const { rows, size, waiting, pages, oldestPage, ready } = sources;
    const { memoryLimit, memoryScarce, lastBackup } = sources;
    this.#gauge('catalog_build_info', 'Always 1; the version is the label.', ['version'], (gauge) =>
      gauge.set({ version }, 1),
    );
    this.#gauge('catalog_rows', 'Rows of the store by kind.', ['kind'], (gauge) => {
      for (const [kind, count] of rows()) gauge.set({ kind }, count);
    });
    this.#gauge('catalog_store_bytes', 'Bytes of the store by file.', ['file'], (gauge) => {
      gauge.set({ file: 'base' }, size().base);
      gauge.set({ file: 'changes' }, size().changes);
    });
    this.#value('catalog_commit_queue_length', 'Transactions that wait for the disk.', waiting);
    this.#value(
      'catalog_page_queue_length',
      'Pages that wait to be written or checked, and changed rows whose pages are not known yet.',
      pages,
    );
    this.#value(
      'catalog_page_queue_oldest_seconds',
      'How long the oldest entry of the page queue has waited.',
      () => oldestPage() / 1000,
    );
    this.#value(
      'catalog_pages_failed',
      'Pages that could not be written and are tried again.',
      sources.failedPages,
    );
    this.#measureChanges(sources.changes);
    this.#measureDisk(sources.disk);
    this.#measureArchive(sources.archive);
    this.#measureLog(sources.log);
    measureHosts(this.#registry, sources.hosts);
    this.#value('catalog_ready', '1 while /readyz answers 200.', () => Number(ready()));
    this.#value('catalog_memory_limit_bytes', 'Limit of resident memory.', () => memoryLimit);
    this.#value(
      'catalog_memory_scarce',
      '1 while new data is refused because memory is short.',
      () => Number(memoryScarce()),
    );
    this.#value(
      'catalog_backup_age_seconds',
      'Time since the last backup; no value if none was made, or if its time cannot be read.',
      () => ageOf(lastBackup),
    );
    this.#value(
      'process_start_time_seconds',
      'Start time of the process, since the Unix epoch.',
      () => Math.round(performance.timeOrigin / 1000),
    );
  }

  #measureLog(read: () => LogFigures | null): void {
    this.#value(
      'catalog_log_behind',
      'Change sets that the log of all hosts has and this host lacks; no value without a log.',
      () => read()?.behind ?? null,
    );
    this.#value(
      'catalog_log_silence_seconds',
      'Time since the log of all hosts last responded; no value without a log.',
      () => read()?.silence ?? null,
    );
  }

  #measureChanges(read: () => ChangeFigures): void {
    const deliveries: Counter<'outcome'> = new Counter({
      name: 'catalog_webhook_deliveries_total',
      help: 'Attempts to deliver changes to webhooks, by outcome.',
      labelNames: ['outcome'],
      registers: [this.#registry],
      collect() {
        const { delivered, failed } = read();
        deliveries.reset();
        deliveries.inc({ outcome: 'delivered' }, delivered);
        deliveries.inc({ outcome: 'failed' }, failed);
      },
    });
    this.#value(
      'catalog_webhooks_failing',
      'Active webhooks whose last delivery failed.',
      () => read().failing,
    );
    this.#value(
      'catalog_webhook_lag',
      'Change sets by which the slowest active webhook is behind.',
      () => read().lag,
    );
  }

  #measureDisk(read: Sources['disk']): void {
    this.#value(
      'catalog_disk_free_bytes',
      'Free space of the disk of the data directory; no value if it cannot be read.',
      () => read()?.free ?? null,
    );
    this.#value(
      'catalog_disk_min_free_bytes',
      'Free space below which /readyz answers 503.',
      () => read()?.minimum ?? null,
    );
  }

  #measureArchive(read: () => ArchiveFigures | null): void {
    this.#value(
      'catalog_archive_behind_seconds',
      'Age of the oldest change set, or change of accounts and keys, that is not in the archive; no value without an archive.',
      () => read()?.seconds ?? null,
    );
    this.#value(
      'catalog_archive_behind_change_sets',
      'Change sets that are not in the archive; no value without an archive.',
      () => read()?.changeSets ?? null,
    );
  }

  readonly committed = (group: {
    readonly transactions: number;
    readonly changes: number;
    readonly milliseconds: number;
    readonly refused: string | null;
  }): void => {
    const outcome =
      group.refused !== null ? 'refused' : group.changes === 0 ? 'unchanged' : 'durable';
    this.#commits.observe({ outcome }, group.milliseconds / 1000);
    this.#groups.observe(group.transactions);
  };

  readonly checkpointed = (checkpoint: {
    readonly milliseconds: number;
    readonly failed: boolean;
  }): void => {
    const outcome = checkpoint.failed ? 'failed' : 'durable';
    this.#checkpoints.observe({ outcome }, checkpoint.milliseconds / 1000);
  };

  /** The media type of {@link text}. */
  get type(): string {
    return this.#registry.contentType;
  }

  /**
   * All metrics in the text format of Prometheus, version 0.0.4.
   *
   * @param others the figures of other processes that serve requests.
   */
  async text(others: readonly ProcessFigures[] = []): Promise<string> {
    return `${await this.#registry.metrics()}${await this.#process.text(others)}`;
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[] = []) {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => void): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => collect(gauge),
    });
  }

  #value(name: string, help: string, read: () => number | null): void {
    addGauge(this.#registry, name, help, read);
  }
}

/** Seconds since the last backup; null also if that cannot be read, which hides no other metric. */
function ageOf(lastBackup: () => number | null): number | null {
  try {
    const time = lastBackup();
    return time === null ? null : Math.max(Date.now() - time, 0) / 1000;
  } catch {
    return null;
  }
}
