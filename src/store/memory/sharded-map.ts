/**
 * A map that holds millions of entries and grows a part at a time. When the engine makes a `Map` of a
 * million entries larger, that is 90 to 104 ms in one turn of the event loop; here it is a matter of
 * one part of it.
 *
 * Invariant: an entry is in the part that its key names. Numbers that follow each other share a part,
 * so that parts of ids grow one after the other. Texts are spread by chance, so that their parts come
 * to the same size some thousands of entries apart.
 */

/** Numbers that share a part. */
const RANGE = 16_384;

/** Parts of the texts. A million texts are some 4000 in each. */
const TEXT_PARTS = 256;

/** Characters at the end of a text that name its part: names of one shop begin alike. */
const TAIL = 8;

type Key = string | number | boolean | null;

export class ShardedMap<K extends Key, V> {
  readonly #parts = new Map<number, Map<K, V>>();

  get(key: K): V | undefined {
    return this.#parts.get(partOf(key))?.get(key);
  }

  set(key: K, value: V): void {
    const name = partOf(key);
    const part = this.#parts.get(name);
    if (part === undefined) this.#parts.set(name, new Map([[key, value]]));
    else part.set(key, value);
  }

  delete(key: K): void {
    const name = partOf(key);
    const part = this.#parts.get(name);
    part?.delete(key);
    if (part?.size === 0) this.#parts.delete(name);
  }

  /** In no order that means anything; a value that is set meanwhile may come. */
  *entries(): Generator<[K, V]> {
    for (const part of this.#parts.values()) yield* part.entries();
  }

  *keys(): Generator<K> {
    for (const part of this.#parts.values()) yield* part.keys();
  }
}

function partOf(key: Key): number {
  if (typeof key === 'number') return Math.floor(key / RANGE);
  return typeof key === 'string' ? -1 - (hashOfTail(key) % TEXT_PARTS) : 0;
}

/** FNV-1a of the last characters. */
function hashOfTail(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, text.length - TAIL); at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}
