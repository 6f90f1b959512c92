/** What metrics are read from, of a server that has nothing to do and whose every value is known. */
import type { Sources } from '../../src/telemetry/metric-sources.ts';
import { ProcessMetrics, type ProcessSources } from '../../src/telemetry/process-metrics.ts';

/** @param changes in place of the values here. */
export function sourcesWith(changes: Partial<Sources> = {}): Sources {
  const zero = () => 0;
  return {
    rows: () => [['books', 0]],
    size: () => ({ base: 0, changes: 0 }),
    waiting: zero,
    pages: zero,
    oldestPage: zero,
    failedPages: zero,
    changes: () => ({ delivered: 0, failed: 0, failing: 0, lag: 0 }),
    archive: () => ({ changeSets: 0, seconds: 0 }),
    hosts: {
      followers: zero,
      following: () => ({ connected: true, behind: 0, behindMs: 0 }),
    },
    log: () => ({ behind: 0, silence: 0 }),
    ready: () => true,
    memoryLimit: 0,
    memoryScarce: () => false,
    disk: () => ({ free: 0, minimum: 0 }),
    lastBackup: () => Date.now(),
    ...changes,
  };
}

/** The metrics of a process that has nothing to do. @param changes in place of the values here. */
export function processMetricsWith(changes: Partial<ProcessSources> = {}): ProcessMetrics {
  const zero = () => 0;
  return new ProcessMetrics({
    connections: zero,
    changeReaders: zero,
    residentMemory: zero,
    bodyMemory: zero,
    logLinesLost: zero,
    ...changes,
  });
}
