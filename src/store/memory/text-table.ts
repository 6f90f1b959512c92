/** A table whose rows stay text until somebody asks for them, made row by row. */
import type { Row, Scalar } from '../../model/kind.ts';
import { CHUNK_SIZE, ChunkRows, type RowTexts } from './chunk-rows.ts';
import { valueAt } from './plain-value.ts';
import { type PlannedChunk, RowTable } from './row-table.ts';

const LINE_FEED = 0x0a;

/** What is between two rows. */
const SEPARATOR = Buffer.from(',\n');

/** Bytes of a row that stays text, at most: many of them are read in one turn. */
const MAX_ROW_BYTES = 1024;

/** Bytes of texts that are read at once, at most. */
const MAX_BYTES_AT_ONCE = 512 * 1024;

/** How the texts of rows are read. */
export interface RowParser {
  /** @throws CatalogError `store_damaged` if the text is not that of the row with the id. */
  row(text: string, id: number): Row;
  /** @returns the rows of texts with a comma between two; null if it is not that. */
  rows(texts: string): Row[] | null;
}

/** Rows that follow each other in one memory, with {@link SEPARATOR} between two. */
interface Run {
  readonly bytes: Buffer;
  readonly start: number;
  end: number;
}

/** The chunk to which rows are being added. */
interface Growing {
  /** The id that the first place is for. */
  readonly firstId: number;
  /** Where the text of a row begins, or the row if it is long, by its place in the chunk. */
  readonly places: (Row | number | undefined)[];
  /** How many rows there are, and how many of them are text. */
  rows: number;
  unread: number;
  /** The last one is `run`. */
  readonly runs: Run[];
  run: Run | null;
  /** Bytes of all runs but the last, each with what follows it. */
  length: number;
}

export class TextTable {
  readonly #parser: RowParser;
  readonly #chunks: PlannedChunk[] = [];
  #chunk: Growing | null = null;
  #lastId = 0;

  constructor(parser: RowParser) {
    this.#parser = parser;
  }

  /** The id of the row that was added last; 0 if there is none. */
  get lastId(): number {
    return this.#lastId;
  }

  /**
   * @param id higher than that of every row before.
   * @param bytes that hold the text, without a line feed, from `start` to before `end`. The table
   *   keeps them. If they are those of the row before, its text ends two bytes before this one.
   * @throws CatalogError `store_damaged` if a long text is not that of a row with the id.
   */
  add(id: number, bytes: Buffer, start: number, end: number): void {
    let chunk = this.#chunk;
    if (chunk === null || id >= chunk.firstId + CHUNK_SIZE) chunk = this.#beginChunk(id);
    const { places, firstId } = chunk;
    while (places.length < id - firstId) places.push(undefined);
    if (end - start > MAX_ROW_BYTES) {
      places.push(this.#parser.row(bytes.toString('utf8', start, end), id));
    } else {
      places.push(placeIn(chunk, bytes, start, end));
      chunk.unread += 1;
    }
    chunk.rows += 1;
    this.#lastId = id;
  }

  /** @returns the table, after all rows were added. */
  end(): RowTable {
    this.#endChunk();
    return RowTable.ofChunks(this.#chunks);
  }

  #beginChunk(id: number): Growing {
    this.#endChunk();
    const firstId = id - (id % CHUNK_SIZE);
    this.#chunk = { firstId, places: [], rows: 0, unread: 0, runs: [], run: null, length: 0 };
    return this.#chunk;
  }

  #endChunk(): void {
    if (this.#chunk === null) return;
    const { firstId, places, rows: size, unread, runs } = this.#chunk;
    const texts = unread === 0 ? null : new Texts(bytesOf(runs), unread, this.#parser);
    const rows = new ChunkRows(firstId, { places, texts, unread });
    this.#chunks.push({ number: firstId / CHUNK_SIZE, rows, size });
    this.#chunk = null;
  }
}

/** @returns where a text will begin among those of its chunk. */
function placeIn(chunk: Growing, bytes: Buffer, start: number, end: number): number {
  const { run } = chunk;
  // A long row between two others ends a run as well.
  if (run !== null && run.bytes === bytes && run.end + SEPARATOR.length === start) {
    run.end = end;
    return chunk.length + start - run.start;
  }
  if (run !== null) chunk.length += run.end - run.start + SEPARATOR.length;
  chunk.run = { bytes, start, end };
  chunk.runs.push(chunk.run);
  return chunk.length;
}

/** @returns the texts of all runs, copied only if there are several. */
function bytesOf(runs: readonly Run[]): Buffer {
  const [first, ...more] = runs.map(({ bytes, start, end }) => bytes.subarray(start, end));
  if (first === undefined) return SEPARATOR.subarray(0, 0);
  if (more.length === 0) return first;
  return Buffer.concat([first, ...more.flatMap((bytes) => [SEPARATOR, bytes])]);
}

class Texts implements RowTexts {
  readonly #bytes: Buffer;
  readonly count: number;
  readonly #parser: RowParser;

  constructor(bytes: Buffer, count: number, parser: RowParser) {
    this.#bytes = bytes;
    this.count = count;
    this.#parser = parser;
  }

  read(start: number, id: number): Row {
    const line = this.#bytes.indexOf(LINE_FEED, start);
    // A comma stands before the line feed.
    const end = line < 0 ? this.#bytes.length : line - 1;
    return this.#parser.row(this.#bytes.toString('utf8', start, end), id);
  }

  readAll(): Row[] | null {
    if (this.#bytes.length > MAX_BYTES_AT_ONCE) return null;
    return this.#parser.rows(this.#bytes.toString('utf8'));
  }

  values(attribute: string): Scalar[] | null {
    const name = Buffer.from(`${JSON.stringify(attribute)}:`);
    const values: Scalar[] = [];
    for (let start = 0; start < this.#bytes.length; ) {
      const line = this.#bytes.indexOf(LINE_FEED, start);
      const end = line < 0 ? this.#bytes.length : line;
      // In a text within a row, a backslash would stand before each quotation mark.
      const at = this.#bytes.indexOf(name, start);
      const value = at < 0 || at >= end ? undefined : valueAt(this.#bytes, at + name.length);
      if (value === undefined) return null;
      values.push(value);
      start = end + 1;
    }
    return values;
  }
}
