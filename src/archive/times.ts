/**
 * What the times in an archive are worth. They are those of the clocks of the hosts that wrote, which
 * may have been wrong for a while, so later change sets may have earlier times.
 */
import type { Store } from '../store/store.ts';
import type { ArchivedBase } from './names.ts';

/**
 * @param bases by ascending sequence.
 * @param time ISO 8601, UTC, with milliseconds.
 * @returns the newest base that holds nothing later than the time, as far as the bases show it. A
 *   base with an earlier time than one before it does not count: it holds what that one holds.
 */
export function newestUntil(
  bases: readonly ArchivedBase[],
  time: string,
): ArchivedBase | undefined {
  let newest: ArchivedBase | undefined;
  for (const base of bases) {
    if (timeOf(base) > time) break;
    if (newest === undefined || timeOf(base) >= timeOf(newest)) newest = base;
  }
  return newest;
}

/** A base of unknown time counts as made before all others. */
function timeOf({ time }: ArchivedBase): string {
  return time ?? '';
}

/** An hour. The clocks of two hosts that write in turn may differ at every change set. */
const QUIET_MS = 3_600_000;

/** Warns of a change set that is earlier than the one before it, once an hour: a clock is wrong. */
export function watchTimes(
  store: Pick<Store, 'time' | 'onCommit'>,
  warn: (message: string) => void,
): void {
  let last = store.time;
  let quietUntil = 0;
  store.onCommit(({ changeSet: { sequence, time } }) => {
    if (last !== null && time < last && performance.now() >= quietUntil) {
      warn(
        `a clock is or was wrong: change set ${sequence} is of ${time}, and the one before it of ${last}; check the clock of the host that writes, and restore what was written around this change set with --sequence instead of --at`,
      );
      quietUntil = performance.now() + QUIET_MS;
    }
    last = time;
  });
}
