/** Ids in a sort order, in chunks: insert, remove and "from the n-th on" without moving them all. */

const CHUNK_SIZE = 1024;

/** Whether another id stands before the one that is looked for. */
export type Before = (other: number) => boolean;

export class OrderedIds {
  readonly #chunks: number[][] = [];
  #length = 0;

  /** @param ids in their order already. */
  constructor(ids: readonly number[] = []) {
    for (let start = 0; start < ids.length; start += CHUNK_SIZE / 2) {
      this.#chunks.push(ids.slice(start, start + CHUNK_SIZE / 2));
    }
    this.#length = ids.length;
  }

  get length(): number {
    return this.#length;
  }

  insert(id: number, before: Before): void {
    this.#length += 1;
    // The last chunk takes what stands behind everything.
    const at = Math.min(this.#chunkOf(before), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([id]);
      return;
    }
    chunk.splice(positionIn(chunk, before), 0, id);
    if (chunk.length > CHUNK_SIZE) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK_SIZE / 2));
  }

  /** @throws Error where the id does not stand at the place that `before` gives. */
  remove(id: number, before: Before): void {
    const at = this.#chunkOf(before);
    const chunk = this.#chunks[at];
    const position = chunk === undefined ? 0 : positionIn(chunk, before);
    if (chunk?.[position] !== id) throw new Error(`the index has lost row ${id}`);
    chunk.splice(position, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#length -= 1;
  }

  /** How many ids stand before the place that `before` gives, whether its id is there or not. */
  rank(before: Before): number {
    const at = this.#chunkOf(before);
    let rank = 0;
    for (let chunk = 0; chunk < at; chunk += 1) rank += this.#chunks[chunk]?.length ?? 0;
    return rank + positionIn(this.#chunks[at] ?? [], before);
  }

  /** The ids from the `offset`-th on, at most `count`. */
  slice(offset: number, count: number): number[] {
    const ids: number[] = [];
    let skip = offset;
    for (const chunk of this.#chunks) {
      if (ids.length >= count) break;
      if (skip >= chunk.length) {
        skip -= chunk.length;
        continue;
      }
      const part = chunk.slice(skip, skip + count - ids.length);
      for (const id of part) ids.push(id);
      skip = 0;
    }
    return ids;
  }

  /** Every id in order; for reading until the next change. */
  values(): readonly number[] {
    const [only, ...more] = this.#chunks;
    return more.length === 0 ? (only ?? []) : this.#chunks.flat();
  }

  [Symbol.iterator](): Iterator<number> {
    return this.values()[Symbol.iterator]();
  }

  /** The first chunk whose last id does not stand before. */
  #chunkOf(before: Before): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && before(last)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function positionIn(chunk: readonly number[], before: Before): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(chunk[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}
