/** Items and lists of any collection. */
import { answer } from './answer.ts';
import { ApiError, errorOf, isGone, jsonOf, send, type Sent } from './client.ts';
import { whileSaving } from '../saving.ts';
import { authorizedFetch } from './session.ts';
import { collectionOf } from './collections.ts';
import { listPath, type Query } from './paths.ts';
import type { CollectionName, Item, Value } from './types.ts';

/** An item with what a guarded write of it needs. */
export interface Loaded {
  readonly item: Item;
  readonly etag: string;
}

export interface Page {
  readonly items: readonly Item[];
  /** Of all pages. */
  readonly total: number;
}

export type Changes = Readonly<Record<string, Value | readonly object[]>>;

/** Most items on a page. */
const MAX_PER_PAGE = 1000;

/** Most elements of an array that the server takes unless it is set otherwise. */
export const MAX_ELEMENTS = 10_000;

function itemPath(name: CollectionName, id: number): string {
  return `${collectionOf(name).path}${id}/`;
}

/** @throws ApiError, TypeError; so do all functions of this file. */
export async function list(
  name: CollectionName,
  query: Query,
  signal?: AbortSignal,
): Promise<Page> {
  const response = await send(listPath(name, query), { signal });
  const items = await jsonOf<Item[]>(response);
  return { items, total: Number(response.headers.get('X-Total-Count') ?? items.length) };
}

/** A page of a list, and the query that it answers. */
export interface ListedPage {
  readonly items: readonly Item[];
  readonly query: Query;
}

/** Every item that matches, at most `max` of them, in the largest pages that there are. */
export async function* listPages(
  name: CollectionName,
  matching: Query,
  max = MAX_ELEMENTS,
): AsyncGenerator<ListedPage> {
  let left = max;
  for (let page = 1; left > 0; page += 1) {
    const query = { ...matching, page: String(page), per_page: String(MAX_PER_PAGE) };
    const { items } = await list(name, query);
    yield { items: items.slice(0, left), query };
    left -= items.length;
    if (items.length < MAX_PER_PAGE) break;
  }
}

/** The items of {@link listPages}. */
export async function listAll(
  name: CollectionName,
  query: Query,
  max = MAX_ELEMENTS,
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const { items } of listPages(name, query, max)) all.push(...items);
  return all;
}

/** @param signal ends the request, which then rejects with an AbortError. */
export async function load(
  name: CollectionName,
  id: number,
  signal?: AbortSignal,
): Promise<Loaded> {
  return loadedOf(await send(itemPath(name, id), { signal }));
}

/** @param key makes a repeated request create the item once. */
export async function create(name: CollectionName, changes: Changes, key: string): Promise<Loaded> {
  const sent = { method: 'POST', body: changes, headers: { 'Idempotency-Key': key } } as const;
  return loadedOf(await save(collectionOf(name).path, sent));
}

/** A change in which arrays replace those of the item (RFC 7396). */
export const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };

/**
 * Changes some attributes; an array replaces that of the item.
 *
 * @param etag null writes whatever the item is now.
 */
export async function change(
  name: CollectionName,
  id: number,
  changes: Changes,
  etag: string | null,
): Promise<Loaded> {
  const headers = { ...MERGE_PATCH, ...(etag !== null && { 'If-Match': etag }) };
  return loadedOf(await write(name, id, { method: 'PATCH', body: changes, headers }));
}

function save(path: string, sent: Sent): Promise<Response> {
  return whileSaving(() => send(path, sent));
}

/** @throws ApiError `410` if the item is gone, as a read does: the server answers a write with 404. */
async function write(name: CollectionName, id: number, sent: Sent): Promise<Response> {
  try {
    return await save(itemPath(name, id), sent);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new ApiError(410, error.message);
    throw error;
  }
}

/**
 * @param etag of the item as it was read: if it has changed since, the ApiError has status 412;
 *   null deletes whatever it is now.
 */
export async function remove(
  name: CollectionName,
  id: number,
  etag: string | null = null,
): Promise<void> {
  const headers = etag === null ? {} : { 'If-Match': etag };
  await write(name, id, { method: 'DELETE', headers });
}

/** Deletes an item that another user, or an earlier attempt, may have deleted. */
export async function removeOnce(name: CollectionName, id: number): Promise<void> {
  try {
    await remove(name, id);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Changes all items or none. */
export async function changeMany(
  name: CollectionName,
  elements: readonly (Changes & { readonly id: number })[],
): Promise<Item[]> {
  return jsonOf(await save(`${collectionOf(name).path}bulk/`, { method: 'PATCH', body: elements }));
}

/** Creates all items or none. @param key makes a repeated request create them once. */
export async function createMany(
  name: CollectionName,
  elements: readonly Changes[],
  key: string,
): Promise<Item[]> {
  const headers = { 'Idempotency-Key': key };
  const sent = { method: 'POST', body: elements, headers } as const;
  return jsonOf(await save(`${collectionOf(name).path}bulk/`, sent));
}

/** The file that an export answers with, and its name. */
export async function exported(
  name: CollectionName,
  query: Query,
): Promise<{ readonly file: Blob; readonly fileName: string }> {
  const search = new URLSearchParams(query).toString();
  const response = await authorizedFetch(`${collectionOf(name).path}export/?${search}`);
  if (!response.ok) throw await errorOf(response);
  const disposition = response.headers.get('Content-Disposition') ?? '';
  const fileName =
    /filename="([^"]+)"/.exec(disposition)?.[1] ?? `${name}.${query['format'] ?? ''}`;
  return { file: await answer(response.blob()), fileName };
}

async function loadedOf(response: Response): Promise<Loaded> {
  const item = await jsonOf<Item>(response);
  return { item, etag: response.headers.get('ETag') ?? '' };
}
