/** The file of a collection that the server does not export: books. */
import type { Collection } from '../api/collections.ts';
import { listAll } from '../api/items.ts';
import type { Query } from '../api/paths.ts';
import { cellOf, writeRecord } from '../imports/csv.ts';

/**
 * Writes what matches as the server writes its exports.
 *
 * @param format `csv`, `ndjson` or `json`.
 * @throws ApiError, TypeError.
 */
export async function writtenFile(
  collection: Collection,
  query: Query,
  format: string,
): Promise<{ readonly file: Blob; readonly fileName: string }> {
  const items = await listAll(collection.name, query, Number.POSITIVE_INFINITY);
  const [first] = items;
  const columns = Object.keys(first ?? { id: 0 });
  const lines = items.map((item) => JSON.stringify(item));
  const table = [columns, ...items.map((item) => columns.map((name) => cellOf(item[name])))];
  const texts: Readonly<Record<string, string>> = {
    csv: table.map((cells) => writeRecord(cells, ',')).join(''),
    ndjson: lines.map((line) => `${line}\n`).join(''),
    json: `[${lines.join(',')}]`,
  };
  const day = new Date().toISOString().slice(0, 10);
  return { file: new Blob([texts[format] ?? '']), fileName: `${collection.name}-${day}.${format}` };
}
