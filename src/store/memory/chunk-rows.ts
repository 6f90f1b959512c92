/**
 * The rows of one chunk of a table. Rows of a base are text until they are requested: a start reads
 * no row, and a row that is never requested takes only the bytes of its text. A chunk may even be
 * sealed: then its rows were not located in its text yet.
 *
 * Invariants:
 * 1. A row requested by its place is the same object every time, until another is set there.
 * 2. The text is released when all of its rows were read. When half of its rows were requested, the
 *    others are read as well: otherwise a chunk in use would keep its text in addition to its rows.
 */
import type { Row, Scalar } from '../../model/kind.ts';

/** Ids of one chunk. */
export const CHUNK_SIZE = 1024;

/** Bytes between two rows of a text: a comma and a line feed. */
const BETWEEN_BYTES = 2;

/** The most bytes of neighbouring rows that are written together. */
const MAX_WRITTEN_BYTES = 32 * 1024;

/** The text of rows, each identified by the offset at which it begins. */
export interface RowTexts {
  /** How many rows there are. */
  readonly count: number;
  /** All of it, with a comma and a line feed between two rows; null if its layout may differ. */
  readonly ours: Buffer | null;
  /**
   * @param start of the row, in bytes.
   * @param id that the row has to have.
   * @throws CatalogError `store_damaged` if the text is not that of such a row.
   */
  read(start: number, id: number): Row;
  /** The end of the row that begins at `start`, in bytes. */
  endOf(start: number): number;
  /**
   * All rows in their order, which costs less than reading them one by one.
   *
   * @returns null if they are too long for that, or if {@link RowTexts.read} would throw.
   */
  readAll(): Row[] | null;
  /**
   * The values of one attribute in the order of the rows, without the rows.
   *
   * @returns null if a row has no value, or one that cannot be read without parsing the row, such
   *   as a text with a backslash in it.
   */
  values(attribute: string): Scalar[] | null;
  /**
   * The offsets of the rows that have an attribute with a value, found by its text.
   *
   * @param text as `valueText` makes it.
   * @returns null if the layout of the texts may differ from ours.
   */
  startsWith(text: Buffer): number[] | null;
}

/** Some rows by ascending id: their ids, and their values of an attribute. */
export interface Column {
  readonly ids: readonly number[];
  readonly values: readonly Scalar[];
}

/** A row, or the offset of its text if it was not requested yet; undefined if there is none. */
type Place = Row | number | undefined;

/** The rows of a chunk, each at its place. */
export interface LocatedRows {
  readonly places: Place[];
  /** Null if no place is text. */
  readonly texts: RowTexts | null;
  /** How many places are text. */
  readonly unread: number;
}

/** The text of a chunk, as we write it, in which the rows were not located yet. */
export interface SealedRows {
  /** All of it, with a comma and a line feed between two rows. */
  readonly bytes: Buffer;
  /** Whether a row has an attribute with a value. @param text as `valueText` makes it. */
  includes(text: Buffer): boolean;
  /** @throws CatalogError `store_damaged` if it is not the text of the chunk's rows. */
  open(): LocatedRows;
}

export class ChunkRows {
  /** The id of the first place; the next place has the next id. */
  readonly #firstId: number;
  #sealed: SealedRows | null = null;
  #places: Place[] = [];
  #texts: RowTexts | null = null;
  #unread = 0;
  /** Whether the texts, while they are kept, are those of all rows. */
  #isWhole = false;

  /** @param contents of which it takes ownership; none if left out. */
  constructor(firstId: number, contents?: LocatedRows | SealedRows) {
    this.#firstId = firstId;
    if (contents === undefined) return;
    if ('open' in contents) this.#sealed = contents;
    else this.#take(contents);
  }

  /** The number of places, up to the last one that ever had a row. */
  get length(): number {
    this.#open();
    return this.#places.length;
  }

  has(at: number): boolean {
    this.#open();
    return this.#places[at] !== undefined;
  }

  get(at: number): Row | undefined {
    this.#open();
    const place = this.#places[at];
    if (typeof place !== 'number') return place;
    const row = this.#read(place, this.#firstId + at);
    this.#put(at, row);
    return row;
  }

  /** Returns the row without keeping it: a row stored as text stays text. */
  peek(at: number): Row | undefined {
    this.#open();
    const place = this.#places[at];
    return typeof place === 'number' ? this.#read(place, this.#firstId + at) : place;
  }

  set(at: number, row: Row | undefined): void {
    this.#open();
    this.#isWhole = false;
    if (typeof this.#places[at] === 'number') this.#put(at, row);
    else this.#places[at] = row;
  }

  /** The text of all rows if it is there exactly as we write it; otherwise null. */
  get text(): Buffer | null {
    if (this.#sealed !== null) return this.#sealed.bytes;
    return this.#isWhole ? (this.#texts?.ours ?? null) : null;
  }

  /** @returns the same rows; changes of one of the two do not affect the other. */
  copy(): ChunkRows {
    this.#open();
    return new ChunkRows(this.#firstId, {
      places: this.#places.slice(),
      texts: this.#texts,
      unread: this.#unread,
    });
  }

  /** The ids that have a row, ascending. */
  ids(): number[] {
    this.#open();
    const ids: number[] = [];
    for (let at = 0; at < this.#places.length; at += 1) {
      if (this.#places[at] !== undefined) ids.push(this.#firstId + at);
    }
    return ids;
  }

  /** The highest id that has a row. */
  get lastId(): number | undefined {
    this.#open();
    const at = this.#places.findLastIndex((place) => place !== undefined);
    return at < 0 ? undefined : this.#firstId + at;
  }

  /**
   * The ids of the rows that have a value, ascending. It costs a fraction of reading all values, as
   * long as few rows were requested.
   *
   * @param text of the value, as `valueText` makes it.
   * @returns null if the layout of the texts may differ from ours.
   */
  idsWith(attribute: string, value: Scalar, text: Buffer): number[] | null {
    if (this.#sealed?.includes(text) === false) return [];
    this.#open();
    const found = this.#texts === null ? [] : this.#texts.startsWith(text);
    if (found === null) return null;
    const starts = new Set(found);
    const ids: number[] = [];
    for (let at = 0; at < this.#places.length; at += 1) {
      const place = this.#places[at];
      const isFound = typeof place === 'number' ? starts.has(place) : place?.[attribute] === value;
      if (isFound) ids.push(this.#firstId + at);
    }
    return ids;
  }

  /**
   * The ids that have a row, ascending, and their values of an attribute.
   *
   * @param attribute null if no values are needed; then there are none.
   */
  column(attribute: string | null): Column {
    const ids = this.ids();
    if (attribute === null) return { ids, values: [] };
    const values = this.#allText(ids.length)?.values(attribute) ?? null;
    return { ids, values: values ?? Array.from(this.values(), (row) => row[attribute] ?? null) };
  }

  /** Every row by ascending id. Rows that are text stay text, so that none is kept in memory. */
  *values(): Generator<Row> {
    const ids = this.ids();
    const rows = this.#allText(ids.length)?.readAll() ?? [];
    if (rows.length === ids.length && rows.every(({ id }, index) => id === ids[index])) {
      for (const row of rows) yield row;
      return;
    }
    for (const id of ids) {
      const place = this.#places[id - this.#firstId];
      if (typeof place === 'number') yield this.#read(place, id);
      else if (place !== undefined) yield place;
    }
  }

  /**
   * Every row by ascending id, for writing. Rows whose text is exactly as we write it come as
   * bytes, neighbours together with a comma and a line feed between two.
   */
  *written(): Generator<Row | Buffer> {
    this.#open();
    const texts = this.#texts;
    const ours = texts?.ours ?? null;
    if (texts === null || ours === null) {
      yield* this.values();
      return;
    }
    let run: { readonly start: number; end: number } | null = null;
    for (let at = 0; at < this.#places.length; at += 1) {
      const place = this.#places[at];
      if (place === undefined) continue;
      if (typeof place === 'number') {
        const end = texts.endOf(place);
        if (run?.end === place - BETWEEN_BYTES && end - run.start <= MAX_WRITTEN_BYTES) {
          run.end = end;
          continue;
        }
        if (run !== null) yield ours.subarray(run.start, run.end);
        run = { start: place, end };
      } else {
        if (run !== null) yield ours.subarray(run.start, run.end);
        run = null;
        yield place;
      }
    }
    if (run !== null) yield ours.subarray(run.start, run.end);
  }

  /** Locates the rows, if that was not done yet. */
  #open(): void {
    if (this.#sealed === null) return;
    this.#take(this.#sealed.open());
    this.#sealed = null;
  }

  #take({ places, texts, unread }: LocatedRows): void {
    this.#places = places;
    this.#texts = texts;
    this.#unread = unread;
    // If fewer rows are unread than there are texts, a text may be that of a deleted row.
    this.#isWhole = texts?.count === unread && places.every((place) => typeof place !== 'object');
  }

  /** The texts, if they are those of all rows. @param rows how many there are. */
  #allText(rows: number): RowTexts | null {
    const texts = this.#texts;
    return texts?.count === this.#unread && texts.count === rows ? texts : null;
  }

  #read(start: number, id: number): Row {
    if (this.#texts === null)
      throw new Error(`the text of row ${id} was let go before it was read`);
    return this.#texts.read(start, id);
  }

  /** Replaces a text. */
  #put(at: number, row: Row | undefined): void {
    this.#places[at] = row;
    this.#unread -= 1;
    if (this.#unread === 0) this.#texts = null;
    else if (this.#texts !== null && this.#unread === this.#texts.count >> 1) {
      this.#readRest(this.#texts);
    }
  }

  /** Reads every text, unless they are too long for one turn, or one of them cannot be read. */
  #readRest(texts: RowTexts): void {
    const rows = texts.readAll() ?? [];
    // Otherwise a text would replace the row of another place, or lose the second of two rows.
    const isInOrder = rows.every(({ id }, index) => id > (rows[index - 1]?.id ?? 0));
    for (const row of isInOrder && rows.length === texts.count ? rows : []) {
      const at = row.id - this.#firstId;
      if (typeof this.#places[at] === 'number') this.#put(at, row);
    }
  }
}
