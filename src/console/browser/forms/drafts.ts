/** Unsaved changes, kept in this tab so that they survive a reload. */
import type { Creation } from '../api/creation-key.ts';
import { session } from '../api/session.ts';
import { textOf } from '../api/text-of.ts';
import type { Item } from '../api/types.ts';
import { tabStorage } from '../start/storage.ts';
import type { TypedFields } from './values.ts';

export interface Draft {
  /** Fields that were changed. */
  readonly typed: TypedFields;
  /** Fields that were sent when responses were lost. Drafts of earlier versions have none. */
  readonly unanswered?: readonly TypedFields[];
  /** The item that was changed, and its entity tag; null for a new one. */
  readonly item: Item | null;
  readonly etag: string | null;
  /** The locale in which it was typed. Drafts of earlier versions have none. */
  readonly locale?: string;
  /** The request that creates a new item. Drafts of earlier versions have none. */
  readonly creation?: Creation;
}

function keyOf(name: string): string {
  return `catalog.draft.${session.value?.subject ?? ''}.${name}`;
}

/**
 * @param id null for a new item.
 * @param given what a new item starts with: what is typed for one SPU is not meant for another.
 */
export function draftName(
  collection: string,
  id: number | null,
  given: Draft['typed'] = {},
): string {
  const named = Object.entries(given).map(([name, value]) => `/${name}/${textOf(value)}`);
  return `${collection}/${id ?? 'new'}${named.join('')}`;
}

/** @param name of the form, such as `skus/17`. */
export function readDraft(name: string): Draft | null {
  const text = tabStorage.getItem(keyOf(name));
  return text === null ? null : (JSON.parse(text) as Draft);
}

/** @param draft null if nothing is unsaved. */
export function keepDraft(name: string, draft: Draft | null): void {
  if (draft === null) tabStorage.removeItem(keyOf(name));
  else tabStorage.setItem(keyOf(name), JSON.stringify(draft));
}
