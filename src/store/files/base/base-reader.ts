/**
 * Reading a base document piece by piece, row by row. Memory grows with the rows alone: a string or
 * a buffer of the whole has a limit, and a store has none. Of a row the id is read; the rest stays
 * text until somebody asks for the row (memory/chunk-rows.ts).
 *
 * Invariants:
 * 1. Nothing of the document is used before its checksum was verified.
 * 2. A document that is not divided into lines as we write it is read as a whole, if it is small
 *    enough: a person may have formatted it and put a new checksum.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Disk } from '../../../disk/disk.ts';
import { messageOf } from '../../../errors.ts';
import { KIND_NAMES, type KindName } from '../../../model/kind.ts';
import { TextTable } from '../../memory/text-table.ts';
import type { State } from '../../state.ts';
import { type BackupMembers, laterSchema } from '../base.ts';
import { shapes } from '../change-set.ts';
import { CHECKSUM_LENGTH, checksumIn, damaged, parseShape, readable } from '../files.ts';
import { stateOfDocument, stateOfTables, type TextTables } from './base-state.ts';
import { closingOf, idIn, MORE_ROWS, parserOf } from './row-line.ts';
import { SCHEMA_VERSION, shapeOf } from '../schema.ts';

/** Bytes up to which a document of another layout is read as a whole. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** The last characters of the first line. */
const TABLES = '"tables":{';

/** The line that begins a table. An empty table ends on it. */
const TABLE = /^"(\w+)":\[(?:(\],)|(\]))?$/;

export interface Base {
  /** The version of the file. The state has the form of the current version. */
  readonly schema: number;
  readonly state: State;
  /** What only a backup has. */
  readonly members: BackupMembers;
  /** Bytes of the file. */
  readonly size: number;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const backupMembers = v.object({
  // As it is: an object schema would copy it, and leave out members such as `__proto__`.
  access: v.optional(v.custom<object>(isObject)),
  encrypted_keys: v.optional(v.string()),
});

/** What the next line has to be. */
type Expected = 'head' | 'table' | 'row' | 'end';

export class BaseReader {
  readonly #path: string;
  readonly #hash = createHash('sha256');
  /** The last bytes so far: the checksum, if no more come. */
  #held: Buffer = Buffer.alloc(0);
  #size = 0;
  /** The pieces, as long as they are few enough to be read as a whole. */
  #whole: Buffer[] | null = [];
  /** The pieces of a line that has not ended. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #expected: Expected = 'head';
  #head: unknown;
  #tables: TextTables = {};
  /** The table whose rows are read. */
  #table: TextTable | null = null;
  /** Why the lines are not those that we write; null as long as they are. */
  #irregular: string | null = null;

  /** @param path of the file, for messages. */
  constructor(path: string) {
    this.#path = path;
  }

  /** The last bytes: two files that end alike have the same content. */
  get ending(): string {
    return this.#held.toString('latin1');
  }

  /** Takes the next piece, of any length. The caller may use its memory again. */
  write(piece: Uint8Array): void {
    this.keep(Buffer.from(piece));
  }

  /** The same for a piece whose memory nobody else uses: the rows stay in it. */
  keep(bytes: Buffer): void {
    this.#size += bytes.length;
    if (bytes.length < CHECKSUM_LENGTH) this.#hold(Buffer.concat([this.#held, bytes]));
    else {
      this.#take(this.#held);
      this.#hold(bytes);
    }
  }

  /**
   * @returns what the file holds, after all of it was written.
   * @throws CatalogError `store_damaged`; `schema_version` if a later program has written it.
   */
  end(): Base {
    const stated = checksumIn(this.#held);
    if (stated === undefined) {
      throw damaged(this.#path, 'it is cut off, or not a file of the store');
    }
    if (this.#hash.digest('hex') !== stated) {
      throw damaged(this.#path, 'its checksum does not match its content');
    }
    this.#endLines();
    const lines = this.#irregular === null;
    const value = lines ? this.#head : this.#wholeText();
    const { schema, document } = parseDocument(this.#path, value);
    const members = parseShape(this.#path, backupMembers, value);
    const state = lines
      ? stateOfTables(this.#path, schema, document, this.#tables)
      : stateOfDocument(this.#path, schema, document);
    return { schema, state, members, size: this.#size };
  }

  /** Takes bytes, but for the last ones, which may be the checksum. */
  #hold(bytes: Buffer): void {
    const end = Math.max(bytes.length - CHECKSUM_LENGTH, 0);
    this.#take(bytes.subarray(0, end));
    this.#held = bytes.subarray(end);
  }

  #take(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#keepWhole(bytes);
    let start = 0;
    while (this.#irregular === null) {
      if (this.#expected === 'row' && this.#lineBytes === 0) start = this.#readRows(bytes, start);
      const end = bytes.indexOf(LINE_FEED, start);
      if (end < 0) break;
      // Most lines lie in one piece, and are read where they are.
      if (this.#lineBytes === 0 && end - start <= MAX_WHOLE_BYTES) {
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

  #keepWhole(bytes: Buffer): void {
    if (this.#size > MAX_WHOLE_BYTES) this.#whole = null;
    this.#whole?.push(bytes);
  }

  #continueLine(bytes: Buffer): void {
    this.#lineBytes += bytes.length;
    if (bytes.length > 0) this.#line.push(bytes);
    if (this.#lineBytes > MAX_WHOLE_BYTES) this.#reject('a line of it is too long');
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

  #wholeText(): unknown {
    if (this.#whole === null) throw damaged(this.#path, this.#irregular ?? '');
    try {
      return JSON.parse(`${Buffer.concat(this.#whole).toString('utf8')}}`);
    } catch (error) {
      throw damaged(this.#path, messageOf(error));
    }
  }
}

function parseDocument(path: string, value: unknown): { schema: number; document: object } {
  const { schema } = parseShape(path, v.looseObject({ schema: shapes.count }), value);
  if (schema > SCHEMA_VERSION) throw laterSchema(path, schema);
  const shape = shapeOf(schema);
  if (shape === undefined) throw damaged(path, `there has never been a schema version ${schema}`);
  return { schema, document: parseShape(path, shape, value) as object };
}

const KINDS: ReadonlySet<string> = new Set(KIND_NAMES);

function isKindName(name: string): name is KindName {
  return KINDS.has(name);
}

/**
 * Reads a base of this version or an earlier one.
 *
 * @param content the file's bytes, or pieces of them in order.
 * @throws CatalogError `store_damaged`; `schema_version` if a later program has written it.
 */
export function decodeBase(path: string, content: Uint8Array | Iterable<Uint8Array>): Base {
  const reader = new BaseReader(path);
  for (const piece of content instanceof Uint8Array ? [content] : content) reader.write(piece);
  return reader.end();
}

/**
 * @returns a reader that has taken the whole file, or null if there is none.
 * @throws CatalogError `store_unreadable`.
 */
export function readBase(disk: Disk, path: string): BaseReader | null {
  return readable(path, () => {
    const pieces = disk.pieces(path, 'own');
    if (pieces === null) return null;
    const reader = new BaseReader(path);
    for (const piece of pieces) reader.keep(piece);
    return reader;
  });
}
