/** Imports at the server. */
import type { components } from '../../../../dist/console/api.d.ts';
import { answer } from '../api/answer.ts';
import { errorOf, isPassing, jsonOf, receive, send } from '../api/client.ts';
import { collectionOf } from '../api/collections.ts';
import { randomKey } from '../api/random-key.ts';
import { authorizedFetch } from '../api/session.ts';
import type { CollectionName } from '../api/types.ts';
import { complain } from '../parts/notices.tsx';

export type Import = components['schemas']['Import'];

/** How often the server is asked how far an import is, in milliseconds. */
const POLL_MS = 400;

export interface ImportOptions {
  readonly match: string;
  readonly createMissing: readonly string[];
  /** Makes a repeated request import the file once; null for a dry run. */
  readonly key: string | null;
  /** Whether the file was sent with a header that the user's file does not have. */
  readonly headless: boolean;
}

/**
 * The columns that a file of the collection can have: those of an export, whose first line is read.
 *
 * @throws ApiError, TypeError.
 */
export async function columnsOf(name: CollectionName): Promise<string[]> {
  // A search that finds nothing leaves the header alone.
  const path = `${collectionOf(name).path}export/?format=csv&q=${randomKey()}`;
  const response = await send(path, { headers: { Accept: 'text/csv' } });
  const text = await answer(response.text());
  const [header = ''] = text.split(/\r?\n/);
  return header.split(',');
}

/**
 * Sends a file, and follows the import to its end.
 *
 * @param onProgress gets every state of it.
 * @returns its last state, with the rows of the user's file.
 * @throws ApiError, TypeError, DOMException.
 */
export async function runImport(
  name: CollectionName,
  file: Blob,
  { match, createMissing, key, headless }: ImportOptions,
  onProgress: (state: Import) => void,
  signal: AbortSignal,
): Promise<Import> {
  const query = new URLSearchParams({ match, dry_run: String(key === null) });
  if (createMissing.length > 0) query.set('create_missing', createMissing.join(','));
  const response = await authorizedFetch(`${collectionOf(name).path}imports/?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': file.type, ...(key !== null && { 'Idempotency-Key': key }) },
    body: file,
    signal,
  });
  if (!response.ok) throw await errorOf(response);
  let state = await jsonOf<Import>(response);
  let answered = true;
  while (state.state === 'checking' || state.state === 'writing') {
    onProgress(state);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    try {
      state = await receive<Import>(`/admin/imports/${state.id}/`, { signal });
      answered = true;
    } catch (error) {
      // The import goes on at the server. Started again, it would create its rows twice.
      if (!isPassing(error)) throw error;
      if (answered) complain(error);
      answered = false;
    }
  }
  onProgress(state);
  return headless ? withoutHeader(state) : state;
}

/** The row in a file without a header; what is wrong with the header is shown at the first one. */
function rowOf(sent: number): number {
  return Math.max(sent - 1, 1);
}

/** The rows in the text of a failed import, which says what is written (spec 12.10). */
const NAMED_ROWS = /\b(?:before row|whether rows?) \d+(?: to \d+)?/g;

/** The same text for a file without a header. */
function rowsIn(message: string): string {
  return message.replace(NAMED_ROWS, (rows) =>
    rows.replace(/\d+/g, (sent) => String(rowOf(Number(sent)))),
  );
}

function withoutHeader(result: Import): Import {
  const { errors, changes, created_missing: missing } = result;
  return {
    ...result,
    errors: errors.map(({ row, column, message }) => ({
      row: row === null ? null : rowOf(row),
      column,
      message: rowsIn(message),
    })),
    changes: changes.map((each) => ({ ...each, row: rowOf(each.row) })),
    ...(missing && {
      created_missing: missing.map((each) => ({ ...each, row: rowOf(each.row) })),
    }),
  };
}
