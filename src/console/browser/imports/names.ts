/** The names of the items that an import refers to by their ids. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { collectionOf, referencesOf, responseName } from '../api/collections.ts';
import { labelOf, needCategories } from '../api/references.ts';
import type { CollectionName } from '../api/types.ts';
import { complain } from '../parts/notices.tsx';
import type { Import } from './api.ts';

/** Items that are asked for; others are shown by their ids. */
const MAX_NAMES = 100;

/** Names by the attribute and the id. */
export type Names = ReadonlyMap<string, string>;

/** The key of {@link Names} for an item that an attribute refers to. */
export function nameKey(attribute: string, id: unknown): string {
  return `${attribute} ${String(id)}`;
}

interface Wanted {
  readonly key: string;
  readonly target: CollectionName;
  readonly id: number;
}

/** What the changes refer to, each item once. */
function referredTo(changed: CollectionName, changes: Import['changes']): Wanted[] {
  const collection = collectionOf(changed);
  const found = new Map<string, Wanted>();
  for (const [attribute, target] of referencesOf(collection)) {
    for (const name of new Set([attribute, responseName(collection, attribute)])) {
      for (const id of changes.flatMap(({ fields }) => fields[name] ?? [])) {
        const key = nameKey(name, id);
        if (typeof id === 'number') found.set(key, { key, target, id });
      }
    }
  }
  return [...found.values()];
}

/** Reads the names one after the other, and shows them as they arrive. */
export function useNames(name: CollectionName, changes: Import['changes']): Names {
  const names = useSignal<Names>(new Map());
  useEffect(() => {
    const abort = new AbortController();
    const wanted = referredTo(name, changes);
    const categories = wanted.filter(({ target }) => target === 'categories');
    if (categories.length > 0) needCategories(categories.map(({ id }) => id)).catch(complain);
    const read = async () => {
      const others = wanted.filter(({ target }) => target !== 'categories');
      for (const { key, target, id } of others.slice(0, MAX_NAMES)) {
        const label = await labelOf(target, id, abort.signal);
        names.value = new Map([...names.value, [key, label]]);
      }
    };
    // An item that cannot be read is shown by its id.
    read().catch(() => null);
    return () => abort.abort();
  }, [name, changes, names]);
  return names.value;
}
