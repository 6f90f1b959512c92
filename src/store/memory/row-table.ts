/**
 * Rows by id, in chunks of neighbouring ids. A snapshot shares the chunks; a write to a shared
 * chunk copies it first. So a snapshot costs one reference a chunk, and a write at most one copy of
 * a chunk for each snapshot.
 */
import type { Row, Scalar } from '../../model/kind.ts';

/** Ids of one chunk. */
const CHUNK_SIZE = 1024;

type Rows = (Row | undefined)[];

interface Chunk {
  /** The number of snapshots taken when the chunk was made: none of them shares it. */
  since: number;
  /** By id modulo {@link CHUNK_SIZE}. */
  rows: Rows;
  /** Rows in it. */
  size: number;
}

/** The rows of a table as they were at one moment. */
export interface RowSnapshot extends Iterable<Row> {
  /** How many rows there are. */
  readonly size: number;
  /** @returns the row, or undefined if there was none. */
  get(id: Scalar): Row | undefined;
}

export class RowTable {
  readonly #chunks = new Map<number, Chunk>();
  #size = 0;
  #snapshots = 0;

  constructor(rows: Iterable<Row> = []) {
    for (const row of rows) this.set(row);
  }

  get size(): number {
    return this.#size;
  }

  get(id: Scalar): Row | undefined {
    if (typeof id !== 'number') return undefined;
    return this.#chunks.get(Math.floor(id / CHUNK_SIZE))?.rows[id % CHUNK_SIZE];
  }

  set(row: Row): void {
    const chunk = this.#writableChunk(row.id);
    if (chunk.rows[row.id % CHUNK_SIZE] === undefined) {
      this.#size += 1;
      chunk.size += 1;
    }
    chunk.rows[row.id % CHUNK_SIZE] = row;
  }

  delete(id: number): void {
    if (this.get(id) === undefined) return;
    const chunk = this.#writableChunk(id);
    chunk.rows[id % CHUNK_SIZE] = undefined;
    this.#size -= 1;
    chunk.size -= 1;
    if (chunk.size === 0) this.#chunks.delete(Math.floor(id / CHUNK_SIZE));
  }

  /** Every row by ascending id; the iterator is valid until the next change. */
  values(): Generator<Row> {
    return rowsOf(this.#inOrder().map(([, { rows }]) => rows));
  }

  /** @returns the rows as they are now, by ascending id; later changes do not show in it. */
  snapshot(): RowSnapshot {
    this.#snapshots += 1;
    const shared = new Map(this.#inOrder().map(([number, { rows }]) => [number, rows]));
    return {
      size: this.#size,
      get: (id) =>
        typeof id === 'number'
          ? shared.get(Math.floor(id / CHUNK_SIZE))?.[id % CHUNK_SIZE]
          : undefined,
      [Symbol.iterator]: () => rowsOf(shared.values()),
    };
  }

  #inOrder(): [number, Chunk][] {
    return [...this.#chunks].sort(([a], [b]) => a - b);
  }

  /** The chunk that the id belongs to, not shared with any snapshot. */
  #writableChunk(id: number): Chunk {
    const number = Math.floor(id / CHUNK_SIZE);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = { since: this.#snapshots, rows: [], size: 0 };
      this.#chunks.set(number, chunk);
    } else if (chunk.since < this.#snapshots) {
      chunk.rows = chunk.rows.slice();
      chunk.since = this.#snapshots;
    }
    return chunk;
  }
}

function* rowsOf(chunks: Iterable<Rows>): Generator<Row> {
  for (const chunk of chunks) {
    for (const row of chunk) if (row !== undefined) yield row;
  }
}
