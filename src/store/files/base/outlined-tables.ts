/** The tables of a base whose outline is known: no row is read, or even located. */
import { DATA_FILES } from '../../../data-files.ts';
import type { CatalogError } from '../../../errors.ts';
import type { KindName } from '../../../model/kind.ts';
import { ALL_KINDS } from '../../../model/kinds.ts';
import { perKind } from '../../../model/per-kind.ts';
import {
  CHUNK_SIZE,
  ChunkRows,
  type LocatedRows,
  type SealedRows,
} from '../../memory/chunk-rows.ts';
import { indexOfValue } from '../../memory/plain-value.ts';
import { RowTable } from '../../memory/row-table.ts';
import type { TableChunk } from '../../memory/table-ids.ts';
import { type RowParser, TextChunk } from '../../memory/text-table.ts';
import { damaged } from '../files.ts';
import type { BaseTables } from './base-state.ts';
import { type ChunkOutline, type Outline } from './outline.ts';
import { BETWEEN_ROWS, idIn, parserOf, TABLES_END, tableBeginning } from './row-line.ts';

const LINE_FEED = 0x0a;

/** The most bytes of a chunk that stays sealed: it is opened in one turn of the event loop. */
const MAX_SEALED_BYTES = 512 * 1024;

/**
 * @param path of the base, for messages.
 * @param pieces all bytes before the checksum; the rows stay in them.
 * @returns null if the bytes are not divided as the outline says, or have another CRC-32. All of
 *   them were compared: those of the first line and of each chunk by their CRC-32, those between
 *   them one by one.
 */
export function outlinedTables(
  path: string,
  pieces: readonly Buffer[],
  { head: headChecksum, tables }: Outline,
): BaseTables | null {
  const text = new Pieces(pieces);
  const head = text.line();
  if (head === null || Bun.hash.crc32(head) !== headChecksum) return null;
  const chunks: Partial<Record<KindName, TableChunk[]>> = {};
  for (const [nth, { name }] of ALL_KINDS.entries()) {
    if (!text.skip(tableBeginning(name, nth))) return null;
    const found = chunksOf(text, tables[name], path, name);
    if (found === null) return null;
    chunks[name] = found;
  }
  if (!text.skip(TABLES_END) || !text.isAtEnd) return null;
  const rows = perKind(({ name }) => RowTable.ofChunks(chunks[name] ?? []));
  return { head: JSON.parse(`${head.toString('utf8')}}}`), rows };
}

/** @returns null if the chunks are not where the outline says, or have another CRC-32. */
function chunksOf(
  text: Pieces,
  outlines: readonly ChunkOutline[],
  path: string,
  kind: KindName,
): TableChunk[] | null {
  const parser = parserOf(path, kind);
  const chunks: TableChunk[] = [];
  for (const [number, size, length, crc32] of outlines) {
    const isFirst = chunks.length === 0;
    const follows = isFirst || number > (chunks.at(-1)?.number ?? 0);
    if (!follows || !text.skip(isFirst ? '\n' : BETWEEN_ROWS)) return null;
    const bytes = text.take(length);
    if (bytes === null || Bun.hash.crc32(bytes) !== crc32) return null;
    if (chunkOf(idIn(bytes, 0)) !== number) return null;
    const sealed = new SealedText(path, { kind, number, size, bytes, parser });
    const contents = length > MAX_SEALED_BYTES ? sealed.open() : sealed;
    chunks.push({ number, size, rows: new ChunkRows(number * CHUNK_SIZE, contents) });
  }
  return chunks;
}

function chunkOf(id: number | null): number | null {
  return id === null ? null : Math.floor(id / CHUNK_SIZE);
}

interface SealedChunk {
  readonly kind: KindName;
  readonly number: number;
  /** Rows in it. */
  readonly size: number;
  readonly bytes: Buffer;
  readonly parser: RowParser;
}

class SealedText implements SealedRows {
  readonly bytes: Buffer;
  readonly #path: string;
  readonly #chunk: SealedChunk;

  constructor(path: string, chunk: SealedChunk) {
    this.bytes = chunk.bytes;
    this.#path = path;
    this.#chunk = chunk;
  }

  includes(text: Buffer): boolean {
    return indexOfValue(this.bytes, text) >= 0;
  }

  open(): LocatedRows {
    const { bytes } = this;
    const { kind, number, size, parser } = this.#chunk;
    const chunk = new TextChunk(number * CHUNK_SIZE, parser, true);
    let lastId = 0;
    for (let start = 0; start < bytes.length; ) {
      const line = bytes.indexOf(LINE_FEED, start);
      const end = line < 0 ? bytes.length : line - 1;
      const id = idIn(bytes, start);
      if (id === null || id <= lastId || chunkOf(id) !== number) {
        throw this.#contradicted(`has no such row after row ${lastId} of ${kind}`);
      }
      chunk.add(id, bytes, start, end);
      lastId = id;
      start = end + BETWEEN_ROWS.length;
    }
    if (chunk.rows !== size) {
      throw this.#contradicted(`has ${chunk.rows} rows of ${kind} instead of ${size}`);
    }
    return chunk.end();
  }

  /** The checksums of both files match, so the message does not say which of them is wrong. */
  #contradicted(what: string): CatalogError {
    return damaged(
      this.#path,
      `it ${what} where ${DATA_FILES.outline} says; first remove ${DATA_FILES.outline}, and start again`,
    );
  }
}

/** Bytes that come in pieces, read from the first to the last. */
class Pieces {
  readonly #pieces: readonly Buffer[];
  /** The piece in which the next byte is, and where. */
  #nth = 0;
  #at = 0;

  constructor(pieces: Iterable<Buffer>) {
    this.#pieces = contiguous(pieces);
  }

  get isAtEnd(): boolean {
    return this.#nth === this.#pieces.length;
  }

  /** Takes the rest of a line; null if it is not in one piece with its line feed. */
  line(): Buffer | null {
    const piece = this.#pieces[this.#nth];
    const end = piece?.indexOf(LINE_FEED, this.#at) ?? -1;
    const bytes = end < 0 ? null : this.take(end - this.#at);
    return bytes !== null && this.skip('\n') ? bytes : null;
  }

  /** Takes the next bytes if they are an ASCII text. @returns whether they are. */
  skip(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      const piece = this.#pieces[this.#nth];
      if (piece === undefined || piece[this.#at] !== text.charCodeAt(index)) return false;
      this.#advance(piece, 1);
    }
    return true;
  }

  /** Takes the next bytes; null if there are fewer. */
  take(length: number): Buffer | null {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const piece = this.#pieces[this.#nth];
      if (piece === undefined) return null;
      const part = piece.subarray(this.#at, this.#at + missing);
      parts.push(part);
      missing -= part.length;
      this.#advance(piece, part.length);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  #advance(piece: Buffer, bytes: number): void {
    this.#at += bytes;
    if (this.#at < piece.length) return;
    this.#nth += 1;
    this.#at = 0;
  }
}

/** @returns the same bytes; pieces that follow each other in memory become one. None is empty. */
function contiguous(pieces: Iterable<Buffer>): Buffer[] {
  const joined: Buffer[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const { buffer, byteOffset: start, length } = piece;
    if (last?.buffer === buffer && last.byteOffset + last.length === start) {
      joined[joined.length - 1] = Buffer.from(buffer, last.byteOffset, last.length + length);
    } else if (length > 0) {
      joined.push(piece);
    }
  }
  return joined;
}
