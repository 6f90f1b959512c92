/** The names of the items that an entry of the audit trail refers to by their ids. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { labelOf } from '../api/references.ts';
import type { CollectionName } from '../api/types.ts';
import { type AuditEntry, differencesOf, entryTitle, lastEntry } from './entries.ts';

/** Attributes of rows that hold the id of an item. Categories are known as a tree. */
const REFERENCES: ReadonlyMap<string, CollectionName> = new Map([
  ['brand_id', 'brands'],
  ['goods_id', 'goods'],
  ['spu_id', 'goods'],
  ['sku_id', 'skus'],
  ['spec_id', 'specs'],
  ['option_id', 'options'],
]);

/** Names by {@link keyOf}. */
export type Names = ReadonlyMap<string, string>;

function keyOf(attribute: string, id: unknown): string {
  return `${REFERENCES.get(attribute) ?? ''}/${String(id)}`;
}

/** The name of the item that a value refers to; undefined if it is not known, or no reference. */
export function nameOf(names: Names, attribute: string, value: unknown): string | undefined {
  return names.get(keyOf(attribute, value));
}

interface Wanted {
  readonly target: CollectionName;
  readonly id: number;
}

/** What an entry refers to, once each. */
function referencesIn(entry: AuditEntry): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { attribute, before, after } of differencesOf(entry)) {
    const target = REFERENCES.get(attribute);
    if (target === undefined) continue;
    for (const id of [before, after]) {
      if (typeof id === 'number') wanted.set(keyOf(attribute, id), { target, id });
    }
  }
  return wanted;
}

/**
 * The name in the last entry about an item: a deleted one has no other. An item without an entry is
 * read itself, for the trail keeps only the latest entries.
 */
async function readName({ target, id }: Wanted, abort: AbortSignal): Promise<string> {
  const last = await lastEntry(target, id, abort);
  return last === undefined ? labelOf(target, id, abort) : entryTitle(last);
}

/**
 * Reads the names one after the other, and shows them as they arrive.
 *
 * @param isOpen whether the user sees what the entry refers to: nothing is read before.
 */
export function useNames(entry: AuditEntry, isOpen: boolean): Names {
  const names = useSignal<Names>(new Map());
  useEffect(() => {
    if (!isOpen) return undefined;
    const abort = new AbortController();
    const read = async () => {
      for (const [key, wanted] of referencesIn(entry)) {
        const name = await readName(wanted, abort.signal);
        names.value = new Map(names.value).set(key, name);
      }
    };
    // Without its name, an item is shown by its id.
    read().catch(() => null);
    return () => abort.abort();
  }, [entry, isOpen, names]);
  return names.value;
}
