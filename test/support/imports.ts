/** Files that are imported over HTTP, and exported again. */
import * as assert from 'uvu/assert';
import { read } from './catalog.ts';
import { type Reachable, type Received, send } from './client.ts';
import { until } from './until.ts';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' };

export type Format = keyof typeof TYPES;

export interface ImportOptions {
  readonly query?: string;
  readonly format?: Format;
  readonly token?: string | null;
  /** `Idempotency-Key`. */
  readonly key?: string;
}

/** A file of lines, as a spreadsheet writes it. */
export function csv(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}

/** Sends a file. */
export function postImport(
  server: Reachable,
  collection: string,
  body: string | Uint8Array<ArrayBuffer>,
  { query = '', format = 'csv', token, key }: ImportOptions = {},
): Promise<Received> {
  return send(server, 'POST', `/admin/${collection}/imports/${query && `?${query}`}`, {
    body,
    headers: { 'content-type': TYPES[format], ...(key && { 'idempotency-key': key }) },
    ...(token !== undefined && { token }),
  });
}

/** Imports a file. @returns what has come of it. */
export async function importInto(
  server: Reachable,
  collection: string,
  body: string | Uint8Array<ArrayBuffer>,
  options: ImportOptions = {},
): Promise<Received['json']> {
  const accepted = await postImport(server, collection, body, options);
  assert.is(accepted.status, 202, accepted.text);
  const location = accepted.headers.get('location') ?? '';
  assert.match(location, /^\/admin\/imports\/\d+\/$/);
  let found: Received['json'];
  await until('the import has ended', async () => {
    found = await read(server, location);
    return !['checking', 'writing'].includes(found.state);
  });
  return found;
}

/** The errors of an import: the row, the column and the message of each. */
export function errorsOf({ errors }: Received['json']) {
  return errors.map(({ row, column, message }: Received['json']) => [row, column, message]);
}

/** The file of an export. */
export async function exportOf(server: Reachable, collection: string, query = ''): Promise<string> {
  return (await send(server, 'GET', `/admin/${collection}/export/${query}`)).text;
}

export const COLLECTIONS = ['brands', 'categories', 'goods', 'specs', 'options', 'skus'] as const;
