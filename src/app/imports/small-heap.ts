/**
 * Keeps the heap small while an import runs. By default the engine lets a heap grow to several
 * times its live size, although few objects of an import last (docs/performance.md, "Memory"). Here
 * young objects are collected many times a second, and all objects whenever the heap has grown by
 * some megabytes. Requests wait meanwhile: a few milliseconds for young objects, and about a
 * millisecond per live megabyte for all objects.
 */
import { edenGC, gcAndSweep, heapSize } from 'bun:jsc';

/** Milliseconds between two collections of young objects. */
const PERIOD_MS = 40;

/** How far a heap may grow between two collections of all objects. */
const GROWTH = { ratio: 1.15, bytes: 12 * 1024 * 1024 };

/** The engine's collector; tests inject their own. Each returns bytes. */
export interface Collector {
  /** What survived the last collection. */
  readonly survived: () => number;
  /** Collects garbage that was made since the last collection. @returns what survives. */
  readonly young: () => number;
  /**
   * Collects all garbage, and frees its memory outside of the heap, such as that of strings.
   *
   * @returns what survives.
   */
  readonly all: () => number;
}

const ENGINE: Collector = { survived: heapSize, young: edenGC, all: gcAndSweep };

export class SmallHeap {
  readonly #collector: Collector;
  /** Bytes that survived the last collection of all objects; at first, any earlier collection. */
  #lived: number;

  constructor(collector: Collector) {
    this.#collector = collector;
    this.#lived = collector.survived();
  }

  /** Collects young objects, and all of them if the heap has grown too far. */
  collect(): void {
    const heap = this.#collector.young();
    if (heap <= this.#lived * GROWTH.ratio + GROWTH.bytes) return;
    this.#lived = this.#collector.all();
  }
}

/** Keeps the heap small until `run` has ended. @returns what it returns. @throws what it throws. */
export async function withSmallHeap<T>(
  run: () => Promise<T>,
  collector: Collector = ENGINE,
): Promise<T> {
  const heap = new SmallHeap(collector);
  const timer = setInterval(() => heap.collect(), PERIOD_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
