/** What the metrics are read from. */
import type { HostSources } from './host-metrics.ts';

/** Deliveries to webhooks. */
export interface ChangeFigures {
  /** Attempts since the start. */
  readonly delivered: number;
  readonly failed: number;
  /** Webhooks whose last delivery failed. */
  readonly failing: number;
  /** Change sets by which the slowest webhook is behind. */
  readonly lag: number;
}

/** How far the archive is behind the store. */
export interface ArchiveFigures {
  readonly changeSets: number;
  readonly seconds: number;
}

/** What a host knows of the log that it shares with others. */
export interface LogFigures {
  /** Change sets that the log has and the host has not. */
  readonly behind: number;
  /** Seconds since the log answered last. */
  readonly silence: number;
}

/** Values that are read when Prometheus requests the metrics. */
export interface Sources {
  /** Rows by the plural of their kind. */
  readonly rows: () => Iterable<readonly [kind: string, count: number]>;
  /** Bytes of the store's files. */
  readonly size: () => { readonly base: number; readonly changes: number };
  /** Transactions that wait for the disk. */
  readonly waiting: () => number;
  /** Pages that wait to be written, and changed rows whose pages are not named yet. */
  readonly pages: () => number;
  /** Milliseconds that the oldest of them has waited. */
  readonly oldestPage: () => number;
  /** Pages that could not be written and are retried. */
  readonly failedPages: () => number;
  readonly changes: () => ChangeFigures;
  /** Null if there is no archive. */
  readonly archive: () => ArchiveFigures | null;
  readonly hosts: HostSources;
  readonly ready: () => boolean;
  /** Bytes. */
  readonly memoryLimit: number;
  readonly memoryScarce: () => boolean;
  /** Bytes of the disk; null if they are not known. */
  readonly disk: () => { readonly free: number; readonly minimum: number } | null;
  /** Milliseconds since the epoch; null if no backup was made. Throws if that cannot be read. */
  readonly lastBackup: () => number | null;
  /** Of the log that hosts share; null if this host shares none. */
  readonly log: () => LogFigures | null;
}
