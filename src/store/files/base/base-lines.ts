/** Reads a base line by line as its bytes arrive. Of each row, only the id is read. */
import { KIND_NAMES, type KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { RowTable } from '../../memory/row-table.ts';
import { TextTable } from '../../memory/text-table.ts';
import type { BaseTables } from './base-state.ts';
import { closingOf, idIn, MORE_ROWS, parserOf } from './row-line.ts';

/** The most bytes of a line. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** The last characters of the first line. */
const TABLES = '"tables":{';

/** The line that begins a table. An empty table ends on it. */
const TABLE = /^"(\w+)":\[(?:(\],)|(\]))?$/;

/** What the next line has to be. */
type Expected = 'head' | 'table' | 'row' | 'end';

export class BaseLines {
  readonly #path: string;
  /** The pieces of a line that has not ended. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #expected: Expected = 'head';
  #head: unknown;
  /** The tables that were read so far. */
  #tables: Partial<Record<KindName, TextTable>> = {};
  /** The table whose rows are read. */
  #table: TextTable | null = null;
  /** Whether the lines are not those that we write. */
  #isIrregular = false;

  /** @param path of the file, for messages. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the next bytes, which the caller must not use again: the rows stay in them. */
  take(bytes: Buffer): void {
    let start = 0;
    while (!this.#isIrregular) {
      if (this.#expected === 'row' && this.#lineBytes === 0) start = this.#readRows(bytes, start);
      const end = bytes.indexOf(LINE_FEED, start);
      if (end < 0) break;
      // Most lines are in one piece, and are read in place.
      if (this.#lineBytes === 0 && end - start <= MAX_LINE_BYTES) {
        this.#endLine(bytes, start, end);
      } else {
        this.#continueLine(bytes.subarray(start, end));
        const line = this.#heldLine();
        this.#endLine(line, 0, line.length);
      }
      start = end + 1;
    }
    if (!this.#isIrregular) this.#continueLine(bytes.subarray(start));
  }

  /**
   * Takes the rows whose lines are in some bytes, except the last one of a table.
   *
   * @returns the start of the first line that is something else, or not complete.
   */
  #readRows(bytes: Buffer, from: number): number {
    const table = this.#table;
    if (table === null) return from;
    let start = from;
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, start);
      const id = end < 0 ? null : idIn(bytes, start);
      const isRow = id !== null && id > table.lastId && closingOf(bytes, end) === MORE_ROWS;
      if (!isRow) return start;
      table.add(id, bytes, start, end - MORE_ROWS.length);
      start = end + 1;
    }
  }

  /**
   * Ends the document before its checksum.
   *
   * @returns null if the lines are not those that we write.
   */
  end(): BaseTables | null {
    this.#endLines();
    if (this.#isIrregular) return null;
    const rows = perKind(({ name }) => this.#tables[name]?.end() ?? new RowTable());
    return { head: this.#head, rows };
  }

  #continueLine(bytes: Buffer): void {
    this.#lineBytes += bytes.length;
    if (bytes.length > 0) this.#line.push(bytes);
    if (this.#lineBytes > MAX_LINE_BYTES) this.#reject();
  }

  /** Removes and joins the pieces of the line that was held. */
  #heldLine(): Buffer {
    const line = Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    return line;
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#isIrregular) return;
    try {
      if (this.#expected === 'row') this.#readRow(bytes, start, end);
      else if (this.#expected === 'head') this.#readHead(bytes.toString('utf8', start, end));
      else if (this.#expected === 'table') this.#readTable(bytes.toString('utf8', start, end));
      else this.#reject();
    } catch {
      // Reading the document as a whole reports what it is.
      this.#reject();
    }
  }

  /** The last line has no line feed: the checksum follows. */
  #endLines(): void {
    if (this.#isIrregular) return;
    if (this.#expected !== 'end' || this.#heldLine().toString('utf8') !== '}') this.#reject();
  }

  #readHead(line: string): void {
    if (!line.endsWith(TABLES)) {
      this.#reject();
      return;
    }
    this.#head = JSON.parse(`${line}}}`);
    this.#expected = 'table';
  }

  #readTable(line: string): void {
    const [, name = '', more, last] = TABLE.exec(line) ?? [];
    if (!isKindName(name) || this.#tables[name] !== undefined) {
      this.#reject();
      return;
    }
    this.#table = new TextTable(parserOf(this.#path, name));
    this.#tables[name] = this.#table;
    if (last !== undefined) this.#expected = 'end';
    else if (more === undefined) this.#expected = 'row';
  }

  #readRow(bytes: Buffer, start: number, end: number): void {
    const id = idIn(bytes, start);
    const closing = closingOf(bytes, end);
    const table = this.#table;
    if (id === null || closing === null || table === null || id <= table.lastId) {
      this.#reject();
    } else {
      table.add(id, bytes, start, end - closing.length);
      this.#expected = closing.next;
    }
  }

  #reject(): void {
    this.#isIrregular = true;
    this.#line = [];
    this.#tables = {};
    this.#table = null;
  }
}

const KINDS: ReadonlySet<string> = new Set(KIND_NAMES);

function isKindName(name: string): name is KindName {
  return KINDS.has(name);
}
