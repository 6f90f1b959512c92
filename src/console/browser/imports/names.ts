/** The names of the items that an import changes, or refers to by their ids. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { collectionOf, referencesOf, responseName } from '../api/collections.ts';
import { labelOf, needCategories } from '../api/references.ts';
import type { CollectionName, Pair } from '../api/types.ts';
import { complain } from '../parts/notices.tsx';
import type { Import } from './api.ts';

/** Items that are asked for, changed ones first; others are shown by their ids. */
const MAX_NAMES = 300;

type Change = Import['changes'][number];

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

/** @param id null for no item. */
function reference(name: string, target: CollectionName, id: unknown): Wanted[] {
  return typeof id === 'number' ? [{ key: nameKey(name, id), target, id }] : [];
}

/** The item that is changed, unless the change has its name. */
function itemOf(changed: CollectionName, { id, action, fields }: Change): Wanted[] {
  const isNamed = action === 'create' || collectionOf(changed).title in fields;
  return isNamed ? [] : reference('id', changed, id);
}

/** What one change refers to. */
function referencesIn(changed: CollectionName, { fields }: Change): Wanted[] {
  const collection = collectionOf(changed);
  const found = referencesOf(collection).flatMap(([attribute, target]) =>
    [...new Set([attribute, responseName(collection, attribute)])].flatMap((name) =>
      (fields[name] ?? []).flatMap((id) => reference(name, target, id)),
    ),
  );
  const pairs = (fields['specs'] ?? []).flatMap((value) => (value ?? []) as readonly Pair[]);
  const specs = pairs.flatMap(({ spec_id: spec, option_id: option }) => [
    ...reference('spec_id', 'specs', spec),
    ...reference('option_id', 'options', option),
  ]);
  return [...found, ...specs];
}

/**
 * Reads the names one after the other, and shows them as they arrive.
 *
 * @param changes those of the result that are shown.
 */
export function useNames(name: CollectionName, result: Import, changes: Import['changes']): Names {
  const names = useSignal<Names>(new Map());
  useEffect(() => {
    const abort = new AbortController();
    const wanted = new Map<string, Wanted>();
    for (const find of [itemOf, referencesIn]) {
      for (const each of changes.flatMap((change) => find(name, change))) {
        wanted.set(each.key, each);
      }
    }
    // A check gives them ids that nothing has yet.
    const { created_missing: missing = [] } = result;
    const created = new Map(missing.map((each) => [`${each.resource} ${each.id}`, each.name]));
    const known = new Map<string, string>();
    for (const { key, target, id } of wanted.values()) {
      const text = created.get(`${target} ${id}`);
      if (text !== undefined) known.set(key, text);
    }
    names.value = known;
    const existing = [...wanted.values()].filter(({ key }) => !known.has(key));
    const categories = existing.filter(({ target }) => target === 'categories');
    if (categories.length > 0) needCategories(categories.map(({ id }) => id)).catch(complain);
    const read = async () => {
      const others = existing.filter(({ target }) => target !== 'categories');
      for (const { key, target, id } of others.slice(0, MAX_NAMES)) {
        const label = await labelOf(target, id, abort.signal);
        names.value = new Map([...names.value, [key, label]]);
      }
    };
    // An item that cannot be read is shown by its id.
    read().catch(() => null);
    return () => abort.abort();
  }, [name, result, changes, names]);
  return names.value;
}
