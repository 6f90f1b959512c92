/**
 * Reads a base document piece by piece, row by row: the length of a string or a buffer is limited,
 * and that of a base is not. Memory grows only with the rows. Of a row only the id is read; the
 * rest stays text until the row is requested (memory/chunk-rows.ts). With an outline, not even the
 * ids are read.
 *
 * Invariants:
 * 1. Nothing of the document is used before its SHA-256 was verified, or the CRC-32 of each part by
 *    an outline that names the same SHA-256.
 * 2. A document that is not divided into lines as we write them is read as well: a person may have
 *    formatted it and updated the checksum, or another program may have written it.
 */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as v from 'valibot';
import type { Disk } from '../../../disk/disk.ts';
import { readable } from '../../../disk/read-file.ts';
import { messageOf } from '../../../errors.ts';
import { isObject } from '../../../model/schemas.ts';
import type { State } from '../../state.ts';
import { type BackupMembers, laterSchema } from '../base.ts';
import { shapes } from '../change-set.ts';
import { damaged, parseShape, requireDigest, statedDigest } from '../files.ts';
import { CHECKSUM_LENGTH, ChecksumAtEnd } from '../../../json/checksum.ts';
import { parseInPieces } from '../../../json/piecewise-parser.ts';
import { BaseLines } from './base-lines.ts';
import { type BaseTables, stateOfDocument, stateOfTables } from './base-state.ts';
import { type Outline, readOutline } from './outline.ts';
import { outlinedTables } from './outlined-tables.ts';
import { SCHEMA_VERSION, shapeOf } from '../schema.ts';

export interface Base {
  /** The version of the file. The state has the form of the current version. */
  readonly schema: number;
  readonly state: State;
  /** The members that only a backup has. */
  readonly members: BackupMembers;
  /** Bytes of the file. */
  readonly size: number;
}

const backupMembers = v.object({
  // Not an object schema, which would copy it and leave out members such as `__proto__`.
  access: v.optional(v.custom<object>(isObject)),
  encrypted_keys: v.optional(v.string()),
});

export class BaseReader {
  readonly #path: string;
  /** The outline that the document may have; null if there is none. */
  readonly #outline: Outline | null;
  /** Whether the SHA-256 is computed even if the outline has a CRC-32 of all parts. */
  readonly #isThorough: boolean;
  readonly #lines: BaseLines;
  readonly #hash = createHash('sha256');
  readonly #checksum = new ChecksumAtEnd();
  #size = 0;
  /** All bytes before the checksum, in which the rows stay in any case. */
  #pieces: Buffer[] = [];

  /**
   * @param path of the file, for messages.
   * @param outline of the document, or of an earlier one; null if there is none.
   * @param isThorough whether the SHA-256 has to be verified even if the outline has a CRC-32 of
   *   all parts.
   */
  constructor(path: string, outline: Outline | null = null, isThorough = false) {
    this.#path = path;
    this.#outline = outline;
    this.#isThorough = isThorough;
    this.#lines = new BaseLines(path);
  }

  /** The last bytes, with the checksum: two files that end alike have the same content. */
  get ending(): string {
    return this.#checksum.bytes.toString('latin1');
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Takes the next piece, of any length. The caller may use its memory again. */
  write(piece: Uint8Array): void {
    this.keep(Buffer.from(piece));
  }

  /** The same for a piece whose memory the caller does not use again: the rows stay in it. */
  keep(bytes: Buffer): void {
    this.#size += bytes.length;
    for (const content of this.#checksum.take(bytes)) this.#take(content);
  }

  /**
   * @returns what the file holds, after all of it was written.
   * @throws CatalogError `store_damaged`; `schema_version` if a later program has written it.
   */
  end(): Base {
    const stated = statedDigest(this.#path, this.#checksum.bytes);
    if (this.#hashesAtOnce) this.#verify(stated);
    const tables = this.#outlinedTables(stated) ?? this.#tablesOfLines(stated);
    const value = tables?.head ?? this.#parseWhole();
    this.#pieces = [];
    const { schema, document } = parseDocument(this.#path, value);
    const members = parseShape(this.#path, backupMembers, value);
    const state =
      tables === null
        ? stateOfDocument(this.#path, schema, document)
        : stateOfTables(this.#path, schema, document, tables.rows);
    return { schema, state, members, size: this.#size };
  }

  /** Whether the SHA-256 is computed while the pieces arrive, and not only if it is needed. */
  get #hashesAtOnce(): boolean {
    return this.#outline === null || this.#isThorough;
  }

  /** @throws CatalogError `store_damaged` if the bytes have another SHA-256. */
  #verify(stated: string): void {
    requireDigest(this.#path, this.#hash.digest('hex'), stated);
  }

  /** @returns null if the outline is that of another document. */
  #outlinedTables(digest: string): BaseTables | null {
    const outline = this.#outline;
    return outline?.base === digest ? outlinedTables(this.#path, this.#pieces, outline) : null;
  }

  /**
   * @returns null if the lines are not those that we write.
   * @throws CatalogError `store_damaged` if the bytes have another SHA-256.
   */
  #tablesOfLines(stated: string): BaseTables | null {
    if (!this.#hashesAtOnce) {
      for (const piece of this.#pieces) this.#hash.update(piece);
      this.#verify(stated);
    }
    if (this.#outline !== null) for (const piece of this.#pieces) this.#lines.take(piece);
    return this.#lines.end();
  }

  #take(bytes: Buffer): void {
    if (this.#hashesAtOnce) this.#hash.update(bytes);
    this.#pieces.push(bytes);
    if (this.#outline === null) this.#lines.take(bytes);
  }

  #parseWhole(): unknown {
    // The checksum is the last member, and was not kept.
    const pieces = [...this.#pieces, Buffer.from('}')];
    this.#pieces = [];
    try {
      return parseInPieces(pieces);
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
 * Opens a base. A checkpoint that replaces the file does not affect what was opened.
 *
 * @param known the bytes of the file, if the caller has them; the rows stay in them.
 * @param isThorough as for {@link BaseReader}.
 * @returns a function that reads the whole file, to be called once; null if there is no file.
 * @throws CatalogError `store_unreadable`, as does the returned function.
 */
export function openBase(
  disk: Disk,
  path: string,
  { known, isThorough }: { known: Iterable<Buffer> | undefined; isThorough: boolean },
): (() => BaseReader) | null {
  const pieces = known ?? readable(path, () => disk.pieces(path, 'own'));
  if (pieces === null) return null;
  return () =>
    readable(path, () => {
      const reader = new BaseReader(path, readOutline(disk, dirname(path)), isThorough);
      for (const piece of pieces) reader.keep(piece);
      return reader;
    });
}

/**
 * @returns as {@link BaseReader.ending}, without keeping the rest of the file; null if there is none.
 * @throws CatalogError `store_unreadable`.
 */
export function endingOfBase(disk: Disk, path: string): string | null {
  return readable(path, () => {
    const pieces = disk.pieces(path);
    if (pieces === null) return null;
    let ending = '';
    for (const piece of pieces) {
      ending = `${ending}${piece.toString('latin1', piece.length - CHECKSUM_LENGTH)}`;
      ending = ending.slice(-CHECKSUM_LENGTH);
    }
    return ending;
  });
}
