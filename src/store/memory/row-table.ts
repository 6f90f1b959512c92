/**
 * Rows by id, in chunks of ids that stand together. A snapshot shares the chunks, and whoever
 * writes to a shared chunk copies it first: so a snapshot costs a reference a chunk, and a write
 * at most one copy of a chunk for each snapshot.
 */
import type { Row, Scalar } from '../../model/kind.ts';

/** Ids of one chunk. */
const CHUNK_SIZE = 1024;

interface Chunk {
  /** The snapshot, by its number, after which the chunk was made: no earlier one shares it. */
  since: number;
  /** By id modulo {@link CHUNK_SIZE}. */
  rows: (Row | undefined)[];
  /** Rows in it. */
  size: number;
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
    const chunk = this.#own(row.id);
    if (chunk.rows[row.id % CHUNK_SIZE] === undefined) {
      this.#size += 1;
      chunk.size += 1;
    }
    chunk.rows[row.id % CHUNK_SIZE] = row;
  }

  delete(id: number): void {
    if (this.get(id) === undefined) return;
    const chunk = this.#own(id);
    chunk.rows[id % CHUNK_SIZE] = undefined;
    this.#size -= 1;
    chunk.size -= 1;
    if (chunk.size === 0) this.#chunks.delete(Math.floor(id / CHUNK_SIZE));
  }

  /** Every row by ascending id; for reading until the next change. */
  values(): Generator<Row> {
    return rowsOf(this.#inOrder());
  }

  /** @returns the rows as they are now, by ascending id, whatever changes from here on. */
  snapshot(): Iterable<Row> {
    this.#snapshots += 1;
    const shared = this.#inOrder();
    return { [Symbol.iterator]: () => rowsOf(shared) };
  }

  #inOrder(): Chunk['rows'][] {
    return [...this.#chunks].sort(([a], [b]) => a - b).map(([, { rows }]) => rows);
  }

  /** The chunk that the id belongs to, for writing. */
  #own(id: number): Chunk {
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

function* rowsOf(chunks: readonly Chunk['rows'][]): Generator<Row> {
  for (const chunk of chunks) {
    for (const row of chunk) if (row !== undefined) yield row;
  }
}
