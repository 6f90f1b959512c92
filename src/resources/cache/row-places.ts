/**
 * Where the entries of rows are, by id: neighbouring rows, which lists read, are found side by side.
 *
 * Invariant: an entry is found by the row object that it was kept for, and by no other.
 */
import type { Row } from '../../model/kind.ts';

/** Ids of one block. */
const BLOCK_IDS = 1024;

/** What a block takes in memory, in bytes, about: a reference and a number for each id. */
const BLOCK_BYTES = BLOCK_IDS * 12 + 256;

/** The place of an entry that is not there. */
export const NOWHERE = 0;

/** Neighbouring ids; the place of an id is its remainder. */
interface Block {
  readonly rows: (Row | null)[];
  readonly places: Uint32Array;
  /** Rows that have an entry. */
  count: number;
}

/** A place is a number of the cache's choice, from 1 to 2^32 - 1. */
export class RowPlaces {
  readonly #blocks = new Map<number, Block>();

  /** Bytes that it takes, about. */
  get bytes(): number {
    return this.#blocks.size * BLOCK_BYTES;
  }

  /** @param row with the id. @returns the place of its entry; {@link NOWHERE} if it has none. */
  find(id: number, row: Row): number {
    const block = this.#blocks.get(Math.floor(id / BLOCK_IDS));
    const at = id % BLOCK_IDS;
    return block !== undefined && block.rows[at] === row ? (block.places[at] ?? NOWHERE) : NOWHERE;
  }

  /** @returns the row whose entry is at the place; null if the id has none, or one elsewhere. */
  rowAt(id: number, place: number): Row | null {
    const block = this.#blocks.get(Math.floor(id / BLOCK_IDS));
    const at = id % BLOCK_IDS;
    return block !== undefined && block.places[at] === place ? (block.rows[at] ?? null) : null;
  }

  /** @returns the place of the entry that the id had; {@link NOWHERE} if it had none. */
  set(row: Row, place: number): number {
    const number = Math.floor(row.id / BLOCK_IDS);
    let block = this.#blocks.get(number);
    if (block === undefined) this.#blocks.set(number, (block = emptyBlock()));
    const at = row.id % BLOCK_IDS;
    const before = block.places[at] ?? NOWHERE;
    if (before === NOWHERE) block.count += 1;
    block.rows[at] = row;
    block.places[at] = place;
    return before;
  }

  /** @returns the place of the row's entry; {@link NOWHERE} if it has none. */
  delete(row: Row): number {
    const place = this.find(row.id, row);
    const number = Math.floor(row.id / BLOCK_IDS);
    const block = this.#blocks.get(number);
    if (place === NOWHERE || block === undefined) return NOWHERE;
    const at = row.id % BLOCK_IDS;
    block.rows[at] = null;
    block.places[at] = NOWHERE;
    block.count -= 1;
    if (block.count === 0) this.#blocks.delete(number);
    return place;
  }
}

function emptyBlock(): Block {
  return {
    rows: Array.from({ length: BLOCK_IDS }, () => null),
    places: Uint32Array.from({ length: BLOCK_IDS }, () => NOWHERE),
    count: 0,
  };
}
