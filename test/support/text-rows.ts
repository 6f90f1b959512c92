/** Tables of rows that are text, as a base has them that the program itself has written. */
import type { KindName, Row } from '../../src/model/kind.ts';
import { parserOf } from '../../src/store/files/base/row-line.ts';
import { CHUNK_SIZE, ChunkRows } from '../../src/store/memory/chunk-rows.ts';
import { RowTable } from '../../src/store/memory/row-table.ts';
import { TextChunk } from '../../src/store/memory/text-table.ts';

/** @param rows by ascending id. */
export function textTableOf(kind: KindName, rows: readonly Row[]): RowTable {
  const chunks = new Map<number, TextChunk>();
  for (const row of rows) {
    const firstId = row.id - (row.id % CHUNK_SIZE);
    const chunk = chunks.get(firstId) ?? new TextChunk(firstId, parserOf('base', kind), true);
    chunks.set(firstId, chunk);
    const text = Buffer.from(JSON.stringify(row));
    chunk.add(row.id, text, 0, text.length);
  }
  return RowTable.ofChunks(
    Array.from(chunks, ([firstId, chunk]) => ({
      number: firstId / CHUNK_SIZE,
      size: chunk.rows,
      rows: new ChunkRows(firstId, chunk.end()),
    })),
  );
}
