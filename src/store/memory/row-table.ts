/**
 * Rows by id, in chunks of neighbouring ids. A snapshot shares the chunks; a write to a shared
 * chunk copies it first. So a snapshot costs one reference a chunk, and a write at most one copy of
 * a chunk for each snapshot.
 */
import type { Row, Scalar } from '../../model/kind.ts';
import { countBefore } from './binary-search.ts';
import { CHUNK_SIZE, ChunkRows, type Column } from './chunk-rows.ts';
import type { IdList } from './id-list.ts';
import { valueText } from './plain-value.ts';
import { type TableChunk, TableIds } from './table-ids.ts';

interface Chunk extends TableChunk {
  /** The number of snapshots taken before the chunk was made: none of them shares it. */
  since: number;
}

/** A source of the values of one attribute. */
export interface Columns {
  /**
   * Every row by ascending id, in parts.
   *
   * @param attribute null if no values are needed; then the columns have none.
   */
  columns(attribute: string | null): Iterable<Column>;
}

/** The rows of a table, by ascending id, in parts of neighbouring ids. */
export interface RowParts {
  chunks(): Iterable<{
    readonly number: number;
    /** Rows in it. */
    readonly size: number;
    readonly rows: Pick<ChunkRows, 'text' | 'written'>;
  }>;
}

/** The rows of a table as they were at one moment. */
export interface RowSnapshot extends Iterable<Row>, Columns, RowParts {
  has(id: number): boolean;
  get(id: Scalar): Row | undefined;
  /** See {@link ChunkRows.peek}. */
  peek(id: Scalar): Row | undefined;
  /** Every id, ascending. */
  ids(): number[];
}

export class RowTable implements Columns {
  readonly #chunks = new Map<number, Chunk>();
  /** The chunks by ascending number; null if they have to be sorted again. */
  #ordered: readonly Chunk[] | null = null;
  #size = 0;
  #snapshots = 0;

  /** Every id, ascending: a table needs no index of them. */
  readonly ids: IdList = new TableIds(
    () => this.#inOrder(),
    () => this.#share(),
  );

  constructor(rows: Iterable<Row> = []) {
    for (const row of rows) this.set(row);
  }

  /** @param chunks of a table, each once; the table takes ownership of them. */
  static ofChunks(chunks: Iterable<TableChunk>): RowTable {
    const table = new RowTable();
    table.#adopt(chunks);
    return table;
  }

  get size(): number {
    return this.#size;
  }

  get(id: Scalar): Row | undefined {
    return typeof id === 'number' ? this.#chunkOf(id)?.get(id % CHUNK_SIZE) : undefined;
  }

  /** See {@link ChunkRows.peek}. */
  peek(id: Scalar): Row | undefined {
    return typeof id === 'number' ? this.#chunkOf(id)?.peek(id % CHUNK_SIZE) : undefined;
  }

  has(id: number): boolean {
    return this.#chunkOf(id)?.has(id % CHUNK_SIZE) === true;
  }

  /** The lowest id from `from` on; undefined if there is none. It skips what was deleted. */
  firstId(from: number): number | undefined {
    const chunks = this.#inOrder();
    const wanted = Math.floor(from / CHUNK_SIZE);
    const nth = countBefore(chunks.length, (at) => (chunks[at] as Chunk).number < wanted);
    // No chunk is empty, so the row is in the first one or the next.
    for (const { number, rows } of chunks.slice(nth, nth + 2)) {
      const begin = number * CHUNK_SIZE;
      for (let at = Math.max(from - begin, 0); at < rows.length; at += 1) {
        if (rows.has(at)) return begin + at;
      }
    }
    return undefined;
  }

  /**
   * The ids of the rows that have a value, ascending, without an index.
   *
   * @param value not null.
   * @returns null if that would require reading the rows one by one.
   */
  idsWith(attribute: string, value: Scalar): number[] | null {
    const text = valueText(attribute, value);
    const ids: number[] = [];
    for (const { rows } of this.#inOrder()) {
      const found = rows.idsWith(attribute, value, text);
      if (found === null) return null;
      for (const id of found) ids.push(id);
    }
    return ids;
  }

  #chunkOf(id: number): ChunkRows | undefined {
    return this.#chunks.get(Math.floor(id / CHUNK_SIZE))?.rows;
  }

  set(row: Row): void {
    const chunk = this.#writableChunk(row.id);
    if (!chunk.rows.has(row.id % CHUNK_SIZE)) {
      this.#size += 1;
      chunk.size += 1;
    }
    chunk.rows.set(row.id % CHUNK_SIZE, row);
  }

  delete(id: number): void {
    if (!this.has(id)) return;
    const chunk = this.#writableChunk(id);
    chunk.rows.set(id % CHUNK_SIZE, undefined);
    this.#size -= 1;
    if ((chunk.size -= 1) > 0) return;
    this.#chunks.delete(chunk.number);
    this.#ordered = null;
  }

  /** Starts a plan of writes, which do not change this table until {@link RowTable.adopt}. */
  plan(): PlannedRows {
    return new PlannedRows((number) => this.#chunks.get(number));
  }

  /**
   * Applies a plan, at the cost of one reference for each chunk that differs.
   *
   * @param planned of this table, which must not have changed since.
   */
  adopt(planned: PlannedRows): void {
    this.#adopt(planned.chunks());
  }

  #adopt(chunks: Iterable<TableChunk>): void {
    for (const { number, rows, size } of chunks) {
      const chunk = this.#chunks.get(number);
      this.#size += size - (chunk?.size ?? 0);
      if (size === 0) this.#chunks.delete(number);
      else this.#chunks.set(number, { number, since: this.#snapshots, rows, size });
      this.#ordered = null;
    }
  }

  /** Every row by ascending id; the iterator is valid until the next change. */
  values(): Generator<Row> {
    return rowsOf(this.#inOrder().map(({ rows }) => rows));
  }

  /** See {@link Columns.columns}; valid until the next change. */
  columns(attribute: string | null): Generator<Column> {
    return columnsOf(
      this.#inOrder().map(({ rows }) => rows),
      attribute,
    );
  }

  /** @returns the rows as they are now, by ascending id; later changes do not show in it. */
  snapshot(): RowSnapshot {
    const chunks = this.#share();
    const shared = new Map(chunks.map(({ number, rows }) => [number, rows]));
    const chunkOf = (id: number) => shared.get(Math.floor(id / CHUNK_SIZE));
    return {
      has: (id) => chunkOf(id)?.has(id % CHUNK_SIZE) === true,
      get: (id) => (typeof id === 'number' ? chunkOf(id)?.get(id % CHUNK_SIZE) : undefined),
      peek: (id) => (typeof id === 'number' ? chunkOf(id)?.peek(id % CHUNK_SIZE) : undefined),
      ids: () => [...shared.values()].flatMap((rows) => rows.ids()),
      chunks: () => chunks,
      columns: (attribute) => columnsOf(shared.values(), attribute),
      [Symbol.iterator]: () => rowsOf(shared.values()),
    };
  }

  #inOrder(): readonly Chunk[] {
    this.#ordered ??= [...this.#chunks.values()].sort((a, b) => a.number - b.number);
    return this.#ordered;
  }

  /** Marks the chunks as shared: the next write to one copies its rows first (copy-on-write). */
  #share(): readonly Readonly<TableChunk>[] {
    this.#snapshots += 1;
    return this.#inOrder().map(({ number, rows, size }) => ({ number, rows, size }));
  }

  /** The chunk that the id belongs to, not shared with any snapshot. */
  #writableChunk(id: number): Chunk {
    const number = Math.floor(id / CHUNK_SIZE);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      const rows = new ChunkRows(number * CHUNK_SIZE);
      chunk = { number, since: this.#snapshots, rows, size: 0 };
      this.#chunks.set(number, chunk);
      this.#ordered = null;
    } else if (chunk.since < this.#snapshots) {
      chunk.rows = chunk.rows.copy();
      chunk.since = this.#snapshots;
    }
    return chunk;
  }
}

/** The rows of a table as they will be: copies of the chunks that differ. */
export class PlannedRows {
  readonly #chunkOf: (number: number) => Pick<Chunk, 'rows' | 'size'> | undefined;
  readonly #planned = new Map<number, TableChunk>();

  /** @param chunkOf the chunks of the table by number. */
  constructor(chunkOf: (number: number) => Pick<Chunk, 'rows' | 'size'> | undefined) {
    this.#chunkOf = chunkOf;
  }

  get(id: Scalar): Row | undefined {
    if (typeof id !== 'number') return undefined;
    const number = Math.floor(id / CHUNK_SIZE);
    return (this.#planned.get(number) ?? this.#chunkOf(number))?.rows.get(id % CHUNK_SIZE);
  }

  /** @param row null to delete it. */
  set(id: number, row: Row | null): void {
    const chunk = this.#writableChunk(Math.floor(id / CHUNK_SIZE));
    const at = id % CHUNK_SIZE;
    chunk.size += Number(row !== null) - Number(chunk.rows.has(at));
    chunk.rows.set(at, row ?? undefined);
  }

  /** The chunks that differ. */
  chunks(): Iterable<Readonly<TableChunk>> {
    return this.#planned.values();
  }

  #writableChunk(number: number): TableChunk {
    let chunk = this.#planned.get(number);
    if (chunk === undefined) {
      const { rows, size = 0 } = this.#chunkOf(number) ?? {};
      chunk = { number, rows: rows?.copy() ?? new ChunkRows(number * CHUNK_SIZE), size };
      this.#planned.set(number, chunk);
    }
    return chunk;
  }
}

function* rowsOf(chunks: Iterable<ChunkRows>): Generator<Row> {
  for (const chunk of chunks) yield* chunk.values();
}

function* columnsOf(chunks: Iterable<ChunkRows>, attribute: string | null): Generator<Column> {
  for (const rows of chunks) yield rows.column(attribute);
}
