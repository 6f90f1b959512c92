/** Items that others refer to: their names, the tree of categories, and what a search finds. */
import { signal } from '@preact/signals';
import { ApiError, isGone, receive } from './client.ts';
import { collectionOf } from './collections.ts';
import { list, listAll, load } from './items.ts';
import type { CollectionName, Item } from './types.ts';
import { textOf } from './text-of.ts';

/** A category with the names of those above it. */
export interface CategoryNode {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | null;
  /** 1 to 3. */
  readonly level: number;
  /** `Electronics › Phones › Smartphones`. */
  readonly path: string;
}

const SEPARATOR = ' › ';

/** Every category by its id, parents before children; null until they are read. */
export const categories = signal<ReadonlyMap<number, CategoryNode> | null>(null);

let reading: Promise<void> | null = null;

/** When the request for the known tree was sent, in milliseconds since the navigation. */
let knownSince = 0;

/** An older tree is read again when it is needed: others add categories and rename them. */
const MAX_AGE_MS = 30_000;

/**
 * Reads the tree if it is not known, or has not all of some categories. One that is only old stays
 * in use until a newer one is there.
 *
 * @param ids of these categories. @throws ApiError, TypeError if there is none to use.
 */
export async function needCategories(ids: readonly number[] = []): Promise<void> {
  const called = performance.now();
  const isUsable = () => ids.every((id) => categories.value?.has(id)) && categories.value !== null;
  if (!isUsable()) {
    await readOnce();
    // What was asked for before this call may be without them.
    if (!isUsable() && knownSince < called) await readOnce();
  } else if (called - knownSince >= MAX_AGE_MS) {
    // The next call tries again.
    readOnce().catch(() => null);
  }
}

/** Reads the tree, unless that is under way already. @throws ApiError, TypeError. */
function readOnce(): Promise<void> {
  reading ??= readCategories().finally(() => {
    reading = null;
  });
  return reading;
}

/** Reads the tree again: a category was written. @throws ApiError, TypeError. */
export async function readCategories(): Promise<void> {
  const sent = performance.now();
  // An export shows one moment: between two pages of a list, others would shift the rest.
  const tree = treeOf(
    await receive<Item[]>(
      `${collectionOf('categories').path}export/?format=json&sortby=name`,
    ).catch(listInstead),
  );
  // The response to an earlier request may come last.
  if (sent < knownSince) return;
  knownSince = sent;
  categories.value = tree;
}

/** Exports are limited, and the user may be downloading others; lists are not. @throws the error. */
function listInstead(error: unknown): Promise<Item[]> {
  if (!(error instanceof ApiError && error.status === 503)) throw error;
  return listAll('categories', { sortby: 'name' }, Number.POSITIVE_INFINITY);
}

function treeOf(items: readonly Item[]): ReadonlyMap<number, CategoryNode> {
  const children = Map.groupBy(items, (item) => item['parent_id'] as number | null);
  const nodes = new Map<number, CategoryNode>();
  const add = (parent: CategoryNode | null) => {
    for (const item of children.get(parent?.id ?? null) ?? []) {
      const node = nodeOf(item, parent);
      nodes.set(item.id, node);
      add(node);
    }
  };
  add(null);
  return nodes;
}

function nodeOf(item: Item, parent: CategoryNode | null): CategoryNode {
  const name = textOf(item['name']);
  const path = parent === null ? name : `${parent.path}${SEPARATOR}${name}`;
  return { id: item.id, name, parentId: parent?.id ?? null, level: (parent?.level ?? 0) + 1, path };
}

/** Names a category that this tab has created, until the tree is read again. */
export function addCategory(item: Item): void {
  const known = categories.value;
  // One category alone is no tree: it is read when it is needed.
  if (known === null) return;
  const parent = known.get(item['parent_id'] as number) ?? null;
  if (item['parent_id'] !== (parent?.id ?? null)) return;
  categories.value = new Map(known).set(item.id, nodeOf(item, parent));
  // A response to an earlier request may be without it.
  knownSince = performance.now();
}

/** Ids from the first level down to the category. */
export function chainOf(id: number): number[] {
  const node = categories.value?.get(id);
  if (node === undefined) return [];
  return node.parentId === null ? [id] : [...chainOf(node.parentId), id];
}

/** What an SPU says of its categories if one of them is chosen: those above it, and itself. */
export function levelsOf(id: number): Readonly<Record<string, number>> {
  return Object.fromEntries(chainOf(id).map((each, at) => [`category${at + 1}_id`, each]));
}

export interface Choice {
  readonly id: number;
  readonly label: string;
  /** What tells it from others of the same name; "" if nothing does. */
  readonly hint: string;
}

/** A part of what a search finds. */
export interface Matches {
  readonly choices: readonly Choice[];
  /** Of the list, how many items were read. */
  readonly read: number;
  /** Of the list, in all parts. */
  readonly total: number;
}

/** Items in the first part. Each later one is as large as all before it, up to a limit. */
export const FIRST_PART = 20;

const MAX_PART = 100;

/** What the server searches at most: words, and characters. */
const MAX_WORDS = 10;

const MAX_SEARCHED = 200;

/** A text without more white space than it needs, as far as the server searches it. */
function searchable(text: string, words = MAX_WORDS, characters = MAX_SEARCHED): string {
  const kept = text.trim().split(/\s+/).slice(0, words).join(' ');
  return Array.from(kept).slice(0, characters).join('');
}

/** @returns of what {@link search} has found, the choices that have all of the text. */
export function withAllOf(text: string, choices: readonly Choice[]): readonly Choice[] {
  if (searchable(text) === searchable(text, Infinity, Infinity)) return choices;
  const wanted = text.trim().toLowerCase();
  return choices.filter(({ label }) => label.toLowerCase().includes(wanted));
}

/**
 * The first part also has the item whose id is typed, as `#177`.
 *
 * @param from how many items were read before. @throws ApiError, TypeError, DOMException.
 */
export async function search(
  name: CollectionName,
  text: string,
  from: number,
  abort?: AbortSignal,
  limit = Math.min(from || FIRST_PART, MAX_PART),
): Promise<Matches> {
  const q = searchable(text);
  const query = { limit: String(limit), offset: String(from), sortby: collectionOf(name).title };
  const [{ items, total }, typed] = await Promise.all([
    list(name, { ...(q !== '' && { q }), ...query }, abort),
    from === 0 ? typedId(name, q, abort) : [],
  ]);
  const known = new Set(typed.map(({ id }) => id));
  const choices = [...typed, ...items.filter(({ id }) => !known.has(id))].map(choiceOf(name));
  return { choices, read: from + limit, total };
}

/** The item that a text names by its id, if there is one. */
async function typedId(name: CollectionName, text: string, abort?: AbortSignal): Promise<Item[]> {
  const [, id] = /^#(\d{1,15})$/.exec(text) ?? [];
  if (id === undefined) return [];
  try {
    return [(await load(name, Number(id), abort)).item];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function choiceOf(name: CollectionName): (item: Item) => Choice {
  const { title } = collectionOf(name);
  return (item) => ({ id: item.id, label: textOf(item[title]), hint: hintOf(name, item) });
}

function hintOf(name: CollectionName, item: Item): string {
  if (name === 'specs') return textOf(item['goods']);
  if (name === 'options') return textOf(item['spec']);
  if (name === 'goods') return textOf(item['brand']);
  return '';
}

/** Names of items that were chosen or created in this tab, by collection and id. */
const names = new Map<string, string>();

/** Shows an item by its name until the name is read again. */
export function rememberName(name: CollectionName, id: number, label: string): void {
  names.set(`${name}/${id}`, label);
}

/** The name that an item had when it was chosen or created in this tab; undefined if it was not. */
export function rememberedName(name: CollectionName, id: number): string | undefined {
  return names.get(`${name}/${id}`);
}

/** The name of one item for people. @throws ApiError, TypeError, DOMException. */
export async function labelOf(
  name: CollectionName,
  id: number,
  abort: AbortSignal,
): Promise<string> {
  if (name === 'categories') {
    await needCategories([id]);
    return categories.value?.get(id)?.path ?? `#${id}`;
  }
  const { item } = await load(name, id, abort);
  return textOf(item[collectionOf(name).title]);
}
