/** The ids of a table, read from its chunks, without an index. */
import { CHUNK_SIZE, type ChunkRows } from './chunk-rows.ts';
import type { IdList } from './id-list.ts';

export interface TableChunk {
  /** Its ids divided by {@link CHUNK_SIZE}, rounded down. */
  readonly number: number;
  /** By id modulo {@link CHUNK_SIZE}. */
  rows: ChunkRows;
  /** Rows in it. */
  size: number;
}

export class TableIds implements IdList {
  readonly #chunks: () => readonly Readonly<TableChunk>[];
  readonly #share: () => readonly { readonly rows: ChunkRows }[];

  /**
   * @param chunks those of the table, in order.
   * @param share the same, marked as shared so that they no longer change.
   */
  constructor(
    chunks: () => readonly Readonly<TableChunk>[],
    share: () => readonly { readonly rows: ChunkRows }[],
  ) {
    this.#chunks = chunks;
    this.#share = share;
  }

  get length(): number {
    return this.#chunks().reduce((length, { size }) => length + size, 0);
  }

  get last(): number | undefined {
    return this.#chunks().at(-1)?.rows.lastId;
  }

  slice(offset: number, count: number): number[] {
    const found: number[] = [];
    let skip = offset;
    for (const { number, rows, size } of this.#chunks()) {
      if (found.length >= count) break;
      if (skip >= size) {
        skip -= size;
        continue;
      }
      // Without a gap, the place of a row is known.
      const start = size === rows.length ? skip : 0;
      skip -= start;
      for (let at = start; at < rows.length && found.length < count; at += 1) {
        if (!rows.has(at)) continue;
        if (skip > 0) skip -= 1;
        else found.push(number * CHUNK_SIZE + at);
      }
    }
    return found;
  }

  values(): readonly number[] {
    return this.#chunks().flatMap(({ rows }) => rows.ids());
  }

  *chunks(backwards: boolean): Generator<readonly number[]> {
    const chunks = this.#chunks();
    for (const { rows } of backwards ? chunks.toReversed() : chunks) {
      yield backwards ? rows.ids().reverse() : rows.ids();
    }
  }

  snapshot(backwards = false): Iterable<number> {
    const shared = this.#share().map(({ rows }) => rows);
    if (backwards) shared.reverse();
    return {
      *[Symbol.iterator]() {
        for (const rows of shared) yield* backwards ? rows.ids().reverse() : rows.ids();
      },
    };
  }
}
