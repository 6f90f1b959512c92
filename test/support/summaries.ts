/** Summaries of a server about which nothing is wrong. */
import { Summaries, type SummaryOptions } from '../../src/app/services/summary.ts';

/** The time on its clock, in milliseconds since the epoch. Its last backup is of the same time. */
export const NOW = Date.parse('2026-01-01T00:00:00Z');

/**
 * @param wrong what differs from such a server.
 * @param bytes of the base, and of the change sets.
 */
export function summariesWith(wrong: Partial<SummaryOptions>, bytes = 0): Summaries {
  return new Summaries({
    store: {
      size: { base: bytes, changes: bytes },
      sequence: 1,
      count: () => 0,
      get: () => undefined,
      lastId: () => 0,
    },
    pages: { waiting: 0, retry: { size: 0 } },
    currency: 'USD',
    freeSpace: () => Promise.resolve(1024 ** 4),
    lastBackup: () => NOW,
    isMemoryScarce: () => false,
    reason: () => null,
    now: () => NOW,
    onError(error) {
      throw error;
    },
    ...wrong,
  });
}
