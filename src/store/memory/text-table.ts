/** Builds, row by row, a table whose rows stay text until they are requested. */
import type { Row, Scalar } from '../../model/kind.ts';
import { CHUNK_SIZE, ChunkRows, type LocatedRows, type RowTexts } from './chunk-rows.ts';
import { indexOfValue, valueAt } from './plain-value.ts';
import { RowTable } from './row-table.ts';
import type { TableChunk } from './table-ids.ts';

const LINE_FEED = 0x0a;

/** What is between two rows. */
const SEPARATOR = Buffer.from(',\n');

/** The most bytes of a row that stays text: many of them are read in one turn of the event loop. */
const MAX_ROW_BYTES = 1024;

/** The most bytes of texts that are read at once. */
const MAX_BYTES_AT_ONCE = 512 * 1024;

/** How the texts of rows are read. */
export interface RowParser {
  /** @throws CatalogError `store_damaged` if the text is not that of the row with the id. */
  row(text: string, id: number): Row;
  /** @returns the rows of texts with a comma between two; null if it is not that. */
  rows(texts: string): Row[] | null;
}

/** Consecutive rows in one buffer, with {@link SEPARATOR} between two. */
interface Run {
  readonly bytes: Buffer;
  readonly start: number;
  end: number;
}

/** Rows of one chunk that are being added, by ascending id. */
export class TextChunk {
  /** The id of the first place. */
  readonly firstId: number;
  readonly #parser: RowParser;
  readonly #isOurs: boolean;
  /** The offset of each row's text, or the row itself if it is long, by its place in the chunk. */
  readonly #places: (Row | number | undefined)[] = [];
  #rows = 0;
  #unread = 0;
  /** The last one is `#run`. */
  readonly #runs: Run[] = [];
  #run: Run | null = null;
  /** Bytes of all runs except the last, each with the separator after it. */
  #length = 0;

  /** @param isOurs whether the texts are exactly as the program writes them. */
  constructor(firstId: number, parser: RowParser, isOurs: boolean) {
    this.firstId = firstId;
    this.#parser = parser;
    this.#isOurs = isOurs;
  }

  /** How many rows were added. */
  get rows(): number {
    return this.#rows;
  }

  /** See {@link TextTable.add}. */
  add(id: number, bytes: Buffer, start: number, end: number): void {
    const places = this.#places;
    while (places.length < id - this.firstId) places.push(undefined);
    if (end - start > MAX_ROW_BYTES) {
      places.push(this.#parser.row(bytes.toString('utf8', start, end), id));
    } else {
      places.push(this.#placeIn(bytes, start, end));
      this.#unread += 1;
    }
    this.#rows += 1;
  }

  /** @returns the content of the chunk, after all rows were added. */
  end(): LocatedRows {
    const unread = this.#unread;
    const texts =
      unread === 0 ? null : new Texts(this.#bytes(), unread, this.#parser, this.#isOurs);
    return { places: this.#places, texts, unread };
  }

  /** @returns the offset at which a text will begin among those of its chunk. */
  #placeIn(bytes: Buffer, start: number, end: number): number {
    const run = this.#run;
    // A long row between two others ends a run as well.
    if (run !== null && run.bytes === bytes && run.end + SEPARATOR.length === start) {
      run.end = end;
      return this.#length + start - run.start;
    }
    if (run !== null) this.#length += run.end - run.start + SEPARATOR.length;
    this.#run = { bytes, start, end };
    this.#runs.push(this.#run);
    return this.#length;
  }

  /** The texts of all runs, copied only if there are several. */
  #bytes(): Buffer {
    const [first, ...more] = this.#runs.map(({ bytes, start, end }) => bytes.subarray(start, end));
    if (first === undefined) return SEPARATOR.subarray(0, 0);
    if (more.length === 0) return first;
    return Buffer.concat([first, ...more.flatMap((bytes) => [SEPARATOR, bytes])]);
  }
}

export class TextTable {
  readonly #parser: RowParser;
  readonly #chunks: TableChunk[] = [];
  #chunk: TextChunk | null = null;
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
    if (chunk === null || id >= chunk.firstId + CHUNK_SIZE) {
      this.#endChunk();
      chunk = new TextChunk(id - (id % CHUNK_SIZE), this.#parser, false);
      this.#chunk = chunk;
    }
    chunk.add(id, bytes, start, end);
    this.#lastId = id;
  }

  /** @returns the table, after all rows were added. */
  end(): RowTable {
    this.#endChunk();
    return RowTable.ofChunks(this.#chunks);
  }

  #endChunk(): void {
    if (this.#chunk === null) return;
    const { firstId, rows: size } = this.#chunk;
    const rows = new ChunkRows(firstId, this.#chunk.end());
    this.#chunks.push({ number: firstId / CHUNK_SIZE, rows, size });
    this.#chunk = null;
  }
}

class Texts implements RowTexts {
  readonly #bytes: Buffer;
  readonly count: number;
  readonly #parser: RowParser;
  readonly #isOurs: boolean;

  constructor(bytes: Buffer, count: number, parser: RowParser, isOurs: boolean) {
    this.#bytes = bytes;
    this.count = count;
    this.#parser = parser;
    this.#isOurs = isOurs;
  }

  read(start: number, id: number): Row {
    return this.#parser.row(this.#bytes.toString('utf8', start, this.endOf(start)), id);
  }

  endOf(start: number): number {
    const line = this.#bytes.indexOf(LINE_FEED, start);
    // There is a comma before the line feed.
    return line < 0 ? this.#bytes.length : line - 1;
  }

  readAll(): Row[] | null {
    if (this.#bytes.length > MAX_BYTES_AT_ONCE) return null;
    return this.#parser.rows(this.#bytes.toString('utf8'));
  }

  values(attribute: string): Scalar[] | null {
    const name = Buffer.from(`${JSON.stringify(attribute)}:`);
    const values: Scalar[] = [];
    // Not within a string of a row: there, a backslash would precede each quotation mark.
    let at = this.#bytes.indexOf(name);
    for (let start = 0; start < this.#bytes.length; ) {
      const line = this.#bytes.indexOf(LINE_FEED, start);
      const end = line < 0 ? this.#bytes.length : line;
      const value = at < 0 || at >= end ? undefined : valueAt(this.#bytes, at + name.length);
      if (value === undefined) return null;
      values.push(value);
      at = this.#bytes.indexOf(name, at + name.length);
      // A person may have written the member twice: then the last one counts.
      if (at >= 0 && at < end) return null;
      start = end + 1;
    }
    return values;
  }

  get ours(): Buffer | null {
    return this.#isOurs ? this.#bytes : null;
  }

  startsWith(text: Buffer): number[] | null {
    if (!this.#isOurs) return null;
    const starts: number[] = [];
    for (let at = indexOfValue(this.#bytes, text); at >= 0; ) {
      starts.push(this.#bytes.lastIndexOf(LINE_FEED, at) + 1);
      at = indexOfValue(this.#bytes, text, at + text.length);
    }
    return starts;
  }
}
