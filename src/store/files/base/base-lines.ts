/** A base that is read line by line, as its bytes come. Of each row the id is read. */
import { messageOf } from '../../../errors.ts';
import { KIND_NAMES, type KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { RowTable } from '../../memory/row-table.ts';
import { TextTable } from '../../memory/text-table.ts';
import type { BaseTables } from './base-state.ts';
import { closingOf, idIn, MORE_ROWS, parserOf } from './row-line.ts';

/** Bytes of a line, at most. */
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
  /** The tables that the document has, as far as they were read. */
  #tables: Partial<Record<KindName, TextTable>> = {};
  /** The table whose rows are read. */
  #table: TextTable | null = null;
  #irregular: string | null = null;

  /** @param path of the file, for messages. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Why the lines are not those that we write; null as long as they are. */
  get irregular(): string | null {
    return this.#irregular;
  }

  /** Takes the next bytes, which nobody may use again: the rows stay in them. */
  take(bytes: Buffer): void {
    let start = 0;
    while (this.#irregular === null) {
      if (this.#expected === 'row' && this.#lineBytes === 0) start = this.#readRows(bytes, start);
      const end = bytes.indexOf(LINE_FEED, start);
      if (end < 0) break;
      // Most lines lie in one piece, and are read where they are.
      if (this.#lineBytes === 0 && end - start <= MAX_LINE_BYTES) {
        this.#endLine(bytes, start, end);
      } else {
        this.#continueLine(bytes.subarray(start, end));
        const line = this.#heldLine();
        this.#endLine(line, 0, line.length);
      }
      start = end + 1;
    }
    if (this.#irregular === null) this.#continueLine(bytes.subarray(start));
  }

  /**
   * Takes the rows whose lines lie in some bytes, but for the last one of a table.
   *
   * @returns where the line begins that is something else, or not whole.
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
    if (this.#irregular !== null) return null;
    const rows = perKind(({ name }) => this.#tables[name]?.end() ?? new RowTable());
    return { head: this.#head, rows };
  }

  #continueLine(bytes: Buffer): void {
    this.#lineBytes += bytes.length;
    if (bytes.length > 0) this.#line.push(bytes);
    if (this.#lineBytes > MAX_LINE_BYTES) this.#reject('a line of it is too long');
  }

  /** The line whose pieces were held, which are not held any more. */
  #heldLine(): Buffer {
    const line = Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    return line;
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#irregular !== null) return;
    try {
      if (this.#expected === 'row') this.#readRow(bytes, start, end);
      else if (this.#expected === 'head') this.#readHead(bytes.toString('utf8', start, end));
      else if (this.#expected === 'table') this.#readTable(bytes.toString('utf8', start, end));
      else this.#reject('it has lines after its tables');
    } catch (error) {
      this.#reject(messageOf(error));
    }
  }

  /** The last line has no line feed: the checksum follows. */
  #endLines(): void {
    if (this.#irregular !== null) return;
    if (this.#expected !== 'end' || this.#heldLine().toString('utf8') !== '}')
      this.#reject('it does not end as a base');
  }

  #readHead(line: string): void {
    if (!line.endsWith(TABLES)) {
      this.#reject('its first line does not end with its tables');
      return;
    }
    this.#head = JSON.parse(`${line}}}`);
    this.#expected = 'table';
  }

  #readTable(line: string): void {
    const [, name = '', more, last] = TABLE.exec(line) ?? [];
    if (!isKindName(name) || this.#tables[name] !== undefined) {
      this.#reject(`it has no table ${name}, or two`);
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
    if (id === null || closing === null || this.#table === null) {
      this.#reject('a row of it does not begin or end as a row');
    } else if (id <= this.#table.lastId) {
      this.#reject('two rows of it are not in the order of their ids');
    } else {
      this.#table.add(id, bytes, start, end - closing.length);
      this.#expected = closing.next;
    }
  }

  #reject(why: string): void {
    this.#irregular = why;
    this.#line = [];
    this.#tables = {};
    this.#table = null;
  }
}

const KINDS: ReadonlySet<string> = new Set(KIND_NAMES);

function isKindName(name: string): name is KindName {
  return KINDS.has(name);
}
