/** Values that may occur once in a file (spec 12.9). */
import { ShardedMap } from '../../../store/memory/maps/sharded-map.ts';

/** UTF-16 units of a value that is remembered, at most: a longer name or code is an error itself. */
const MAX_SEEN_UNITS = 510;

/** The ids and codes that a file had so far, and names that match rows: each may occur once. */
export class Seen {
  /** In parts: when the engine enlarges a set of 800,000 values, that takes 100 ms. */
  readonly #values = new ShardedMap<string, true>();

  /** @returns whether it occurred before. */
  repeats(what: string, value: string): boolean {
    if (value.length > MAX_SEEN_UNITS) return false;
    const key = `${what} ${value}`;
    if (this.#values.get(key) === true) return true;
    this.#values.set(key, true);
    return false;
  }
}
