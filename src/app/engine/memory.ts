/**
 * Compares the memory of the process with its limit. Near the limit the server refuses new data, so
 * that the kernel does not kill it; reads and deletes still work.
 */
import { gcAndSweep } from 'bun:jsc';
import { machineMemory } from '../../disk/machine-memory.ts';
import { CatalogError } from '../../errors.ts';

/** Fractions of the limit from which memory is scarce, and below which it no longer is. */
const SCARCE_FROM = 0.9;
const SCARCE_UNTIL = 0.8;

/** Milliseconds for which a reading is reused, since it takes a system call. */
const READING_MS = 50;

/** Minimum milliseconds between two garbage collections because of scarce memory. */
const COLLECTION_MS = 1000;

/**
 * The same, as a multiple of the duration of the last one. A collection blocks everything for about
 * a millisecond per live megabyte, and must take only a small part of the time.
 */
const COLLECTION_SHARE = 20;

/** Seconds after which a client may try again. */
const RETRY_AFTER_S = '10';

/** What the watch reads and does; tests inject their own. */
export interface MemorySystem {
  /** Resident memory of the process, in bytes. Throws if no descriptor is free to read it. */
  readonly resident: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Collects all garbage, and returns its memory to the system. */
  readonly collect: () => void;
}

const SYSTEM: MemorySystem = {
  resident: () => process.memoryUsage.rss(),
  now: () => performance.now(),
  // `Bun.gc(false)` would collect young objects only, and a server that refuses writes makes too
  // little garbage for the engine to collect old ones by itself.
  collect: () => void gcAndSweep(),
};

/** Three quarters of the memory of the machine or its control group, in bytes. */
export function defaultMemoryLimit(): number {
  return Math.floor(machineMemory() * 0.75);
}

export class MemoryWatch {
  /** Bytes. */
  readonly limit: number;
  readonly #system: MemorySystem;
  #scarce = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #nextCollection = Number.NEGATIVE_INFINITY;

  /** @param limit bytes of resident memory. */
  constructor(limit: number, system: MemorySystem = SYSTEM) {
    this.limit = limit;
    this.#system = system;
  }

  /** Whether the process is near its limit: from 90 % of it until it is below 80 % again. */
  readonly isScarce = (): boolean => {
    const now = this.#system.now();
    if (now - this.#readAt < READING_MS) return this.#scarce;
    this.#readAt = now;
    const resident = this.resident();
    // If memory cannot be measured now, the last result stands.
    if (resident === null) return this.#scarce;
    this.#scarce = resident / this.limit >= (this.#scarce ? SCARCE_UNTIL : SCARCE_FROM);
    // Part of the memory may be garbage that is not collected yet.
    if (this.#scarce && now >= this.#nextCollection) this.#collect(now);
    return this.#scarce;
  };

  #collect(begun: number): void {
    this.#system.collect();
    const taken = this.#system.now() - begun;
    this.#nextCollection = begun + Math.max(COLLECTION_MS, taken * COLLECTION_SHARE);
  }

  /** Bytes of resident memory; null if they cannot be read. */
  readonly resident = (): number | null => {
    try {
      return this.#system.resident();
    } catch {
      // No descriptor is free: the request that needs one reports that itself.
      return null;
    }
  };

  /** Why the server is not ready for writes; null if it is. */
  readonly reason = (): string | null => (this.isScarce() ? 'the server is short of memory' : null);

  /** Call it before data is added. @throws CatalogError `busy`. */
  readonly requireRoom = (): void => {
    if (!this.isScarce()) return;
    throw new CatalogError(
      'busy',
      'the server is short of memory and does not accept new data now',
      {
        headers: { 'Retry-After': RETRY_AFTER_S },
      },
    );
  };
}
