/** The places of cache entries by row id. Neighbouring ids, which lists read, are kept together. */

/** Ids of one block. */
const BLOCK_IDS = 1024;

/** The memory of a block, about, in bytes: a number for each id. */
const BLOCK_BYTES = BLOCK_IDS * 4 + 256;

/** The place of an entry that does not exist. */
export const NOWHERE = 0;

/** A block of neighbouring ids; the index of an id is its remainder. */
interface Block {
  readonly places: Uint32Array;
  /** Ids that have an entry. */
  count: number;
}

/** A place is a number that the cache chooses, from 1 to 2^32 - 1. */
export class RowPlaces {
  readonly #blocks = new Map<number, Block>();

  /** Its memory, about, in bytes. */
  get bytes(): number {
    return this.#blocks.size * BLOCK_BYTES;
  }

  /** @returns the place of the entry; {@link NOWHERE} if there is none. */
  find(id: number): number {
    const block = this.#blocks.get(Math.floor(id / BLOCK_IDS));
    return block?.places[id % BLOCK_IDS] ?? NOWHERE;
  }

  /** @returns the place of the entry that the id had; {@link NOWHERE} if it had none. */
  set(id: number, place: number): number {
    const number = Math.floor(id / BLOCK_IDS);
    let block = this.#blocks.get(number);
    if (block === undefined) {
      block = { places: new Uint32Array(BLOCK_IDS), count: 0 };
      this.#blocks.set(number, block);
    }
    const at = id % BLOCK_IDS;
    const before = block.places[at] ?? NOWHERE;
    if (before === NOWHERE) block.count += 1;
    block.places[at] = place;
    return before;
  }

  /** @returns the place of the entry; {@link NOWHERE} if there was none. */
  delete(id: number): number {
    const number = Math.floor(id / BLOCK_IDS);
    const block = this.#blocks.get(number);
    const at = id % BLOCK_IDS;
    const place = block?.places[at] ?? NOWHERE;
    if (block === undefined || place === NOWHERE) return NOWHERE;
    block.places[at] = NOWHERE;
    block.count -= 1;
    if (block.count === 0) this.#blocks.delete(number);
    return place;
  }
}
